//! The fast way: one pass over the text, each value parsed where it stands.

use super::explain;
use super::param::{Fill, Param, fill_absent};
use crate::context::ToolContext;
use crate::error::ToolError;
use serde_json::Value;

/// How many parameters can be marked as seen; tools with more are always decoded the slow way.
const MARKS: usize = 64;

/// How the arguments of a tool are judged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules<'a> {
    /// The schema of the parameters.
    pub(crate) schema: &'a Value,
    /// For each parameter, whether its schema demands more than decoding ensures.
    pub(crate) demanding: &'a [bool],
    /// Whether arguments that the tool does not have are refused.
    pub(crate) refuse_unknown: bool,
    /// Whether a value that does not fit is tried as what may be meant.
    pub(crate) coerce: bool,
    /// The call, if whoever listens to it should know what was taken otherwise than it was written.
    pub(crate) context: Option<&'a ToolContext>,
}

impl Rules<'_> {
    #[inline]
    pub(super) fn demand_more(&self, index: usize) -> bool {
        self.demanding.get(index).is_some_and(|demanding| *demanding)
    }
}

/// Fills one slot for each parameter from the JSON text of a call.
///
/// After `Ok`, only the slots of parameters with a default may be empty, and every value keeps to the schema.
///
/// # Errors
/// [`ErrorKind::InvalidJson`](crate::ErrorKind::InvalidJson) with the position, or
/// [`ErrorKind::InvalidArguments`](crate::ErrorKind::InvalidArguments) with every violation.
#[inline]
pub(crate) fn decode(
    text: &str,
    params: &[Param],
    rules: &Rules<'_>,
    slots: &mut [&mut dyn Fill],
) -> Result<(), ToolError> {
    match decode_directly(text, params, rules, slots) {
        Some(()) => Ok(()),
        None => explain::decode(text, params, rules, slots),
    }
}

/// `None` as soon as anything is not as it should be; the text is then read again by
/// [`explain::decode`].
fn decode_directly(
    text: &str,
    params: &[Param],
    rules: &Rules<'_>,
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
            if rules.demand_more(index)
                && !explain::keeps_to_schema(params.get(index)?, value.get(..taken)?, rules)
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

    /// Takes the next byte that is not white space, if it is `wanted`.
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

    /// Takes a key and returns the index of its parameter. Models mostly write the arguments in the
    /// order of the schema, so the parameter that is next there is looked at first.
    #[inline]
    fn key(&mut self, params: &[Param], guess: usize) -> Option<usize> {
        self.expect(b'"')?;
        match params.get(guess) {
            Some(param) if self.accept_key(param.name) => Some(guess),
            _ => {
                let name = self.string()?;
                params.iter().position(|param| param.answers_to(name))
            }
        }
    }

    /// Takes `name` and the quote behind it, if that is the key.
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

    /// The rest of a string without escapes.
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
