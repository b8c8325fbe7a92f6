//! The place of a listener in a conversation.

use std::error::Error;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The place of a listener in a conversation: what it has heard.
///
/// As text, it suits the id of a server-sent event:
///
/// ```
/// use toolkit_ai::agent::runs::Cursor;
///
/// let cursor: Cursor = "18d3a9c1.7.2.14".parse()?;
/// assert_eq!((cursor.to_string(), cursor.entry()), ("18d3a9c1.7.2.14".to_owned(), 7));
/// assert!(cursor.is_after(&"18d3a9c1.7.0.0".parse()?));
/// # Ok::<(), toolkit_ai::agent::runs::ParseCursorError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// The id of the log.
    pub(super) log: Arc<str>,
    /// The number of saved entries that were heard.
    pub(super) entry: u64,
    /// The attempt at the run, and how many of its events after these entries were heard.
    pub(super) attempt: u32,
    pub(super) piece: u64,
}

impl Cursor {
    /// Returns the number of saved entries that were heard whole.
    #[must_use]
    pub fn entry(&self) -> u64 {
        self.entry
    }

    /// Returns whether the event before this place came after the saved entries of `other`, so that
    /// [`RunUpdate::Back`](super::RunUpdate::Back) takes it back.
    #[must_use]
    pub fn is_after(&self, other: &Self) -> bool {
        self.entry > other.entry || self.entry == other.entry && self.piece > 0
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { log, entry, attempt, piece } = self;
        write!(f, "{log}.{entry}.{attempt}.{piece}")
    }
}

/// The error of a text that is no [`Cursor`].
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParseCursorError;

/// Prints the message, so that a failed `main` shows it.
impl fmt::Debug for ParseCursorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ParseCursorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this is not the cursor of a listener; attach without one")
    }
}

impl Error for ParseCursorError {}

impl FromStr for Cursor {
    type Err = ParseCursorError;

    fn from_str(text: &str) -> Result<Self, ParseCursorError> {
        let mut parts = text.rsplitn(4, '.');
        let piece = number(parts.next())?;
        let attempt = number(parts.next())?;
        let entry = number(parts.next())?;
        let log = parts.next().ok_or(ParseCursorError)?.into();
        Ok(Self { log, entry, attempt, piece })
    }
}

fn number<T: FromStr>(text: Option<&str>) -> Result<T, ParseCursorError> {
    text.and_then(|text| text.parse().ok()).ok_or(ParseCursorError)
}
