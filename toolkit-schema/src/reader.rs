//! One pass over a JSON text: the crate's only scanner. Types and [`Json`](crate::json::Json) are read from
//! it, and a plan checks each value where it stands.
//!
//! What the plan refuses gets an error without a message, and is read again in full. The refusal is kept,
//! because a type may go on after an error.

mod containers;
mod decode;
mod error;
mod key;
mod raw_text;
#[cfg(test)]
mod tests;
mod tokens;
mod tree;

pub use containers::Arguments;
pub use error::ReadError;
pub use raw_text::RAW_VALUE;

use containers::{Items, Members};
use tokens::Number;

use crate::depth::MAX_DEPTH;
use crate::plan::{Matcher, NULL, Plan};
use serde::de::DeserializeOwned;

/// The number of digits that every 64-bit integer can have.
pub(crate) const DIGITS: usize = 18;

/// The matcher of an unchecked text.
static FREE: Matcher = Matcher::Free;

/// A position in a JSON text, and what is expected there.
#[derive(Debug)]
pub struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// The number of lists and objects that may still be opened inside each other.
    levels: usize,
    matchers: &'t [Matcher],
    /// The matcher of the next value.
    expected: &'t Matcher,
    is_refused: bool,
}

impl<'t> Reader<'t> {
    /// Reads any JSON value.
    #[must_use]
    pub fn unchecked(text: &'t str) -> Self {
        Self { text, at: 0, levels: MAX_DEPTH, matchers: &[], expected: &FREE, is_refused: false }
    }

    /// Reads JSON that must certainly conform to the plan.
    #[must_use]
    pub(crate) fn checked(text: &'t str, plan: &'t Plan) -> Self {
        let expected = plan.matchers.first().unwrap_or(&Matcher::Unknown);
        Self { text, at: 0, levels: MAX_DEPTH, matchers: &plan.matchers, expected, is_refused: false }
    }

    /// Decodes the text.
    ///
    /// # Errors
    /// The plan or the type refuses the value. The position is that of the fault.
    pub fn decode<T: DeserializeOwned>(&mut self) -> Result<T, ReadError> {
        let value = T::deserialize(&mut *self)?;
        self.end()?;
        Ok(value)
    }

    /// Returns the offset of the next byte, or of the fault after an error.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Ends the text after its value.
    ///
    /// # Errors
    /// Characters other than white space follow, or the type went on after a refusal.
    pub fn end(&mut self) -> Result<(), ReadError> {
        if self.skip_white_space().is_none() && !self.is_refused { Ok(()) } else { Err(ReadError::REFUSED) }
    }

    /// Returns the error for a text that is no JSON or not accepted by the plan.
    #[cold]
    fn refuse(&mut self) -> ReadError {
        self.is_refused = true;
        ReadError::REFUSED
    }

    /// Reads a value and drops it.
    pub(crate) fn skip(&mut self) -> Result<(), ReadError> {
        let (first, matcher) = self.begin()?;
        match first {
            b'{' => {
                let mut members = Members::open(self, matcher)?;
                while members.next_name()?.is_some() {
                    members.reader().skip()?;
                }
                members.close()
            }
            b'[' => {
                let mut items = Items::open(self, matcher)?;
                while items.next()? {
                    items.reader().skip()?;
                }
                items.close()
            }
            b'"' if matches!(
                matcher,
                Matcher::Free | Matcher::Any | Matcher::Text { least: 0, most: usize::MAX }
            ) =>
            {
                self.skip_string(!matches!(matcher, Matcher::Free))
            }
            b'"' => self.checked_text(matcher).map(drop),
            b't' | b'f' => self.checked_bool(first, matcher).map(drop),
            b'n' => self.checked_null(matcher),
            _ => self.checked_number(first, matcher).map(drop),
        }
    }

    /// Returns the first byte of the next value and its matcher.
    #[inline]
    fn begin(&mut self) -> Result<(u8, &'t Matcher), ReadError> {
        let first = self.peek()?;
        let mut matcher = self.expected;
        while let Matcher::ByType(by_type) = matcher {
            let bit = bit_of(first);
            let branch = by_type.iter().find(|(bits, _)| *bits == bit);
            matcher = branch.and_then(|(_, at)| self.matchers.get(*at)).unwrap_or(&Matcher::Unknown);
        }
        Ok((first, matcher))
    }

    /// Expects a value for the matcher at `at`.
    #[inline]
    fn expect(&mut self, at: usize) {
        self.expected = self.matchers.get(at).unwrap_or(&Matcher::Unknown);
    }
}

/// Returns the bit for the JSON type that begins with `first`.
fn bit_of(first: u8) -> u8 {
    match first {
        b'n' => NULL,
        b't' | b'f' => 1 << 1,
        b'"' => 1 << 2,
        b'[' => 1 << 3,
        b'{' => 1 << 4,
        _ => 1 << 5,
    }
}
