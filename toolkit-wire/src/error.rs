//! A provider's payload that is not what its format says.

use std::fmt;

/// A provider's payload that is not what its format says: where, and what was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireError {
    path: String,
    expected: String,
}

impl WireError {
    /// At `path` (as in `choices[0].message`), `expected` should have been.
    #[must_use]
    pub fn new(path: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { path: path.into(), expected: expected.into() }
    }

    /// Where in the payload, as in `choices[0].message`; empty for the whole.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What should have been there.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.expected
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "the payload" } else { &self.path };
        write!(f, "expected {} at {place}", self.expected)
    }
}

impl std::error::Error for WireError {}
