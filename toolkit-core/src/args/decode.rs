//! The fast way: one pass over the text, each value parsed where it stands.

use super::explain;
use super::param::{Fill, Param};
use crate::error::ToolError;
use serde_json::Value;

/// Fills one slot for each parameter from the JSON text of a call. `schema` is the schema of the
/// parameters; it is only read to explain what is wrong.
///
/// After `Ok`, the slot of every required parameter holds a value.
///
/// # Errors
/// [`ErrorKind::InvalidJson`](crate::ErrorKind::InvalidJson) with the position, or
/// [`ErrorKind::InvalidArguments`](crate::ErrorKind::InvalidArguments) with every violation.
#[inline]
pub(crate) fn decode(
    text: &str,
    params: &[Param],
    schema: &Value,
    slots: &mut [&mut dyn Fill],
) -> Result<(), ToolError> {
    match decode_directly(text, params, slots) {
        Some(()) => Ok(()),
        None => explain::decode(text, params, schema, slots),
    }
}

/// `None` as soon as anything is not as it should be; the text is then read again by
/// [`explain::decode`].
fn decode_directly(text: &str, params: &[Param], slots: &mut [&mut dyn Fill]) -> Option<()> {
    let mut cursor = Cursor { text, at: 0 };
    let mut seen = 0_u64;
    let mut guess = 0;
    cursor.expect(b'{')?;
    if cursor.peek() == Some(b'}') {
        cursor.at += 1;
    } else {
        loop {
            let name = cursor.key()?;
            let index = find(params, name, guess)?;
            let bit = 1_u64.checked_shl(u32::try_from(index).ok()?)?;
            if seen & bit != 0 {
                return None;
            }
            seen |= bit;
            guess = index + 1;
            cursor.expect(b':')?;
            let taken = slots.get_mut(index)?.fill(cursor.rest()?).ok()?;
            cursor.at += taken;
            match cursor.next()? {
                b',' => {}
                b'}' => break,
                _ => return None,
            }
        }
    }
    let complete = params.iter().enumerate().all(|(index, param)| !param.required || seen >> index & 1 == 1);
    (complete && cursor.peek().is_none()).then_some(())
}

/// Models mostly write the arguments in the order of the schema, so that one is looked at first.
#[inline]
fn find(params: &[Param], name: &str, guess: usize) -> Option<usize> {
    match params.get(guess) {
        Some(param) if param.name == name => Some(guess),
        _ => params.iter().position(|param| param.answers_to(name)),
    }
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// The next byte that is not white space, without taking it.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.as_bytes().get(self.at)?;
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    #[inline]
    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    #[inline]
    fn expect(&mut self, wanted: u8) -> Option<()> {
        (self.next()? == wanted).then_some(())
    }

    /// A string without escapes.
    #[inline]
    fn key(&mut self) -> Option<&'a str> {
        self.expect(b'"')?;
        let start = self.at;
        loop {
            match *self.text.as_bytes().get(self.at)? {
                b'"' => break,
                b'\\' | 0..=0x1f => return None,
                _ => self.at += 1,
            }
        }
        let key = self.text.get(start..self.at);
        self.at += 1;
        key
    }

    #[inline]
    fn rest(&self) -> Option<&'a str> {
        self.text.get(self.at..)
    }
}
