//! The error of a store.

use std::error::Error;
use std::fmt;

/// An error of a store.
///
/// ```
/// use toolkit_ai::agent::session::StoreError;
///
/// assert!(StoreError::conflict("1").is_conflict());
/// assert!(!StoreError::new("the disk is full").is_conflict());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct StoreError {
    message: String,
    is_conflict: bool,
}

impl StoreError {
    /// Creates an error with this message.
    #[must_use]
    pub fn new(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), is_conflict: false }
    }

    /// Creates the error of a save after another program or task has saved the conversation.
    #[must_use]
    pub fn conflict(id: &str) -> Self {
        let message = format!(
            "conversation `{id}` was saved by another program or task since it was loaded; load it again"
        );
        Self { message, is_conflict: true }
    }

    /// Returns whether another program or task saved the conversation after it was loaded.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        self.is_conflict
    }
}

/// Prints the message, so that a failed `main` shows it.
impl fmt::Debug for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for StoreError {}

impl From<serde_json::Error> for StoreError {
    fn from(error: serde_json::Error) -> Self {
        Self::new(format_args!("the saved JSON is invalid: {error}"))
    }
}
