//! The `tool_choice` of a request.

use super::Cohere;
use crate::fields::{Fields, set};
use crate::tool_config::{ChoiceCodec, EncodedToolConfig};
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::name::WireNames;

const CHOICE: &str = "tool_choice";

impl ChoiceCodec for Cohere {
    /// Encodes the tool choice. If the field is missing, the model decides.
    fn encode_tool_config(&self, wanted: &ToolConfig, _names: &WireNames) -> EncodedToolConfig {
        let (choice, unsaid) = match &wanted.choice {
            ToolChoice::Auto => (None, None),
            ToolChoice::None => (Some("NONE"), None),
            ToolChoice::Required => (Some("REQUIRED"), None),
            ToolChoice::Tool(_) => (Some("REQUIRED"), Some(("/choice", "tool"))),
            ToolChoice::Allowed { names, required: false } if names.is_empty() => (Some("NONE"), None),
            ToolChoice::Allowed { required, .. } => {
                (required.then_some("REQUIRED"), Some(("/choice/allowed/names", "allowed")))
            }
        };
        let mut fields = Fields::new();
        if let Some(choice) = choice {
            set(&mut fields, CHOICE, choice);
        }
        let mut encoded = EncodedToolConfig::new(fields);
        if let Some((path, setting)) = unsaid {
            let reason = "the API cannot name tools: the model may call every tool of the request";
            encoded = encoded.lose(path, setting, reason);
        }
        encoded.without_limit(wanted)
    }
}
