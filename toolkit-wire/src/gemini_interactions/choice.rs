//! The `tool_choice` of a request. It is a field of `generation_config`.

use super::GeminiInteractions;
use crate::WireError;
use crate::fields::{Fields, element, set_in};
use crate::tool_config::ChoiceCodec;
use crate::tool_config::EncodedToolConfig;
use serde_json::{Value, json};
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::name::WireNames;

const PATH: &str = "generation_config.tool_choice";

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
        let encoded = EncodedToolConfig::new(fields);
        match wanted.parallel {
            Some(false) => {
                encoded.lose("/parallel", "parallel", "the API does not limit the number of calls")
            }
            _ => encoded,
        }
    }

    /// Parses the tool choice. The mode `validated` lets the model choose between text and a call, like
    /// `auto`.
    fn parse_tool_config(&self, request: &Fields, names: &WireNames) -> Result<ToolConfig, WireError> {
        let choice = request.get("generation_config").and_then(|config| config.get("tool_choice"));
        let Some(choice) = choice.filter(|choice| !choice.is_null()) else {
            return Ok(ToolConfig::default());
        };
        let allowed = choice.get("allowed_tools");
        let mode = allowed.map_or(choice, |allowed| allowed.get("mode").unwrap_or(&Value::Null));
        let mode = match mode.as_str() {
            Some("any") => ToolChoice::Required,
            Some("none") => return Ok(ToolChoice::None.into()),
            Some("auto" | "validated") => ToolChoice::Auto,
            None if mode.is_null() && allowed.is_some() => ToolChoice::Auto,
            _ => return Err(WireError::new(PATH, "`auto`, `any`, `none`, `validated` or `allowed_tools`")),
        };
        let required = mode == ToolChoice::Required;
        let path = format!("{PATH}.allowed_tools.tools");
        match allowed.and_then(|allowed| allowed.get("tools")) {
            None | Some(Value::Null) => Ok(mode.into()),
            Some(Value::Array(tools)) => {
                let name = |(index, name): (usize, &Value)| match name.as_str() {
                    Some(name) => Ok(names.unspell(name).to_owned()),
                    None => Err(WireError::new(element(&path, index), "the name of a tool")),
                };
                let mut names: Vec<String> = tools.iter().enumerate().map(name).collect::<Result<_, _>>()?;
                let choice = match names.len() {
                    1 if required => ToolChoice::Tool(names.remove(0)),
                    _ => ToolChoice::Allowed { names, required },
                };
                Ok(choice.into())
            }
            Some(_) => Err(WireError::new(path, "a list of names of tools")),
        }
    }
}
