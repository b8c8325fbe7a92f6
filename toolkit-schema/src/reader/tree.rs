//! The reader as the source of a [`Json`].

use super::containers::{Items, Members};
use super::{FREE, ReadError, Reader};
use crate::json::{Json, Kind, Member};
use serde::de::Error as _;

impl<'t> Reader<'t> {
    /// Reads a value with its text, without a plan.
    pub(crate) fn json(&mut self) -> Result<Json<'t>, ReadError> {
        let first = self.peek()?;
        let start = self.at;
        let kind = match first {
            b'{' => {
                let mut found = Vec::new();
                let mut members = Members::open(self, &FREE)?;
                while let Some(name) = members.next_name()? {
                    found.push((name, members.reader().json()?));
                }
                members.close()?;
                Kind::Object(found)
            }
            b'[' => {
                let mut found = Vec::new();
                let mut items = Items::open(self, &FREE)?;
                while items.next()? {
                    found.push(items.reader().json()?);
                }
                items.close()?;
                Kind::Array(found)
            }
            b'"' => Kind::String(self.string()?),
            b't' | b'f' => Kind::Bool(self.checked_bool(first, &FREE)?),
            b'n' => {
                self.checked_null(&FREE)?;
                Kind::Null
            }
            _ => {
                self.number(first)?;
                Kind::Number
            }
        };
        Ok(Json { text: self.text.get(start..self.at).unwrap_or_default(), kind })
    }

    /// Reads an object's members with the text of their values, which is known to be JSON.
    pub(crate) fn members(&mut self) -> Result<Vec<Member<'t>>, ReadError> {
        if self.peek()? != b'{' {
            return Err(ReadError::custom("expected an object"));
        }
        let mut found = Vec::new();
        let mut members = Members::open(self, &FREE)?;
        while let Some(name) = members.next_name()? {
            let reader = members.reader();
            reader.peek()?;
            let start = reader.at;
            reader.skip_known()?;
            found.push((name, reader.text.get(start..reader.at).unwrap_or_default()));
        }
        members.close()?;
        Ok(found)
    }

    /// Skips a value of any depth in known JSON.
    fn skip_known(&mut self) -> Result<(), ReadError> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => self.skip_string(false)?,
                b'{' | b'[' => {
                    self.at += 1;
                    depth += 1;
                }
                b'}' | b']' => {
                    self.at += 1;
                    depth = depth.saturating_sub(1);
                }
                b',' | b':' => self.at += 1,
                _ => self.skip_word()?,
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    fn skip_word(&mut self) -> Result<(), ReadError> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let mut length = 0;
        while let Some(b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'+' | b'-' | b'.') = rest.get(length) {
            length += 1;
        }
        self.at += length;
        if length == 0 { Err(self.refuse()) } else { Ok(()) }
    }
}
