//! The reader as the source of a [`Json`].

use super::containers::{Items, Members};
use super::{FREE, ReadError, Reader};
use crate::json::{Json, Kind};

impl<'t> Reader<'t> {
    /// Reads a value with its text. No plan is followed.
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
}
