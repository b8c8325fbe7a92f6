//! The fast path: one pass over the text, each value parsed in place.

use super::explain;
use super::options::DecodeOptions;
use super::param::{Fill, Param, fill_absent};
use crate::error::ToolError;

/// The size of the set of seen parameters; tools with more take the slow path.
const MARKS: usize = 64;

/// Fills one slot for each parameter from the JSON text of a call.
///
/// After `Ok`, only slots of parameters with a default may be empty, and every value conforms to the schema.
///
/// # Errors
/// [`ErrorKind::InvalidJson`](crate::ErrorKind::InvalidJson) with the position, or
/// [`ErrorKind::InvalidArguments`](crate::ErrorKind::InvalidArguments) with every violation.
#[inline]
pub(crate) fn decode(
    text: &str,
    params: &[Param<'_>],
    options: &DecodeOptions<'_>,
    slots: &mut [&mut dyn Fill],
) -> Result<(), ToolError> {
    match decode_directly(text, params, options, slots) {
        Some(()) => Ok(()),
        None => explain::decode(text, params, options, slots),
    }
}

/// Fills the slots, or returns `None` at the first fault; [`explain::decode`] then reads the text again.
fn decode_directly(
    text: &str,
    params: &[Param<'_>],
    options: &DecodeOptions<'_>,
    slots: &mut [&mut dyn Fill],
) -> Option<()> {
    if params.len() > MARKS {
        return None;
    }
    let mut cursor = Cursor { text, at: 0 };
    let mut seen = 0_u64;
    let mut given = 0;
    cursor.expect(b'{')?;
    if !cursor.accept(b'}') {
        let mut guess = 0;
        loop {
            let index = cursor.key(params, guess)?;
            let bit = 1_u64.checked_shl(u32::try_from(index).ok()?)?;
            if seen & bit != 0 {
                return None;
            }
            seen |= bit;
            given += 1;
            guess = index + 1;
            cursor.expect(b':')?;
            let value = cursor.rest()?;
            let taken = slots.get_mut(index)?.fill(value).ok()?;
            if options.is_constrained(index)
                && !explain::conforms(params.get(index)?, value.get(..taken)?, options)
            {
                return None;
            }
            cursor.at += taken;
            if !cursor.accept(b',') {
                cursor.expect(b'}')?;
                break;
            }
        }
    }
    cursor.skip_white_space();
    if cursor.at != text.len() {
        return None;
    }
    if given < params.len() {
        for (index, (param, slot)) in params.iter().zip(slots).enumerate() {
            if seen >> index & 1 == 0 {
                if param.required {
                    return None;
                }
                fill_absent(param, *slot);
            }
        }
    }
    Some(())
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_white_space(&mut self) {
        while matches!(self.byte(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// Takes the next byte after white space, if it is `wanted`.
    #[inline]
    fn accept(&mut self, wanted: u8) -> bool {
        if self.byte() != Some(wanted) {
            self.skip_white_space();
            if self.byte() != Some(wanted) {
                return false;
            }
        }
        self.at += 1;
        true
    }

    #[inline]
    fn expect(&mut self, wanted: u8) -> Option<()> {
        self.accept(wanted).then_some(())
    }

    /// Takes a key and returns the index of its parameter. The next parameter of the schema is tried first, because
    /// models mostly keep its order.
    #[inline]
    fn key(&mut self, params: &[Param<'_>], guess: usize) -> Option<usize> {
        self.expect(b'"')?;
        match params.get(guess) {
            Some(param) if self.accept_key(param.name) => Some(guess),
            _ => {
                let name = self.string()?;
                params.iter().position(|param| param.answers_to(name))
            }
        }
    }

    /// Takes `name` and its closing quote, if it is the key.
    #[inline]
    fn accept_key(&mut self, name: &str) -> bool {
        let end = self.at + name.len();
        let bytes = self.text.as_bytes();
        let same = bytes.get(end) == Some(&b'"') && bytes.get(self.at..end) == Some(name.as_bytes());
        if same {
            self.at = end + 1;
        }
        same
    }

    /// Takes the rest of a string; `None` if it has escapes.
    fn string(&mut self) -> Option<&'a str> {
        let start = self.at;
        loop {
            match self.byte()? {
                b'"' => break,
                b'\\' | 0..=0x1f => return None,
                _ => self.at += 1,
            }
        }
        let string = self.text.get(start..self.at);
        self.at += 1;
        string
    }

    #[inline]
    fn rest(&self) -> Option<&'a str> {
        self.text.get(self.at..)
    }
}
