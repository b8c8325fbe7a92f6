//! The `toolChoice` of a request.

use super::Bedrock;
use crate::fields::{Fields, set_in};
use crate::tool_config::{ChoiceCodec, EncodedToolConfig, without_set};
use serde_json::json;
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::name::WireNames;

impl ChoiceCodec for Bedrock {
    /// Encodes the tool choice. The default `auto` is left out, because only some models accept the field.
    fn encode_tool_config(&self, wanted: &ToolConfig, names: &WireNames) -> EncodedToolConfig {
        let (choice, is_set_lost) = without_set(&wanted.choice);
        let encoded_choice = match &choice {
            ToolChoice::Required => Some(json!({"any": {}})),
            ToolChoice::Tool(name) => Some(json!({"tool": {"name": names.spell(name)}})),
            _ => None,
        };
        let mut fields = Fields::new();
        if let Some(encoded_choice) = encoded_choice {
            set_in(&mut fields, &["toolConfig", "toolChoice"], encoded_choice);
        }
        let mut encoded = EncodedToolConfig::new(fields);
        if choice == ToolChoice::None {
            encoded = encoded.lose("/choice", "none", "the API cannot forbid calls: the model decides");
        }
        if is_set_lost {
            let reason = "the API has no set of allowed tools: the model may call every tool of the request";
            encoded = encoded.lose("/choice/allowed/names", "allowed", reason);
        }
        encoded.without_limit(wanted)
    }
}
