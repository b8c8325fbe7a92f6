//! Which tools the model may or must call, and how many at once.

use serde::{Deserialize, Serialize};

/// Which tools the model may or must call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// No tool may be called.
    None,
    /// At least one tool must be called.
    Required,
    /// This tool must be called.
    Tool(String),
    /// Only these tools may be called.
    Allowed {
        /// Their names.
        names: Vec<String>,
        /// Whether one of them must be called.
        required: bool,
    },
}

/// How the model may use the tools of one request.
///
/// ```
/// use toolkit_core::{ToolChoice, ToolUse};
///
/// let one_at_a_time = ToolUse::from(ToolChoice::Required).with_parallel(false);
/// assert_eq!(one_at_a_time.parallel, Some(false));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolUse {
    /// Which tools may or must be called.
    pub choice: ToolChoice,
    /// Whether the model may ask for several calls at once; `None` leaves it to the provider, which
    /// nearly always means yes.
    pub parallel: Option<bool>,
}

impl ToolUse {
    /// Says whether the model may ask for several calls at once.
    #[must_use]
    pub fn with_parallel(mut self, parallel: bool) -> Self {
        self.parallel = Some(parallel);
        self
    }
}

impl From<ToolChoice> for ToolUse {
    fn from(choice: ToolChoice) -> Self {
        Self { choice, parallel: None }
    }
}
