//! The `tool_choice` of a request. It is a field of `generation_config`.

use super::GeminiInteractions;
use crate::fields::{Fields, set_in};
use crate::tool_config::{ChoiceCodec, EncodedToolConfig};
use serde_json::json;
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::name::WireNames;

impl ChoiceCodec for GeminiInteractions {
    fn encode_tool_config(&self, wanted: &ToolConfig, names: &WireNames) -> EncodedToolConfig {
        let allowed = |mode: &str, tools: &[String]| {
            let tools: Vec<&str> = tools.iter().map(|name| names.spell(name)).collect();
            json!({"allowed_tools": {"mode": mode, "tools": tools}})
        };
        let choice = match &wanted.choice {
            ToolChoice::Auto => json!("auto"),
            ToolChoice::None => json!("none"),
            ToolChoice::Required => json!("any"),
            ToolChoice::Tool(name) => allowed("any", std::slice::from_ref(name)),
            // An empty list in the request could allow every tool, so `none` is written to forbid all tools.
            ToolChoice::Allowed { names, .. } if names.is_empty() => json!("none"),
            ToolChoice::Allowed { names, required } => allowed(if *required { "any" } else { "auto" }, names),
        };
        let mut fields = Fields::new();
        set_in(&mut fields, &["generation_config", "tool_choice"], choice);
        EncodedToolConfig::new(fields).without_limit(wanted)
    }
}
