//! The `tool_choice` of a request.

use super::Cohere;
use crate::WireError;
use crate::fields::{Fields, set};
use crate::tool_config::ChoiceCodec;
use crate::tool_config::EncodedToolConfig;
use serde_json::Value;
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
        match wanted.parallel {
            Some(false) => {
                encoded.lose("/parallel", "parallel", "the API does not limit the number of calls")
            }
            _ => encoded,
        }
    }

    fn parse_tool_config(&self, request: &Fields, _names: &WireNames) -> Result<ToolConfig, WireError> {
        let choice = match request.get(CHOICE) {
            None | Some(Value::Null) => ToolChoice::Auto,
            Some(choice) => match choice.as_str() {
                Some("REQUIRED") => ToolChoice::Required,
                Some("NONE") => ToolChoice::None,
                _ => return Err(WireError::new(CHOICE, "`REQUIRED` or `NONE`")),
            },
        };
        Ok(choice.into())
    }
}
