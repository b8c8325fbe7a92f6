//! The fast path of decoding: one pass over the JSON text, with each value parsed directly into its slot.

use super::param::{Fill, Param, fill_absent};
use super::read::{ArgumentRules, read_arguments, refused_by_type};
use crate::error::ToolError;
use crate::schema::__private::members_of;
use serde::de::Error as _;
use serde_json::Error;

/// The maximum number of parameters for the fast path, which marks decoded parameters in a bit set of this size.
const MARKS: usize = 64;

/// Decodes the JSON text of a call's arguments into `slots`, one slot per parameter.
///
/// After `Ok`, every value conforms to the schema, and only slots of parameters with a default may be empty.
///
/// # Errors
/// [`ErrorKind::InvalidJson`](crate::ErrorKind::InvalidJson) with the position of the syntax error, or
/// [`ErrorKind::InvalidArguments`](crate::ErrorKind::InvalidArguments) with every violation.
#[inline]
pub(crate) fn decode(
    text: &str,
    params: &[Param<'_>],
    rules: &ArgumentRules<'_>,
    slots: &mut [&mut dyn Fill],
) -> Result<(), ToolError> {
    match decode_directly(text, params, rules, slots) {
        Some(()) => Ok(()),
        None => decode_read(text, params, rules, slots),
    }
}

/// Reads the arguments by the contract, and decodes the result into `slots`.
#[cold]
fn decode_read(
    text: &str,
    params: &[Param<'_>],
    rules: &ArgumentRules<'_>,
    slots: &mut [&mut dyn Fill],
) -> Result<(), ToolError> {
    let object = read_arguments(text, rules)?;
    for (param, slot) in params.iter().zip(slots.iter_mut()) {
        fill_absent(param, *slot);
    }
    let mut refused = Vec::new();
    for (name, value) in members_of(&object).unwrap_or_default() {
        let Some(index) = params.iter().position(|param| param.name == name) else { continue };
        let (Some(param), Some(slot)) = (params.get(index), slots.get_mut(index)) else { continue };
        match fill_whole(value.get(), &mut **slot) {
            // An optional argument may be sent as `null` instead of being omitted.
            Err(_) if value.get() == "null" && !param.required => {}
            Err(error) => refused.push(refused_by_type(&name, value.get(), &error)),
            Ok(()) => {}
        }
    }
    if refused.is_empty() { Ok(()) } else { Err(ToolError::invalid_arguments(refused)) }
}

/// Fills the slot from `text`, and refuses trailing characters.
///
/// [`Fill::fill`] alone may read only the beginning of a longer number.
fn fill_whole(text: &str, slot: &mut dyn Fill) -> Result<(), Error> {
    match slot.fill(text)? {
        taken if taken == text.len() => Ok(()),
        _ => Err(Error::custom("invalid value")),
    }
}

/// Decodes `text` into `slots` in one pass. Returns `None` at the first fault.
///
/// After `None`, the caller calls [`decode_read`], which reads `text` again from the start.
fn decode_directly(
    text: &str,
    params: &[Param<'_>],
    rules: &ArgumentRules<'_>,
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
            let bit = 1_u64 << (index % MARKS);
            if seen & bit != 0 {
                return None;
            }
            seen |= bit;
            given += 1;
            guess = index + 1;
            cursor.expect(b':')?;
            let value = cursor.rest()?;
            let checked = if params.get(index)?.is_exact {
                None
            } else {
                Some(rules.contract.accepts_member(index, value)?)
            };
            // A value that the contract does not accept leaves its slot empty.
            let taken = slots.get_mut(index)?.fill(value).ok()?;
            if checked.is_some_and(|checked| checked != taken) {
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

    /// Skips white space and consumes the next byte if it equals `wanted`. Returns whether the byte was
    /// consumed.
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

    /// Consumes the key of a member and returns the index of the parameter with this name or alias.
    ///
    /// `guess` is the index after the previous parameter. It is tried first, because models mostly send
    /// parameters in the order of the schema.
    #[inline]
    fn key(&mut self, params: &[Param<'_>], guess: usize) -> Option<usize> {
        self.expect(b'"')?;
        match params.get(guess) {
            Some(param) if self.accept_key(param.name) => Some(guess),
            _ => self.other_key(params),
        }
    }

    /// Consumes the rest of a key after its opening quote, and returns the index of the parameter with this name
    /// or alias.
    #[inline(never)]
    fn other_key(&mut self, params: &[Param<'_>]) -> Option<usize> {
        let name = self.string()?;
        params.iter().position(|param| param.answers_to(name))
    }

    /// Consumes `name` and the closing quote if the key equals `name`. Returns whether the key was consumed.
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

    /// Consumes a JSON string after its opening quote, including the closing quote, and returns the content.
    /// Returns `None` if the string contains escapes or control characters.
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
