//! The details of an error, private unless the program stores them.

use super::{ErrorKind, ToolError};
use serde::{Deserialize, Serialize};

/// The details for the program.
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

/// Returns the text for a kind, without anything that a call or a tool has said.
fn words(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotFound => "Tool not found",
        ErrorKind::InvalidJson | ErrorKind::InvalidArguments => "Invalid arguments",
        ErrorKind::Failed | ErrorKind::Panicked => "Tool runtime error",
        ErrorKind::Retry => "Tool asks for another try",
        ErrorKind::InvalidOutput => "Invalid return type",
        ErrorKind::TimedOut => "Tool timed out",
        ErrorKind::Cancelled => "Tool was cancelled",
        ErrorKind::Denied => "Tool denied",
        ErrorKind::Pending => "The result comes later",
        ErrorKind::Disabled => "Tool is disabled",
        ErrorKind::RateLimited => "Tool is called too often",
        ErrorKind::Exhausted => "Tool failed too often",
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

impl ToolError {
    /// Sets whether the [details](Self::details) are serialized, also those of earlier attempts.
    ///
    /// The default is `false`: details may contain secrets, and errors are stored.
    #[must_use]
    pub fn with_stored_details(mut self, stored: bool) -> Self {
        self.0.details.stored = stored && self.0.details.text.is_some();
        let earlier = std::mem::take(&mut self.0.earlier).into_iter();
        self.0.earlier = earlier.map(|error| error.with_stored_details(stored)).collect();
        self
    }

    /// Returns the error with a text for its kind alone, not repeating arguments or outputs.
    pub(crate) fn without_contents(&self) -> Self {
        let text = words(self.kind());
        let mut error = self.clone().map_violations(|_| None).with_message(text).with_brief(text);
        error.0.details = Details::default();
        error.0.pending = None;
        for earlier in &mut error.0.earlier {
            *earlier = earlier.without_contents();
        }
        error
    }

    /// Returns the details for the program, such as the causes or the message of a panic. `{:#}` shows
    /// them, but they are serialized only [on demand](Self::with_stored_details).
    ///
    /// ```
    /// use toolkit_ai::ToolError;
    ///
    /// let error = ToolError::failed("the database is down").with_details("10.0.0.7:5432 refused");
    /// assert_eq!(error.to_string(), "Error running tool: the database is down");
    /// assert_eq!(format!("{error:#}"), "Error running tool: the database is down (10.0.0.7:5432 refused)");
    /// ```
    #[must_use]
    pub fn details(&self) -> Option<&str> {
        self.0.details.text.as_deref()
    }
}
