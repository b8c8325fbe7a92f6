//! The `toolConfig` of a request.

use super::Gemini;
use crate::fields::{Fields, set};
use crate::tool_config::{ChoiceCodec, EncodedToolConfig};
use serde_json::json;
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::name::WireNames;

impl ChoiceCodec for Gemini {
    fn encode_tool_config(&self, wanted: &ToolConfig, names: &WireNames) -> EncodedToolConfig {
        let (mode, allowed) = mode_and_names(&wanted.choice);
        let mut config = Fields::new();
        set(&mut config, "mode", mode);
        if !allowed.is_empty() {
            let allowed: Vec<&str> = allowed.iter().map(|name| names.spell(name)).collect();
            set(&mut config, "allowedFunctionNames", allowed);
        }
        let mut fields = Fields::new();
        set(&mut fields, "toolConfig", json!({"functionCallingConfig": config}));
        let encoded = EncodedToolConfig::new(fields);
        if mode == "NONE" { encoded } else { encoded.without_limit(wanted) }
    }
}

fn mode_and_names(choice: &ToolChoice) -> (&'static str, &[String]) {
    match choice {
        ToolChoice::Auto => ("AUTO", &[]),
        ToolChoice::None => ("NONE", &[]),
        ToolChoice::Required => ("ANY", &[]),
        ToolChoice::Tool(name) => ("ANY", std::slice::from_ref(name)),
        // An empty list in the request would allow every tool, so `NONE` is written to forbid all tools.
        ToolChoice::Allowed { names, .. } if names.is_empty() => ("NONE", &[]),
        ToolChoice::Allowed { names, required: true } => ("ANY", names),
        // `AUTO` cannot limit the names. `VALIDATED` can. It also lets the model choose between text and a
        // call, and in addition enforces the schemas.
        ToolChoice::Allowed { names, required: false } => ("VALIDATED", names),
    }
}
