//! Which tools the model may or must call, and how many at once.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Which tools the model may or must call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
/// use toolkit::{ToolChoice, ToolConfig};
///
/// let one_at_a_time = ToolConfig::from(ToolChoice::Required).with_parallel(false);
/// assert_eq!(one_at_a_time.parallel, Some(false));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolConfig {
    /// Which tools may or must be called.
    pub choice: ToolChoice,
    /// Whether the model may ask for several calls at once; `None` leaves it to the provider, which
    /// nearly always means yes.
    pub parallel: Option<bool>,
    /// Which of the tools named by the choice take free text ([`ToolKind::Custom`](crate::ToolKind::Custom)):
    /// the APIs of OpenAI refuse a choice that takes them for functions.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub custom: BTreeSet<String>,
}

impl ToolConfig {
    /// Says whether the model may ask for several calls at once.
    #[must_use]
    pub fn with_parallel(mut self, parallel: bool) -> Self {
        self.parallel = Some(parallel);
        self
    }
}

impl ToolConfig {
    /// Adds names of tools that take [free text](Self::custom); those that the choice does not name are
    /// left out.
    #[must_use]
    pub fn with_custom<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        let named = match &self.choice {
            ToolChoice::Tool(name) => std::slice::from_ref(name),
            ToolChoice::Allowed { names, .. } => names,
            ToolChoice::Auto | ToolChoice::None | ToolChoice::Required => &[],
        };
        let custom: BTreeSet<String> = names.into_iter().map(Into::into).collect();
        self.custom.extend(named.iter().filter(|name| custom.contains(*name)).cloned());
        self
    }
}

impl From<ToolChoice> for ToolConfig {
    fn from(choice: ToolChoice) -> Self {
        Self { choice, ..Self::default() }
    }
}
