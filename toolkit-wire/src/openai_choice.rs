//! The `tool_choice` and the `parallel_tool_calls` of both APIs of OpenAI, which differ in their nesting.

use super::path::{element, field};
use crate::WireError;
use serde_json::{Map, Value, json};
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::name::WireNames;

const CHOICE: &str = "tool_choice";
const PARALLEL: &str = "parallel_tool_calls";

/// Where the name of a tool stands in a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `{type: function, function: {name}}`, as in Chat Completions.
    Nested,
    /// `{type: function, name}`, as in Responses. The nested form is read as well.
    Flat,
}

impl Form {
    pub(super) fn encode(self, wanted: &ToolConfig, names: &WireNames) -> Map<String, Value> {
        let mut fields = Map::new();
        fields.insert(CHOICE.to_owned(), self.encode_choice(wanted, names));
        if let Some(parallel) = wanted.parallel {
            fields.insert(PARALLEL.to_owned(), parallel.into());
        }
        fields
    }

    pub(super) fn parse(
        self,
        request: &Map<String, Value>,
        names: &WireNames,
    ) -> Result<ToolConfig, WireError> {
        let choice = request.get(CHOICE).unwrap_or(&Value::Null);
        let mut wanted = ToolConfig::from(self.parse_choice(choice, names)?);
        wanted.custom = self.custom(choice, names).collect();
        wanted.parallel = match request.get(PARALLEL) {
            None | Some(Value::Null) => None,
            Some(Value::Bool(parallel)) => Some(*parallel),
            Some(_) => return Err(WireError::new(PARALLEL, "true or false")),
        };
        Ok(wanted)
    }

    fn encode_choice(self, wanted: &ToolConfig, names: &WireNames) -> Value {
        let encode = |name: &String| self.encode_tool(names.spell(name), wanted.custom.contains(name));
        match &wanted.choice {
            ToolChoice::Auto => json!("auto"),
            ToolChoice::None => json!("none"),
            ToolChoice::Required => json!("required"),
            ToolChoice::Tool(name) => encode(name),
            ToolChoice::Allowed { names: allowed, required } => {
                let tools: Vec<Value> = allowed.iter().map(encode).collect();
                let mode = if *required { "required" } else { "auto" };
                match self {
                    Self::Nested => {
                        json!({"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}})
                    }
                    Self::Flat => json!({"type": "allowed_tools", "mode": mode, "tools": tools}),
                }
            }
        }
    }

    fn encode_tool(self, name: &str, is_custom: bool) -> Value {
        let kind = if is_custom { "custom" } else { "function" };
        match self {
            Self::Nested => json!({"type": kind, kind: {"name": name}}),
            Self::Flat => json!({"type": kind, "name": name}),
        }
    }

    fn parse_choice(self, choice: &Value, names: &WireNames) -> Result<ToolChoice, WireError> {
        match choice {
            // The default of a request that has tools.
            Value::Null => Ok(ToolChoice::Auto),
            Value::String(mode) => match mode.as_str() {
                "auto" => Ok(ToolChoice::Auto),
                "none" => Ok(ToolChoice::None),
                "required" => Ok(ToolChoice::Required),
                _ => Err(WireError::new(CHOICE, "`auto`, `none` or `required`")),
            },
            Value::Object(fields) => match fields.get("type").and_then(Value::as_str) {
                Some("function" | "custom") => self.parse_tool(choice, CHOICE, names).map(ToolChoice::Tool),
                Some("allowed_tools") => self.parse_allowed(choice, names),
                _ => Err(WireError::new(field(CHOICE, "type"), "`function`, `custom` or `allowed_tools`")),
            },
            _ => Err(WireError::new(CHOICE, "a tool choice: a text or an object")),
        }
    }

    /// Returns the names of the tools of free text in a choice that was read.
    fn custom(self, choice: &Value, names: &WireNames) -> impl Iterator<Item = String> {
        let allowed = if self == Self::Nested { choice.get("allowed_tools") } else { Some(choice) };
        let allowed = allowed.and_then(|allowed| allowed.get("tools")).and_then(Value::as_array);
        let tools = allowed.into_iter().flatten().chain(std::iter::once(choice));
        let custom = tools.filter(|tool| tool.get("type").is_some_and(|kind| kind == "custom"));
        custom.filter_map(move |tool| self.parse_tool(tool, CHOICE, names).ok())
    }

    fn parse_allowed(self, choice: &Value, names: &WireNames) -> Result<ToolChoice, WireError> {
        let (allowed, path) = match self {
            Self::Nested => (choice.get("allowed_tools"), field(CHOICE, "allowed_tools")),
            Self::Flat => (Some(choice), CHOICE.to_owned()),
        };
        let required = match allowed.and_then(|allowed| allowed.get("mode")).and_then(Value::as_str) {
            Some("auto") => false,
            Some("required") => true,
            _ => return Err(WireError::new(field(&path, "mode"), "`auto` or `required`")),
        };
        let path = field(&path, "tools");
        let Some(tools) = allowed.and_then(|allowed| allowed.get("tools")).and_then(Value::as_array) else {
            return Err(WireError::new(path, "a list of tools"));
        };
        let tools = tools.iter().enumerate();
        let allowed = tools.map(|(index, tool)| self.parse_tool(tool, &element(&path, index), names));
        Ok(ToolChoice::Allowed { names: allowed.collect::<Result<_, _>>()?, required })
    }

    /// Returns the name of a tool; a custom one has `custom` in the place of `function`.
    fn parse_tool(self, tool: &Value, path: &str, names: &WireNames) -> Result<String, WireError> {
        let kind = if tool.get("type").is_some_and(|kind| kind == "custom") { "custom" } else { "function" };
        let (named, path) = match (self, tool.get(kind)) {
            (Self::Flat, None) => (Some(tool), path.to_owned()),
            (Self::Flat, nested) => (nested, path.to_owned()),
            (Self::Nested, nested) => (nested, field(path, kind)),
        };
        match named.and_then(|named| named.get("name")).and_then(Value::as_str) {
            Some(name) => Ok(names.unspell(name).to_owned()),
            None => Err(WireError::new(field(&path, "name"), "the name of a tool")),
        }
    }
}
