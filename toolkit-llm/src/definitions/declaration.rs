//! The fields that tool definitions have in every API: name, description and schema.

use super::options::DefinitionOptions;
use super::standard;
use crate::facts::{Api, ApiFormat, Facts};
use crate::json::fields::{Fields, text};
use crate::json::unknown_fields;
use serde_json::Value;
use toolkit_core::definition::{TextFormat, ToolDefinition, ToolKind};
use toolkit_core::name::WireNames;
use toolkit_schema::__private::{rename_members, rename_properties};
use toolkit_schema::keyword::booleans_to_objects;
use toolkit_schema::{SchemaDialect, SchemaLoss};

/// Options for writing one definition.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spelling<'a> {
    pub(crate) names: &'a WireNames,
    pub(crate) strict: bool,
    pub(crate) dialect: SchemaDialect,
    pub(crate) outputs: bool,
    /// The spellings of parameters and of properties inside of them.
    pub(crate) parameters: &'a WireNames,
}

/// A definition being written, with the losses so far.
#[derive(Debug)]
pub(crate) struct DefinitionEncoder<'a> {
    pub(crate) definition: &'a ToolDefinition,
    pub(crate) how: &'a Spelling<'a>,
    pub(crate) losses: Vec<SchemaLoss>,
}

impl<'a> DefinitionEncoder<'a> {
    pub(crate) fn name(&self) -> &'a str {
        self.how.names.spell(self.definition.name.as_str())
    }

    pub(crate) fn output(&self) -> Option<Value> {
        if !self.how.outputs {
            return None;
        }
        let mut schema = self.definition.output_schema()?.clone();
        booleans_to_objects(&mut schema);
        Some(schema)
    }

    /// Converts the schema of the parameters to the provider's dialect. The paths of losses begin with
    /// `/parameters`. Refused names get another spelling.
    pub(crate) fn parameters(&mut self) -> Value {
        let mut converted = self.how.dialect.convert(&self.definition.parameters);
        self.lose_inside("/parameters", converted.losses);
        if !self.how.parameters.is_identity() {
            rename_properties(&mut converted.schema, &|name| self.parameter_spelling(name));
        }
        converted.schema
    }

    /// Returns the examples of arguments, with the provider's spellings.
    pub(crate) fn input_examples(&self) -> Vec<Value> {
        let spelled = |example: &Value| {
            let spell = |name: &str| self.parameter_spelling(name);
            let spelled = rename_members(&self.definition.parameters, &example.to_string(), &spell);
            spelled.and_then(|text| text.parse().ok()).unwrap_or_else(|| example.clone())
        };
        self.definition.metadata.input_examples.iter().map(spelled).collect()
    }

    /// Returns the provider's spelling of a parameter, if different.
    fn parameter_spelling(&self, name: &str) -> Option<String> {
        let spelling = self.how.parameters.spell(name);
        if spelling == name { None } else { Some(spelling.to_owned()) }
    }

    pub(crate) fn lose_inside(&mut self, place: &str, losses: Vec<SchemaLoss>) {
        for mut loss in losses {
            loss.path.insert_str(0, place);
            self.losses.push(loss);
        }
    }

    pub(crate) fn lose(&mut self, path: impl Into<String>, keyword: &str, reason: impl Into<String>) {
        self.losses.push(SchemaLoss::new(path.into(), keyword, reason.into()));
    }

    /// Reports each of the `settings` that the definition uses. Without a `reason`, each setting has its own.
    pub(crate) fn report_unsupported(&mut self, settings: &[&str], reason: Option<&str>) {
        let metadata = &self.definition.metadata;
        let has_output = self.how.outputs && self.definition.output_schema().is_some();
        let is_custom = self.definition.kind != ToolKind::Function;
        let known = [
            ("output_schema", has_output, "the API has no field for the schema of an output"),
            (
                "input_examples",
                !metadata.input_examples.is_empty(),
                "the API has no field for examples of calls",
            ),
            (
                "allowed_callers",
                !metadata.allowed_callers.is_empty(),
                "only the model itself calls functions",
            ),
            ("defer", metadata.defer, "the API has no search for tools: the model sees it from the start"),
            ("kind", is_custom, "it is offered as a function with the text `input`, and no grammar holds"),
        ];
        for setting in settings {
            if let Some((_, true, own_reason)) = known.iter().find(|(name, ..)| name == setting) {
                self.lose(format!("/{setting}"), setting, reason.unwrap_or(own_reason));
            }
        }
    }
}

/// Returns the losses for metadata from another API, except for the keys in `sent`.
///
/// Other `meta`, such as `_meta` of an MCP server, is for the program only.
pub(crate) fn unsupported_metadata(
    definition: &ToolDefinition,
    facts: &Facts,
    sent: [Option<&str>; 2],
) -> Vec<SchemaLoss> {
    let mut losses = Vec::new();
    for (key, value) in &definition.metadata.meta {
        if sent.contains(&Some(key)) {
            continue;
        }
        let path = format!("/metadata/{}", key.replace('~', "~0").replace('/', "~1"));
        let format = key.parse::<ApiFormat>().ok().filter(|format| format.name() == key);
        match (format, value) {
            (Some(_), _) if key == facts.name => {
                losses.push(SchemaLoss::new(path, "metadata", standard::REASON));
            }
            (Some(format), Value::Object(stored)) => {
                losses.extend(unknown_fields::losses(stored, format.name(), &path));
            }
            (None, _) if key != "namespace" => {}
            _ => losses.push(SchemaLoss::new(path, "metadata", "the API has no field for it")),
        }
    }
    losses
}

#[derive(Debug)]
pub(crate) struct EncodedDefinition {
    pub(crate) json: Value,
    pub(crate) losses: Vec<SchemaLoss>,
}

/// Takes the definition of the program's tool `name` out of the entries of a request.
pub(crate) fn take_named(entries: &mut Vec<Value>, name: &str) -> Option<Value> {
    let at = entries.iter().position(|tool| is_own(tool) && text(tool, "name") == name)?;
    Some(entries.remove(at))
}

fn is_own(tool: &Value) -> bool {
    matches!(text(tool, "type"), "" | "function" | "custom")
}

/// Returns the grammar of a custom tool, unless it accepts any text.
pub(crate) fn grammar(format: &TextFormat) -> Option<Fields> {
    let (syntax, grammar) = match format {
        TextFormat::Text => return None,
        TextFormat::Lark(grammar) => ("lark", grammar),
        TextFormat::Regex(grammar) => ("regex", grammar),
    };
    Some(Fields::from_iter([
        ("syntax".to_owned(), syntax.into()),
        ("definition".to_owned(), grammar.as_str().into()),
    ]))
}

pub(crate) trait DefinitionCodec: Api + Sync {
    /// Writes one definition. [`encode_definition`](Self::encode_definition) reports what the API cannot
    /// express.
    fn write_definition(&self, encoder: &mut DefinitionEncoder<'_>) -> Value;

    /// Returns the name of the program's tool that runs the calls of the hosted tool `tool`, if the program
    /// runs it.
    fn answered_by<'a>(&self, _tool: &'a Value) -> Option<&'a str> {
        None
    }

    /// Prepares the tools `entries` of a request for the hosted tool `tool`.
    ///
    /// If the program runs its calls, the definition of the program's tool is removed.
    ///
    /// Returns the entry to add, or `None` if `tool` was added to an existing entry.
    fn hosted_entry(&self, tool: &Value, entries: &mut Vec<Value>) -> Option<Value> {
        if let Some(name) = self.answered_by(tool) {
            take_named(entries, name);
        }
        Some(tool.clone())
    }

    /// Returns the namespace of a definition, in APIs that group tools.
    fn namespace<'a>(
        &self,
        _definition: &'a ToolDefinition,
        _options: &DefinitionOptions,
    ) -> Option<&'a str> {
        None
    }

    /// Writes a namespace. `first` is the definition of its first tool, and `tools` the JSON of all its
    /// tools, separated by commas.
    fn write_namespace(&self, _first: &ToolDefinition, _options: &DefinitionOptions, tools: &str) -> String {
        tools.to_owned()
    }

    fn encode_definition(&self, definition: &ToolDefinition, how: &Spelling<'_>) -> EncodedDefinition {
        let mut encoder = DefinitionEncoder { definition, how, losses: Vec::new() };
        let mut json = self.write_definition(&mut encoder);
        if let (Some(Value::Object(stored)), Value::Object(json)) =
            (definition.metadata.meta.get(self.facts().name), &mut json)
        {
            unknown_fields::restore(json, stored);
        }
        encoder.report_unsupported(self.facts().tools.unsupported, None);
        EncodedDefinition { json, losses: encoder.losses }
    }
}
