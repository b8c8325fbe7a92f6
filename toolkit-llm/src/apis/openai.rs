//! Code shared by the two OpenAI APIs: definitions, `tool_choice` and `parallel_tool_calls`.
//!
//! The two nest fields differently. Some APIs of other providers write functions in the nested form too.

pub(crate) mod contents;
#[cfg(feature = "model")]
pub(crate) mod request;

use crate::definitions::EncodedToolConfig;
use crate::definitions::declaration::{DefinitionCodec, DefinitionEncoder, grammar};
use crate::definitions::tool_config::ChoiceCodec;
use crate::facts::Api;
use crate::json::fields::{Fields, set, unknown};
use serde_json::{Value, json};
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::definition::ToolKind;
use toolkit_core::name::WireNames;

pub(crate) const CHOICE: &str = "tool_choice";
pub(crate) const PARALLEL: &str = "parallel_tool_calls";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `{type: function, function: {name}}`, as in Chat Completions.
    Nested,
    /// `{type: function, name}`, as in Responses.
    ///
    /// Parsing also accepts the nested form.
    Flat,
}

/// One of the two OpenAI APIs.
pub(crate) trait OpenAi {
    const FORM: Form;
}

impl<C: Api + OpenAi> ChoiceCodec for C {
    fn encode_tool_config(&self, wanted: &ToolConfig, names: &WireNames) -> EncodedToolConfig {
        let choice = match &wanted.choice {
            ToolChoice::Auto => json!("auto"),
            ToolChoice::None => json!("none"),
            ToolChoice::Required => json!("required"),
            ToolChoice::Tool(name) => C::FORM.write_name(name, wanted, names),
            ToolChoice::Allowed { names: allowed, required } => {
                let mut tools = Vec::with_capacity(allowed.len());
                for name in allowed {
                    tools.push(C::FORM.write_name(name, wanted, names));
                }
                let mode = if *required { "required" } else { "auto" };
                let fields = [("mode".to_owned(), mode.into()), ("tools".to_owned(), tools.into())];
                C::FORM.write("allowed_tools", fields)
            }
        };
        let mut fields = Fields::from_iter([(CHOICE.to_owned(), choice)]);
        if let Some(parallel) = wanted.parallel {
            set(&mut fields, PARALLEL, parallel);
        }
        EncodedToolConfig::new(fields)
    }
}

/// An API whose tools are all nested functions with only the common fields.
pub(crate) trait PlainFunctions: Sync {}

impl<C: Api + PlainFunctions> DefinitionCodec for C {
    fn write_definition(&self, encoder: &mut DefinitionEncoder<'_>) -> Value {
        let mut function = Fields::new();
        set(&mut function, "name", encoder.name());
        set(&mut function, "description", encoder.definition.description.as_str());
        set(&mut function, "parameters", encoder.parameters());
        Form::Nested.write("function", function)
    }
}

pub(crate) fn function_call(fields: Fields, name: String, arguments: impl Into<Value>) -> Value {
    nested_call(fields, "function", [("name", name.into()), ("arguments", arguments.into())])
}

/// Writes a call in the nested form: sets `members` of the object `kind`.
pub(crate) fn nested_call(mut fields: Fields, kind: &str, members: [(&str, Value); 2]) -> Value {
    let mut call = match fields.get_mut(kind).map(Value::take) {
        Some(Value::Object(call)) => call,
        _ => Fields::new(),
    };
    for (name, value) in members {
        set(&mut call, name, value);
    }
    set(&mut fields, kind, call);
    fields.into()
}

/// Returns the fields of a call and of its `function` that are not in `known`.
pub(crate) fn unknown_of_function(json: &Value, known: &[&str]) -> Fields {
    let mut extras = unknown(json, known);
    if let Some(function) = extras.shift_remove("function") {
        let rest = unknown(&function, known);
        if !rest.is_empty() {
            set(&mut extras, "function", rest);
        }
    }
    extras
}

impl Form {
    pub(crate) fn write(self, kind: &str, fields: impl IntoIterator<Item = (String, Value)>) -> Value {
        // Not by `json!`, which copies what it is given.
        let mut written = Fields::new();
        set(&mut written, "type", kind);
        match self {
            Self::Nested => set(&mut written, kind, Fields::from_iter(fields)),
            Self::Flat => written.extend(fields),
        }
        written.into()
    }

    fn write_name(self, name: &String, wanted: &ToolConfig, names: &WireNames) -> Value {
        let kind = if wanted.custom.contains(name) { "custom" } else { "function" };
        self.write(kind, [("name".to_owned(), names.spell(name).into())])
    }

    /// Encodes a definition.
    ///
    /// Returns the type of the tool and its fields.
    pub(crate) fn encode_tool(self, encoder: &mut DefinitionEncoder<'_>) -> (&'static str, Fields) {
        let definition = encoder.definition;
        let kind = if definition.kind == ToolKind::Function { "function" } else { "custom" };
        let mut fields = Fields::new();
        set(&mut fields, "name", encoder.name());
        set(&mut fields, "description", definition.description.as_str());
        match &definition.kind {
            ToolKind::Custom(format) => {
                if let Some(grammar) = grammar(format) {
                    set(&mut fields, "format", self.write("grammar", grammar));
                }
            }
            _ => set(&mut fields, "parameters", encoder.parameters()),
        }
        (kind, fields)
    }
}
