//! The `toolChoice` of a request.

use super::Bedrock;
use crate::fields::{Fields, set_in};
use crate::tool_config::ChoiceCodec;
use crate::tool_config::EncodedToolConfig;
use serde_json::json;
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::name::WireNames;

impl ChoiceCodec for Bedrock {
    /// Encodes the tool choice. The default `auto` is left out, because only some models accept the field.
    fn encode_tool_config(&self, wanted: &ToolConfig, names: &WireNames) -> EncodedToolConfig {
        let tool = |name: &str| Some(json!({"tool": {"name": names.spell(name)}}));
        let any = || Some(json!({"any": {}}));
        let none = ("/choice", "none", "the API cannot forbid calls: the model decides");
        let set = "the API has no set of allowed tools: the model may call every tool of the request";
        let set = ("/choice/allowed/names", "allowed", set);
        let (choice, unsaid) = match &wanted.choice {
            ToolChoice::Auto => (None, None),
            ToolChoice::None => (None, Some(none)),
            ToolChoice::Required => (any(), None),
            ToolChoice::Tool(name) => (tool(name), None),
            ToolChoice::Allowed { names, required } => match (names.as_slice(), required) {
                ([], false) => (None, Some(none)),
                ([only], true) => (tool(only), None),
                (_, false) => (None, Some(set)),
                (_, true) => (any(), Some(set)),
            },
        };
        let mut fields = Fields::new();
        if let Some(choice) = choice {
            set_in(&mut fields, &["toolConfig", "toolChoice"], choice);
        }
        let mut encoded = EncodedToolConfig::new(fields);
        if let Some((path, setting, reason)) = unsaid {
            encoded = encoded.lose(path, setting, reason);
        }
        encoded.without_limit(wanted)
    }
}
