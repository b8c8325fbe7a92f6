//! The details of an error, which are private unless the program stores them.

use serde::{Deserialize, Serialize};

/// The details of an error for the program.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "Option<String>", into = "Option<String>")]
pub(super) struct Details {
    pub(super) text: Option<String>,
    /// Whether the details are serialized.
    pub(super) stored: bool,
}

impl Details {
    pub(super) fn private(text: String) -> Self {
        Self { text: Some(text), stored: false }
    }

    pub(super) fn are_private(&self) -> bool {
        self.text.is_none() || !self.stored
    }
}

impl From<Option<String>> for Details {
    fn from(text: Option<String>) -> Self {
        Self { stored: text.is_some(), text }
    }
}

impl From<Details> for Option<String> {
    fn from(details: Details) -> Self {
        details.text
    }
}
