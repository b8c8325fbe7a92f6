//! The `tools` of a request.

use super::call::kind;
use super::{NAMES, OpenAiResponses};
use crate::WireError;
use crate::codec::DefinitionCodec;
use crate::declaration::{EncodedDefinition, Spelling, Strictness, listed_tools, parse_named};
use crate::path::{element, field};
use serde_json::{Map, Value, json};
use toolkit_core::name::NameRule;
use toolkit_core::tool::{TextFormat, ToolDefinition, ToolKind, ToolMetadata};
use toolkit_schema::{SchemaDialect, SchemaLoss};

impl DefinitionCodec for OpenAiResponses {
    fn name_rule(&self) -> NameRule {
        NAMES
    }

    fn strictness(&self) -> Strictness {
        Strictness::PerFunction
    }

    fn most_tools(&self) -> Option<usize> {
        Some(128)
    }

    fn dialect(&self, strict: bool, _json_schema: bool) -> SchemaDialect {
        if strict { SchemaDialect::OpenAiStrict } else { SchemaDialect::OpenAi }
    }

    fn encode_definition(&self, definition: &ToolDefinition, how: &Spelling<'_>) -> EncodedDefinition {
        let mut tool = Fields::new();
        let mut put = |name: &str, value: Value| tool.insert(name.to_owned(), value);
        let mut losses = match &definition.kind {
            ToolKind::Custom(format) => {
                put("type", "custom".into());
                put("name", how.names.spell(definition.name.as_str()).into());
                put("description", definition.description.as_str().into());
                encode_format(format).into_iter().for_each(|format| {
                    put("format", format);
                });
                Vec::new()
            }
            _ => {
                let (parameters, losses) = how.parameters(definition);
                put("type", "function".into());
                put("name", how.names.spell(definition.name.as_str()).into());
                put("description", definition.description.as_str().into());
                put("parameters", parameters);
                // The service takes an absent `strict` for true if the schema allows it.
                put("strict", how.strict.into());
                losses
            }
        };
        if definition.metadata.defer {
            tool.insert("defer_loading".to_owned(), true.into());
        }
        encode_output(definition, how, &mut tool, &mut losses);
        encode_callers(&definition.metadata, &mut tool, &mut losses);
        if !definition.metadata.input_examples.is_empty() {
            losses.push(SchemaLoss::new("/input_examples", "input_examples", "the API has no field for it"));
        }
        EncodedDefinition { json: Value::Object(tool), losses }
    }

    fn parse_definitions(&self, payload: &Value) -> Result<Vec<ToolDefinition>, WireError> {
        let mut definitions = Vec::new();
        for (path, tool) in listed_tools(payload, is_tool, "input")? {
            let Some(fields) = tool.as_object() else {
                return Err(WireError::new(path, "a tool"));
            };
            match kind(fields) {
                Some("namespace") => parse_namespace(fields, &path, &mut definitions)?,
                _ => definitions.extend(parse_tool(fields, &path)?),
            }
        }
        Ok(definitions)
    }

    fn hosted_tools(&self, payload: &Value) -> Result<Vec<Value>, WireError> {
        let tools = listed_tools(payload, is_tool, "input")?.into_iter();
        let hosted = tools.filter(|(_, tool)| {
            let kind = tool.as_object().and_then(kind);
            kind.is_some_and(|kind| !["function", "custom", "namespace"].contains(&kind))
        });
        Ok(hosted.map(|(_, tool)| tool.clone()).collect())
    }
}

type Fields = Map<String, Value>;

/// The callers that the service accepts.
const CALLERS: [&str; 2] = ["direct", "programmatic"];

/// The key in [`ToolMetadata::meta`] of a tool's namespace.
const NAMESPACE: &str = "namespace";

fn encode_output(
    definition: &ToolDefinition,
    how: &Spelling<'_>,
    tool: &mut Fields,
    losses: &mut Vec<SchemaLoss>,
) {
    let Some(schema) = how.output(definition) else { return };
    let reason = if matches!(definition.kind, ToolKind::Custom(_)) {
        "the API describes the output of functions only"
    } else if !schema.is_object() {
        "the API takes objects only"
    } else if is_plain_text(schema) {
        // The schema is that of JSON within the text of a result, and plain text is none.
        "the API describes JSON, and text goes back as it is"
    } else {
        tool.insert("output_schema".to_owned(), schema.clone());
        return;
    };
    losses.push(SchemaLoss::new("/output_schema", "output_schema", reason));
}

fn is_plain_text(schema: &Value) -> bool {
    let is_annotation = |name: &str| ["type", "title", "description", "$schema"].contains(&name);
    schema.get("type").is_some_and(|kind| kind == "string")
        && schema.as_object().is_some_and(|fields| fields.keys().all(|name| is_annotation(name)))
}

fn encode_callers(metadata: &ToolMetadata, tool: &mut Fields, losses: &mut Vec<SchemaLoss>) {
    let (known, unknown): (Vec<&str>, Vec<&str>) =
        metadata.allowed_callers.iter().map(String::as_str).partition(|caller| CALLERS.contains(caller));
    if !known.is_empty() {
        tool.insert("allowed_callers".to_owned(), known.into());
    }
    losses.extend(unknown.into_iter().map(|caller| {
        SchemaLoss::new("/allowed_callers", "allowed_callers", format!("the API knows no caller `{caller}`"))
    }));
}

/// Encodes the format of free text; `None` for the default.
fn encode_format(format: &TextFormat) -> Option<Value> {
    let (syntax, definition) = match format {
        TextFormat::Text => return None,
        TextFormat::Lark(grammar) => ("lark", grammar),
        TextFormat::Regex(pattern) => ("regex", pattern),
    };
    Some(json!({"type": "grammar", "syntax": syntax, "definition": definition}))
}

/// Returns whether an object is a tool: it has a type, or a name, which a request does not have.
fn is_tool(fields: &Fields) -> bool {
    kind(fields).is_some() || fields.contains_key("function") || fields.contains_key("name")
}

/// Parses a namespace. Functions keep the name that calls have, which is that within the namespace.
fn parse_namespace(
    namespace: &Fields,
    path: &str,
    definitions: &mut Vec<ToolDefinition>,
) -> Result<(), WireError> {
    let path = field(path, "tools");
    let Some(tools) = namespace.get("tools").and_then(Value::as_array) else {
        return Err(WireError::new(path, "a list of tools"));
    };
    for (index, tool) in tools.iter().enumerate() {
        let path = element(&path, index);
        let Some(tool) = tool.as_object() else {
            return Err(WireError::new(path, "a tool"));
        };
        let Some(mut definition) = parse_tool(tool, &path)? else { continue };
        if let Some(name) = namespace.get("name").filter(|name| name.is_string()) {
            definition.metadata.meta.insert(NAMESPACE.to_owned(), name.clone());
        }
        definitions.push(definition);
    }
    Ok(())
}

/// Parses one tool; `None` for one that the service runs. The nested form of Chat Completions is read as well.
fn parse_tool(tool: &Fields, path: &str) -> Result<Option<ToolDefinition>, WireError> {
    let (kind, is_custom) = match kind(tool) {
        None | Some("function") => ("function", false),
        Some("custom") => ("custom", true),
        Some(_) => return Ok(None),
    };
    let nested = tool.get(kind).and_then(Value::as_object).map(|nested| (nested, field(path, kind)));
    let (fields, path) = nested.unwrap_or_else(|| (tool, path.to_owned()));
    let mut definition = parse_named(fields, &path, "parameters")?;
    if is_custom {
        let format = parse_format(fields, &path)?;
        definition = ToolDefinition::custom(definition.name, definition.description, format);
    }
    let output = parse_field(fields, &path, "output_schema", "a JSON Schema object", |schema| {
        schema.is_object().then(|| schema.clone())
    })?;
    if let Some(schema) = output {
        definition = definition.with_output_schema(schema);
    }
    let bool = |name| parse_field(fields, &path, name, "true or false", Value::as_bool);
    definition.metadata.strict = bool("strict")?;
    definition.metadata.defer = bool("defer_loading")?.unwrap_or_default();
    let callers = parse_field(fields, &path, "allowed_callers", "a list of texts", texts)?;
    definition.metadata.allowed_callers = callers.unwrap_or_default();
    Ok(Some(definition))
}

fn parse_field<T>(
    fields: &Fields,
    path: &str,
    name: &str,
    expected: &str,
    read: impl Fn(&Value) -> Option<T>,
) -> Result<Option<T>, WireError> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => read(value).map(Some).ok_or_else(|| WireError::new(field(path, name), expected)),
    }
}

fn texts(list: &Value) -> Option<Vec<String>> {
    list.as_array()?.iter().map(|text| text.as_str().map(ToOwned::to_owned)).collect()
}

fn parse_format(fields: &Fields, path: &str) -> Result<TextFormat, WireError> {
    let Some(format) = fields.get("format").filter(|format| !format.is_null()) else {
        return Ok(TextFormat::Text);
    };
    // Chat Completions has one level more.
    let grammar = format.get("grammar").unwrap_or(format);
    let text = |name| grammar.get(name).and_then(Value::as_str);
    match (format.get("type").and_then(Value::as_str), text("syntax"), text("definition")) {
        (Some("text"), _, _) => Ok(TextFormat::Text),
        (Some("grammar"), Some("lark"), Some(grammar)) => Ok(TextFormat::Lark(grammar.to_owned())),
        (Some("grammar"), Some("regex"), Some(pattern)) => Ok(TextFormat::Regex(pattern.to_owned())),
        _ => Err(WireError::new(field(path, "format"), "a `text` or a `grammar` of `lark` or `regex`")),
    }
}

#[cfg(test)]
mod tests;
