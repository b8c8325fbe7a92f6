//! One pass over a JSON text: the only scanner of this crate. A type decodes from it, a [`Json`](crate::json::Json) is made
//! by it, and with a plan it checks each value where it stands.
//!
//! A reader refuses what the plan does not accept with an error without a message: the text is then read in full. It keeps
//! that it has refused, because a type may go on after an error.

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

/// The matcher of all values of a text without a plan.
static FREE: Matcher = Matcher::Free;

/// A position in a JSON text, and what the plan expects there.
#[derive(Debug)]
pub struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// The number of lists and objects that may still be opened inside of each other.
    levels: usize,
    matchers: &'t [Matcher],
    /// The matcher of the value that is read next.
    expected: &'t Matcher,
    is_refused: bool,
}

impl<'t> Reader<'t> {
    /// Reads any JSON value.
    #[must_use]
    pub fn unchecked(text: &'t str) -> Self {
        Self { text, at: 0, levels: MAX_DEPTH, matchers: &[], expected: &FREE, is_refused: false }
    }

    /// Reads a JSON value that must certainly conform to the schema of the plan.
    #[must_use]
    pub(crate) fn checked(text: &'t str, plan: &'t Plan) -> Self {
        let expected = plan.matchers.first().unwrap_or(&Matcher::Unknown);
        Self { text, at: 0, levels: MAX_DEPTH, matchers: &plan.matchers, expected, is_refused: false }
    }

    /// Decodes the whole text.
    ///
    /// # Errors
    /// The plan does not accept the value, or the type refuses it. The position of the reader is that of the fault.
    pub fn decode<T: DeserializeOwned>(&mut self) -> Result<T, ReadError> {
        let value = T::deserialize(&mut *self)?;
        self.end()?;
        Ok(value)
    }

    /// The offset of the next byte that is read. After an error, the offset of the fault.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Ends the text, of which the value has been read.
    ///
    /// # Errors
    /// There are characters other than white space, or a part was refused, and its type went on with another value.
    pub fn end(&mut self) -> Result<(), ReadError> {
        if self.skip_white_space().is_none() && !self.is_refused { Ok(()) } else { Err(ReadError::REFUSED) }
    }

    /// Returns the error for a text that is no JSON, or that the plan does not accept.
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

    /// Returns the first byte of the next value, and the matcher for it.
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

    /// Expects next what the matcher at `at` accepts.
    #[inline]
    fn expect(&mut self, at: usize) {
        self.expected = self.matchers.get(at).unwrap_or(&Matcher::Unknown);
    }
}

/// Returns the bit for the JSON type of a value that begins with `first`.
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
