//! The `toolChoice` of a request.

use super::Bedrock;
use crate::WireError;
use crate::fields::{Fields, object, required, set_in};
use crate::tool_config::ChoiceCodec;
use crate::tool_config::EncodedToolConfig;
use serde_json::{Value, json};
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::name::WireNames;

const PATH: &str = "toolConfig.toolChoice";

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
        match wanted.parallel {
            Some(false) => {
                encoded.lose("/parallel", "parallel", "the API does not limit the number of calls")
            }
            _ => encoded,
        }
    }

    fn parse_tool_config(&self, request: &Fields, names: &WireNames) -> Result<ToolConfig, WireError> {
        let choice = request.get("toolConfig").and_then(|config| config.get("toolChoice"));
        let Some(choice) = choice.filter(|choice| !choice.is_null()) else {
            return Ok(ToolConfig::default());
        };
        let kind = object(choice, PATH, "an object with the kind of choice")?.iter().next();
        let choice = match kind.map(|(kind, choice)| (kind.as_str(), choice)) {
            Some(("auto", _)) => ToolChoice::Auto,
            Some(("any", _)) => ToolChoice::Required,
            Some(("tool", tool)) => ToolChoice::Tool(name(tool, names)?),
            _ => return Err(WireError::new(PATH, "`auto`, `any` or `tool`")),
        };
        Ok(choice.into())
    }
}

fn name(tool: &Value, names: &WireNames) -> Result<String, WireError> {
    let name = required(tool, "toolConfig.toolChoice.tool", "name", "the name of a tool")?;
    Ok(names.unspell(name).to_owned())
}
