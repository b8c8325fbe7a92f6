//! The common part of definitions in every API: a name, a description, a schema.

use super::path::{element, field};
use crate::WireError;
use serde_json::{Map, Value, json};
use toolkit_core::name::{ToolName, WireNames};
use toolkit_core::tool::{ToolDefinition, ToolKind, ToolSource};
use toolkit_schema::{SchemaDialect, SchemaLoss};

/// The spelling of a definition.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spelling<'a> {
    /// The names of all tools of the request.
    pub(crate) names: &'a WireNames,
    /// Whether the provider holds the model to the schema.
    pub(crate) strict: bool,
    /// The dialect of the schema.
    pub(crate) dialect: SchemaDialect,
    /// Whether output schemas are sent.
    pub(crate) outputs: bool,
}

impl Spelling<'_> {
    /// Returns the output schema, if it is sent.
    pub(super) fn output<'d>(&self, definition: &'d ToolDefinition) -> Option<&'d Value> {
        definition.output_schema().filter(|_| self.outputs)
    }

    /// Converts the schema of the arguments; paths of losses are those in the definition.
    pub(super) fn parameters(&self, definition: &ToolDefinition) -> (Value, Vec<SchemaLoss>) {
        let mut converted = self.dialect.convert(&definition.parameters);
        for loss in &mut converted.losses {
            loss.path.insert_str(0, "/parameters");
        }
        (converted.schema, converted.losses)
    }
}

/// Reports metadata that no API has fields for: the source of the tool, and the program's own `meta`. `own` is
/// the key of fields that the API does have.
pub(super) fn unsaid_metadata(
    definition: &ToolDefinition,
    own: Option<&str>,
) -> impl Iterator<Item = SchemaLoss> {
    let metadata = &definition.metadata;
    let is_mcp = metadata.source == ToolSource::Mcp && definition.kind == ToolKind::Function;
    let mcp = SchemaLoss::new("/type", "mcp", "the API knows functions, and is told that it is one");
    let keys = metadata.meta.keys().filter(move |key| Some(key.as_str()) != own);
    let meta = keys.map(|key| {
        let path = format!("/metadata/{}", key.replace('~', "~0").replace('/', "~1"));
        SchemaLoss::new(path, "metadata", "the API has no field for it: only the program knows it")
    });
    is_mcp.then_some(mcp).into_iter().chain(meta)
}

/// How an API holds tools to their schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// No tool can be strict.
    None,
    /// Each function, within limits of its own schema.
    PerFunction,
    /// Each tool, within limits that all tools of a request share.
    PerRequest,
    /// All functions of a request or none, for this reason.
    AllOrNone(&'static str),
}

/// A definition in a provider's JSON.
#[derive(Debug)]
pub(crate) struct EncodedDefinition {
    pub(crate) json: Value,
    /// Keywords and settings that the API cannot express.
    pub(crate) losses: Vec<SchemaLoss>,
}

/// Lists the elements of a list of tools, of a request's `tools`, or one tool, each with its path. A
/// request is known by `history`, the field that holds its messages.
pub(super) fn listed_tools<'a>(
    payload: &'a Value,
    is_tool: impl Fn(&Map<String, Value>) -> bool,
    history: &str,
) -> Result<Vec<(String, &'a Value)>, WireError> {
    let none = || WireError::new("", "a list of tools, one tool, or a request with `tools`");
    let list = |tools: &'a [Value], path: &str| {
        Ok(tools.iter().enumerate().map(|(index, tool)| (element(path, index), tool)).collect())
    };
    match payload {
        Value::Array(tools) => list(tools, ""),
        Value::Object(fields) if is_tool(fields) => Ok(vec![(String::new(), payload)]),
        Value::Object(request) => match request.get("tools") {
            Some(Value::Array(tools)) => list(tools, "tools"),
            Some(Value::Null) => Ok(Vec::new()),
            None if request.contains_key(history) => Ok(Vec::new()),
            Some(_) => Err(WireError::new("tools", "a list of tools")),
            None => Err(none()),
        },
        _ => Err(none()),
    }
}

/// Parses the `name`, the `description` and the schema under `key`.
pub(super) fn parse_named(
    function: &Map<String, Value>,
    path: &str,
    key: &str,
) -> Result<ToolDefinition, WireError> {
    let name = parse_name(function, path)?;
    let description = parse_description(function, path)?;
    let parameters = parse_parameters(function, path, key)?;
    Ok(ToolDefinition::new(name, description, parameters))
}

fn parse_name(function: &Map<String, Value>, path: &str) -> Result<ToolName, WireError> {
    let path = field(path, "name");
    let Some(name) = function.get("name").and_then(Value::as_str) else {
        return Err(WireError::new(path, "a tool name"));
    };
    ToolName::new(name)
        .map_err(|error| WireError::new(path, format!("a tool name such as `{}`", error.suggestion())))
}

fn parse_description<'a>(function: &'a Map<String, Value>, path: &str) -> Result<&'a str, WireError> {
    match function.get("description") {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(description)) => Ok(description),
        Some(_) => Err(WireError::new(field(path, "description"), "a text")),
    }
}

/// Parses the parameters. A definition without them takes none.
fn parse_parameters(function: &Map<String, Value>, path: &str, key: &str) -> Result<Value, WireError> {
    match function.get(key) {
        None | Some(Value::Null) => Ok(json!({"type": "object", "properties": {}})),
        Some(schema @ Value::Object(_)) => Ok(schema.clone()),
        Some(_) => Err(WireError::new(field(path, key), "a JSON Schema object")),
    }
}
