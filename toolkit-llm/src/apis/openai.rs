//! Code shared by the codecs of the two OpenAI APIs: definitions, `tool_choice` and `parallel_tool_calls`.
//! The two APIs nest the fields differently. Some APIs of other providers write functions in the nested form
//! too.

use crate::codec::DefinitionCodec;
use crate::declaration::{Draft, grammar};
use crate::facts::Api;
use crate::fields::{Fields, set, unknown};
use crate::tool_config::{ChoiceCodec, EncodedToolConfig};
use serde_json::{Value, json};
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::name::WireNames;
use toolkit_core::tool::ToolKind;

pub(crate) const CHOICE: &str = "tool_choice";
pub(crate) const PARALLEL: &str = "parallel_tool_calls";

/// The way in which an API nests the fields of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `{type: function, function: {name}}`, as in Chat Completions.
    Nested,
    /// `{type: function, name}`, as in Responses. Parsing also accepts the nested form.
    Flat,
}

/// One of the two OpenAI APIs, which nest the fields of a tool differently.
pub(crate) trait OpenAi {
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
}

/// An API whose tools are all functions in the nested form, with only the common fields. The provider runs no
/// tools itself.
pub(crate) trait PlainFunctions {}

impl<C: Api + PlainFunctions> DefinitionCodec for C {
    fn write_definition(&self, draft: &mut Draft<'_>) -> Value {
        let parameters = draft.parameters();
        let description = draft.definition.description.as_str();
        json!({
            "type": "function",
            "function": {"name": draft.name(), "description": description, "parameters": parameters},
        })
    }
}

/// Writes a call in the nested form: adds `name` and `arguments` to the object `function` in `fields`. Other fields of
/// this object stay unchanged.
pub(crate) fn function_call(mut fields: Fields, name: String, arguments: impl Into<Value>) -> Value {
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
pub(crate) fn unknown_of_function(json: &Value, known: &[&str]) -> Fields {
    let mut extras = unknown(json, known);
    let function = extras.shift_remove("function").map(|function| unknown(&function, known));
    if let Some(function) = function.filter(|function| !function.is_empty()) {
        set(&mut extras, "function", function);
    }
    extras
}

impl Form {
    /// Encodes a definition. Returns the type of the tool and its fields.
    pub(crate) fn encode_tool(self, draft: &mut Draft<'_>) -> (&'static str, Fields) {
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
}
