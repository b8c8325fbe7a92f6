//! The `tools` of a request.

use super::schema::to_json_schema;
use super::spelling::{Fields, camel, get, key};
use super::{Gemini, NAMES};
use crate::WireError;
use crate::codec::DefinitionCodec;
use crate::declaration::{EncodedDefinition, Spelling, Strictness, listed_tools, parse_named};
use crate::path::{element, field};
use serde_json::{Value, json};
use toolkit_core::name::NameRule;
use toolkit_core::tool::{ToolDefinition, ToolKind};
use toolkit_schema::{SchemaDialect, SchemaLoss};

const DECLARATIONS: &str = "functionDeclarations";

/// The tools that run at the service, as far as they are known; each is an object under its name.
const HOSTED: [&str; 12] = [
    "codeExecution",
    "computerUse",
    "enterpriseWebSearch",
    "exaAiSearch",
    "fileSearch",
    "googleMaps",
    "googleSearch",
    "googleSearchRetrieval",
    "mcpServers",
    "parallelAiSearch",
    "retrieval",
    "urlContext",
];

/// Where the output schema stands in a definition.
const OUTPUT: &str = "/output_schema";

impl DefinitionCodec for Gemini {
    fn frame(&self) -> (&'static str, &'static str) {
        (r#"[{"function_declarations":["#, "]}]")
    }

    fn name_rule(&self) -> NameRule {
        NAMES
    }

    fn strictness(&self) -> Strictness {
        Strictness::AllOrNone(
            "Gemini holds to their schemas either all functions of a request (mode `VALIDATED`) or none",
        )
    }

    fn most_tools(&self) -> Option<usize> {
        Some(512)
    }

    /// `[a-zA-Z_][a-zA-Z0-9_]*`, at most 64, from the API reference.
    fn property_rule(&self) -> Option<NameRule> {
        Some(NameRule { max_length: 64, punctuation: "_", letter_first: true })
    }

    fn dialect(&self, _strict: bool, json_schema: bool) -> SchemaDialect {
        if json_schema { SchemaDialect::JsonSchema } else { SchemaDialect::Gemini }
    }

    /// Encodes an element of `function_declarations`; the list around all of them is the format's frame.
    fn encode_definition(&self, definition: &ToolDefinition, how: &Spelling<'_>) -> EncodedDefinition {
        let json_schema = how.dialect == SchemaDialect::JsonSchema;
        let (parameters_key, output_key) = if json_schema {
            ("parametersJsonSchema", "responseJsonSchema")
        } else {
            ("parameters", "response")
        };
        let mut declaration = Fields::new();
        declaration.insert("name".to_owned(), how.names.spell(definition.name.as_str()).into());
        declaration.insert("description".to_owned(), definition.description.clone().into());

        let (parameters, mut losses) = how.parameters(definition);
        if !has_no_properties(&parameters) {
            declaration.insert(parameters_key.to_owned(), parameters);
        }
        if let Some(output) = how.output(definition) {
            let (schema, lost) = output_schema(how.dialect, output);
            losses.extend(lost);
            if json_schema || is_typed(&schema) {
                declaration.insert(output_key.to_owned(), schema);
            } else {
                losses.push(SchemaLoss::new(
                    OUTPUT,
                    output_key,
                    "the API takes a type, and of an object its properties; the output is not described",
                ));
            }
        }
        losses.extend(unsaid(definition));
        EncodedDefinition { json: declaration.into(), losses }
    }

    fn parse_definitions(&self, payload: &Value) -> Result<Vec<ToolDefinition>, WireError> {
        let mut definitions = Vec::new();
        for (path, tool) in tools(payload)? {
            if is_declaration(tool) {
                definitions.push(parse_declaration(tool, &path)?);
                continue;
            }
            for (path, declaration) in declarations(tool, &path)? {
                definitions.push(parse_declaration(declaration, &path)?);
            }
        }
        Ok(definitions)
    }

    /// Returns hosted tools. A tool may hold functions and run at the service at once; its functions are left
    /// out.
    fn hosted_tools(&self, payload: &Value) -> Result<Vec<Value>, WireError> {
        let mut hosted = Vec::new();
        for (_, tool) in tools(payload)? {
            if is_declaration(tool) {
                continue;
            }
            let mut rest = tool.clone();
            if let Some(key) = key(tool, DECLARATIONS) {
                rest.shift_remove(key);
            }
            if !rest.is_empty() {
                hosted.push(Value::Object(rest));
            }
        }
        Ok(hosted)
    }
}

/// Encodes an output schema. A dialect makes an object of every root, because arguments are one; an output may be
/// anything, so it is converted as a property.
fn output_schema(dialect: SchemaDialect, output: &Value) -> (Value, Vec<SchemaLoss>) {
    const PROPERTY: &str = "/properties/output";
    if dialect == SchemaDialect::JsonSchema {
        return (output.clone(), Vec::new());
    }
    let definitions = output.get("$defs").cloned().unwrap_or_else(|| json!({}));
    let mut converted =
        dialect.convert(&json!({"type": "object", "properties": {"output": output}, "$defs": definitions}));
    let schema = converted.schema["properties"]["output"].take();
    let lost = converted.losses.into_iter().map(|loss| {
        let path = loss.path.strip_prefix(PROPERTY).unwrap_or(&loss.path);
        SchemaLoss::new(format!("{OUTPUT}{path}"), loss.keyword, loss.reason)
    });
    (schema, lost.collect())
}

/// Returns whether the schema is that of a function without parameters, for which the service wants none: it
/// refuses an object without properties.
fn has_no_properties(schema: &Value) -> bool {
    let Some(fields) = schema.as_object() else { return schema.is_null() };
    fields.iter().all(|(keyword, value)| match keyword.as_str() {
        "type" => value.as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("object")),
        "properties" => value.as_object().is_some_and(Fields::is_empty),
        "required" | "propertyOrdering" => value.as_array().is_some_and(Vec::is_empty),
        "additionalProperties" => *value == Value::Bool(false),
        "$schema" | "title" | "description" => true,
        _ => false,
    })
}

fn is_typed(schema: &Value) -> bool {
    ["type", "anyOf", "ref"].iter().any(|keyword| schema.get(keyword).is_some()) && !has_no_properties(schema)
}

/// Returns the settings of a definition that a declaration has no field for.
fn unsaid(definition: &ToolDefinition) -> impl Iterator<Item = SchemaLoss> {
    let metadata = &definition.metadata;
    let is_custom = definition.kind != ToolKind::Function;
    [
        (is_custom, "kind", "there are only functions: it is offered as one with the text `input`"),
        (!metadata.input_examples.is_empty(), "input_examples", "the API has no field for examples of calls"),
        (metadata.defer, "defer", "the API has no search for tools: the model sees it from the start"),
        (!metadata.allowed_callers.is_empty(), "allowed_callers", "only the model itself calls functions"),
    ]
    .into_iter()
    .filter(|(is_there, ..)| *is_there)
    .map(|(_, name, reason)| SchemaLoss::new(format!("/{name}"), name, reason))
}

fn tools(payload: &Value) -> Result<Vec<(String, &Fields)>, WireError> {
    let tools = listed_tools(payload, is_tool, "contents")?;
    tools
        .into_iter()
        .map(|(path, tool)| match tool.as_object() {
            Some(fields) => match foreign_field(fields) {
                Some(name) => {
                    Err(WireError::new(field(&path, name), "no such field, which tools of other APIs have"))
                }
                None => Ok((path, fields)),
            },
            None => Err(WireError::new(path, "a tool with `function_declarations`")),
        })
        .collect()
}

/// Finds a field of another API's tools. Taking such a tool for a hosted one would lose it.
fn foreign_field(tool: &Fields) -> Option<&'static str> {
    ["type", "function", "input_schema"].into_iter().find(|name| tool.contains_key(*name))
}

fn is_tool(fields: &Fields) -> bool {
    key(fields, DECLARATIONS).is_some()
        || is_declaration(fields)
        || fields.keys().any(|name| HOSTED.contains(&&*camel(name)))
        || foreign_field(fields).is_some()
}

/// Returns whether it is a function without the tool around it.
fn is_declaration(fields: &Fields) -> bool {
    fields.get("name").is_some_and(Value::is_string)
}

fn declarations<'a>(tool: &'a Fields, path: &str) -> Result<Vec<(String, &'a Fields)>, WireError> {
    let Some(key) = key(tool, DECLARATIONS) else { return Ok(Vec::new()) };
    let path = field(path, key);
    let declarations = match tool.get(key) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(declarations)) => declarations,
        Some(_) => return Err(WireError::new(path, "a list of functions")),
    };
    let declarations = declarations.iter().enumerate().map(|(index, declaration)| {
        let path = element(&path, index);
        match declaration.as_object() {
            Some(fields) => Ok((path, fields)),
            None => Err(WireError::new(path, "the name, description and parameters of a function")),
        }
    });
    declarations.collect()
}

fn parse_declaration(declaration: &Fields, path: &str) -> Result<ToolDefinition, WireError> {
    let definition = match key(declaration, "parametersJsonSchema") {
        Some(key) if declaration.get(key).is_some_and(|schema| !schema.is_null()) => {
            parse_named(declaration, path, key)?
        }
        _ => {
            let mut definition = parse_named(declaration, path, "parameters")?;
            definition.parameters = to_json_schema(&definition.parameters);
            definition
        }
    };
    let output = match get(declaration, "responseJsonSchema") {
        Some(schema) => Some(schema.clone()),
        None => get(declaration, "response").map(to_json_schema),
    };
    Ok(match output {
        Some(output) => definition.with_output_schema(output),
        None => definition,
    })
}

#[cfg(test)]
mod tests;
