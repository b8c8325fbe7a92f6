//! Tool choice and parallel calls of a request.

use super::ProviderExtras;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Which tools the model may or must call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model decides whether to call tools.
    #[default]
    Auto,
    /// The model must not call tools.
    None,
    /// The model must call a tool.
    Required,
    /// The model must call this tool.
    Tool(String),
    /// The model may call only these tools.
    Allowed {
        /// The names of the tools.
        names: Vec<String>,
        /// Whether the model must call one of them.
        required: bool,
    },
}

/// The tool choice of a request, and its setting for parallel calls.
///
/// ```
/// use toolkit_ai::{ToolChoice, ToolConfig};
///
/// let one_at_a_time = ToolConfig::from(ToolChoice::Required).with_parallel(false);
/// assert_eq!(one_at_a_time.parallel, Some(false));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct ToolConfig {
    /// Which tools the model may or must call.
    pub choice: ToolChoice,
    /// Whether the model may make parallel calls. `None` is the provider's default, almost always `true`.
    pub parallel: Option<bool>,
    /// The [custom tools](crate::definition::ToolKind::Custom) named in the tool choice. OpenAI's APIs
    /// refuse a choice that names a custom tool as a function.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub custom: BTreeSet<String>,
    /// Further request fields of the provider, unchanged. Only this provider gets them; they are reported
    /// as lost for another.
    #[serde(default, skip_serializing_if = "ProviderExtras::is_empty")]
    pub extras: ProviderExtras,
}

impl ToolConfig {
    /// Sets whether parallel calls are allowed.
    pub fn with_parallel(mut self, parallel: bool) -> Self {
        self.parallel = Some(parallel);
        self
    }

    /// Adds names of [custom tools](Self::custom). A name outside of the tool choice is ignored.
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
