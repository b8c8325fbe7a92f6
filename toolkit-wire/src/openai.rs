//! Code shared by the codecs of the two OpenAI APIs: definitions, `tool_choice` and `parallel_tool_calls`.
//! The two APIs nest the fields differently. Some APIs of other providers write functions in the nested form
//! too.

use crate::WireError;
use crate::codec::DefinitionCodec;
use crate::declaration::{Draft, grammar, parse_format, parse_named};
use crate::facts::Api;
use crate::fields::{Fields, element, field, flag, list, object, optional, required, set, text, unknown};
use crate::tool_config::{ChoiceCodec, EncodedToolConfig};
use serde_json::{Value, json};
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::name::WireNames;
use toolkit_core::tool::{ToolDefinition, ToolKind};

const CHOICE: &str = "tool_choice";
const PARALLEL: &str = "parallel_tool_calls";

/// The way in which an API nests the fields of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `{type: function, function: {name}}`, as in Chat Completions.
    Nested,
    /// `{type: function, name}`, as in Responses. Parsing also accepts the nested form.
    Flat,
}

/// One of the two OpenAI APIs, which nest the fields of a tool differently.
pub(super) trait OpenAi {
    const FORM: Form;
}

impl<C: Api + OpenAi> ChoiceCodec for C {
    fn encode_tool_config(&self, wanted: &ToolConfig, names: &WireNames) -> EncodedToolConfig {
        let mut fields = Fields::new();
        set(&mut fields, CHOICE, C::FORM.encode_choice(wanted, names));
        if let Some(parallel) = wanted.parallel {
            set(&mut fields, PARALLEL, parallel);
        }
        EncodedToolConfig::new(fields)
    }

    fn parse_tool_config(&self, request: &Fields, names: &WireNames) -> Result<ToolConfig, WireError> {
        let choice = request.get(CHOICE).unwrap_or(&Value::Null);
        let mut wanted = ToolConfig::from(C::FORM.parse_choice(choice, names)?);
        wanted.custom = C::FORM.custom(choice, names).collect();
        wanted.parallel = flag(request, "", PARALLEL)?;
        Ok(wanted)
    }
}

/// An API whose tools are all functions in the nested form, with only the common fields. The provider runs no
/// tools itself.
pub(super) trait PlainFunctions {}

impl<C: Api + PlainFunctions> DefinitionCodec for C {
    fn write_definition(&self, draft: &mut Draft<'_>) -> Value {
        let parameters = draft.parameters();
        let description = draft.definition.description.as_str();
        json!({
            "type": "function",
            "function": {"name": draft.name(), "description": description, "parameters": parameters},
        })
    }

    fn is_tool(&self, fields: &Fields) -> bool {
        fields.contains_key("function")
    }

    fn parse_tool(&self, tool: &Value, path: &str, found: &mut Vec<ToolDefinition>) -> Result<(), WireError> {
        let (mut definition, ..) = Form::Nested.parse_tool(tool, path)?;
        self.keep(&mut definition, object(tool, path, "a tool")?);
        found.push(definition);
        Ok(())
    }

    fn hosted_part(&self, _tool: &Value, _path: &str) -> Result<Option<Value>, WireError> {
        Ok(None)
    }
}

/// Writes a call in the nested form: adds `name` and `arguments` to the object `function` in `fields`. Other fields of
/// this object stay unchanged.
pub(super) fn function_call(mut fields: Fields, name: String, arguments: impl Into<Value>) -> Value {
    let mut function = match fields.get_mut("function").map(Value::take) {
        Some(Value::Object(function)) => function,
        _ => Fields::new(),
    };
    set(&mut function, "name", name);
    set(&mut function, "arguments", arguments);
    set(&mut fields, "function", function);
    fields.into()
}

/// Returns the fields of a call that are not in `known`, to be sent back to the provider. The fields of the object
/// `function` are filtered in the same way.
pub(super) fn unknown_of_function(json: &Value, known: &[&str]) -> Fields {
    let mut extras = unknown(json, known);
    let function = extras.shift_remove("function").map(|function| unknown(&function, known));
    if let Some(function) = function.filter(|function| !function.is_empty()) {
        set(&mut extras, "function", function);
    }
    extras
}

/// Returns whether the provider defines the tool. Its type is then neither `function` nor `custom`.
pub(super) fn is_hosted(tool: &Value) -> bool {
    tool.get("type").and_then(Value::as_str).is_some_and(|kind| !matches!(kind, "function" | "custom"))
}

impl Form {
    /// Encodes a definition. Returns the type of the tool and its fields.
    pub(super) fn encode_tool(self, draft: &mut Draft<'_>) -> (&'static str, Fields) {
        let definition = draft.definition;
        let kind = if definition.kind == ToolKind::Function { "function" } else { "custom" };
        let mut fields = Fields::new();
        if self == Self::Flat {
            set(&mut fields, "type", kind);
        }
        set(&mut fields, "name", draft.name());
        set(&mut fields, "description", definition.description.as_str());
        match &definition.kind {
            ToolKind::Custom(format) => {
                if let Some(grammar) = grammar(format) {
                    let mut format = Fields::from_iter([("type".to_owned(), "grammar".into())]);
                    match self {
                        Self::Nested => set(&mut format, "grammar", grammar),
                        Self::Flat => format.extend(grammar),
                    }
                    set(&mut fields, "format", format);
                }
            }
            _ => set(&mut fields, "parameters", draft.parameters()),
        }
        (kind, fields)
    }

    /// Parses the definition of a tool run by the program. Also returns the fields of the tool and their
    /// path.
    pub(super) fn parse_tool<'a>(
        self,
        tool: &'a Value,
        path: &str,
    ) -> Result<(ToolDefinition, &'a Fields, String), WireError> {
        let is_custom = text(tool, "type") == "custom";
        let (kind, missing) = if is_custom {
            ("custom", "the name, description and format of a custom tool")
        } else {
            ("function", "the name, description and parameters of a function")
        };
        let (fields, path) = match (tool.get(kind).and_then(Value::as_object), self) {
            (Some(nested), _) => (nested, field(path, kind)),
            (None, Self::Flat) => (object(tool, path, "a tool")?, path.to_owned()),
            (None, Self::Nested) => return Err(WireError::new(field(path, kind), missing)),
        };
        let mut definition = parse_named(fields, &path, "parameters")?;
        if is_custom {
            let expected = match self {
                Self::Nested => "`text`, or a grammar with `syntax` (`lark` or `regex`) and `definition`",
                Self::Flat => "a `text` or a `grammar` of `lark` or `regex`",
            };
            let format = optional(fields, &path, "format", expected, parse_format)?.unwrap_or_default();
            definition = ToolDefinition::custom(definition.name, definition.description, format);
        }
        definition.metadata.strict = flag(fields, &path, "strict")?;
        Ok((definition, fields, path))
    }

    fn encode_choice(self, wanted: &ToolConfig, names: &WireNames) -> Value {
        let encode = |name: &String| {
            let kind = if wanted.custom.contains(name) { "custom" } else { "function" };
            match self {
                Self::Nested => json!({"type": kind, kind: {"name": names.spell(name)}}),
                Self::Flat => json!({"type": kind, "name": names.spell(name)}),
            }
        };
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

    fn parse_choice(self, choice: &Value, names: &WireNames) -> Result<ToolChoice, WireError> {
        match (choice, text(choice, "type")) {
            // `auto` is the default for a request with tools.
            (Value::Null, _) => Ok(ToolChoice::Auto),
            (Value::String(mode), _) => match mode.as_str() {
                "auto" => Ok(ToolChoice::Auto),
                "none" => Ok(ToolChoice::None),
                // Mistral writes `any` instead of `required`.
                "required" | "any" => Ok(ToolChoice::Required),
                _ => Err(WireError::new(CHOICE, "`auto`, `none` or `required`")),
            },
            (_, "function" | "custom") => self.parse_name(choice, CHOICE, names).map(ToolChoice::Tool),
            (_, "allowed_tools") => self.parse_allowed(choice, names),
            // This is the choice of a tool defined by the provider, such as its web search.
            (Value::Object(_), kind) if self.is_hosted_choice(kind) => Ok(ToolChoice::Required),
            (Value::Object(_), _) => {
                Err(WireError::new(field(CHOICE, "type"), "`function`, `custom` or `allowed_tools`"))
            }
            _ => Err(WireError::new(CHOICE, "a tool choice: a text or an object")),
        }
    }

    /// Returns whether a tool choice of this type names a tool defined by the provider. The modes and types
    /// in the tool choices of other APIs do not name such tools.
    fn is_hosted_choice(self, kind: &str) -> bool {
        let foreign = ["", "any", "auto", "none", "required", "tool", "function", "custom"];
        self == Self::Flat && !foreign.contains(&kind)
    }

    /// Returns the object with the mode and the allowed tools of a tool choice, and the path of this object.
    fn allowed(self, choice: &Value) -> (&Value, String) {
        match self {
            Self::Nested => {
                (choice.get("allowed_tools").unwrap_or(&Value::Null), field(CHOICE, "allowed_tools"))
            }
            Self::Flat => (choice, CHOICE.to_owned()),
        }
    }

    /// Returns the names of the custom tools among the tools of a tool choice.
    fn custom(self, choice: &Value, names: &WireNames) -> impl Iterator<Item = String> {
        let tools = list(self.allowed(choice).0, "tools").iter().chain(std::iter::once(choice));
        let custom = tools.filter(|tool| text(tool, "type") == "custom");
        custom.filter_map(move |tool| self.parse_name(tool, CHOICE, names).ok())
    }

    fn parse_allowed(self, choice: &Value, names: &WireNames) -> Result<ToolChoice, WireError> {
        let (allowed, path) = self.allowed(choice);
        let required = match text(allowed, "mode") {
            "auto" => false,
            "required" => true,
            _ => return Err(WireError::new(field(&path, "mode"), "`auto` or `required`")),
        };
        let path = field(&path, "tools");
        let Some(tools) = allowed.get("tools").and_then(Value::as_array) else {
            return Err(WireError::new(path, "a list of tools"));
        };
        let tools = tools.iter().enumerate().filter(|(_, tool)| !self.is_hosted_choice(text(tool, "type")));
        let allowed = tools.map(|(index, tool)| self.parse_name(tool, &element(&path, index), names));
        Ok(ToolChoice::Allowed { names: allowed.collect::<Result<_, _>>()?, required })
    }

    /// Returns the name of a tool in a tool choice. The name is in the field `function`, or in `custom` for a custom
    /// tool.
    fn parse_name(self, tool: &Value, path: &str, names: &WireNames) -> Result<String, WireError> {
        let kind = if text(tool, "type") == "custom" { "custom" } else { "function" };
        let (named, path) = match self {
            Self::Flat => (tool.get(kind).unwrap_or(tool), path.to_owned()),
            Self::Nested => (tool.get(kind).unwrap_or(&Value::Null), field(path, kind)),
        };
        Ok(names.unspell(required(named, &path, "name", "the name of a tool")?).to_owned())
    }
}

#[cfg(test)]
mod tests;
