//! The document: tool definitions as operations of OpenAPI 3.1.

use serde_json::{Map, Value, json};
use std::sync::Arc;
use toolkit_core::format::ToolFormat;
use toolkit_core::name::{NameRule, WireNames};
use toolkit_core::output::OutputForm;
use toolkit_core::schema::keyword::{booleans_to_objects, each_subschema};
use toolkit_core::{ToolDefinition, ToolRegistry};

const SCHEMAS: &str = "#/components/schemas";

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct DocumentFormat;

pub(super) struct ToolOperation {
    name: String,
    tag: Option<String>,
    operation: Value,
    schemas: Map<String, Value>,
}

/// Returns a registry's OpenAPI document (3.1), as an [`OpenApiServer`](super::OpenApiServer) without
/// settings publishes it.
///
/// ```
/// use toolkit_ai::prelude::*;
/// use toolkit_ai::openapi::server::openapi_document;
///
/// /// Add two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let document = openapi_document(&ToolRegistry::from_tools(tools![add])?);
/// let operation = &document["paths"]["/tools/add"]["post"];
/// assert_eq!(operation["operationId"], "add");
/// assert_eq!(operation["description"], "Add two numbers.");
/// # Ok::<(), toolkit_ai::BuildError>(())
/// ```
#[must_use]
pub fn openapi_document(registry: &ToolRegistry) -> Value {
    document(registry, json!({"title": "Tools", "version": "1.0.0"}))
}

pub(super) fn document(registry: &ToolRegistry, info: Value) -> Value {
    let operations = registry.definitions(DocumentFormat);
    let mut namespaces: Vec<&str> = operations.iter().filter_map(|tool| tool.tag.as_deref()).collect();
    namespaces.sort_unstable();
    namespaces.dedup();
    let tags: Vec<Value> = namespaces.into_iter().map(|name| json!({ "name": name })).collect();
    let mut paths = Map::new();
    let mut schemas = Map::from_iter([("Problem".to_owned(), problem())]);
    for tool in operations.iter() {
        paths.insert(format!("/tools/{}", tool.name), json!({"post": tool.operation}));
        schemas.extend(tool.schemas.clone());
    }
    let content = json!({"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}});
    json!({
        "openapi": "3.1.1",
        "info": info,
        "tags": tags,
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": {
                "Refused": {
                    "description": "The tool cannot do this call: its arguments are invalid, and `errors` names them, or \
                                    `detail` says what is against it.",
                    "content": content,
                },
                "Problem": {
                    "description": "The call failed. `kind` tells why, and `detail` what to do.",
                    "content": content,
                },
            },
        },
    })
}

impl ToolFormat for DocumentFormat {
    type Rendered = Arc<[Arc<ToolOperation>]>;
    type Fragment = ToolOperation;

    fn name_rule(&self) -> NameRule {
        NameRule::TOOL_NAMES
    }

    fn render(
        &self,
        tools: &[&ToolDefinition],
        names: &WireNames,
        earlier: &mut dyn FnMut(usize) -> Option<Arc<ToolOperation>>,
    ) -> (Self::Rendered, Vec<Arc<ToolOperation>>) {
        let mut fragments = Vec::with_capacity(tools.len());
        for (index, definition) in tools.iter().enumerate() {
            let name = names.spell(definition.name.as_str());
            fragments.push(match earlier(index) {
                Some(unchanged) if unchanged.name == name => unchanged,
                _ => Arc::new(ToolOperation::new(definition, name)),
            });
        }
        (fragments.clone().into(), fragments)
    }
}

impl ToolOperation {
    fn new(definition: &ToolDefinition, name: &str) -> Self {
        let metadata = &definition.metadata;
        let mut schemas = Map::new();
        let content = response_content(definition, name, &mut schemas);
        let mut operation = json!({
            "operationId": name,
            "description": definition.description,
            "responses": {
                "200": {"description": "The result of the call.", "content": content},
                "422": {"$ref": "#/components/responses/Refused"},
                "default": {"$ref": "#/components/responses/Problem"},
            },
        });
        if let Some(body) = request_body(definition, name, &mut schemas) {
            operation["requestBody"] = body;
        }
        if let Some(title) = &metadata.title {
            operation["summary"] = title.as_str().into();
        }
        let tag = definition.name.namespace().map(str::to_owned);
        if let Some(tag) = &tag {
            operation["tags"] = json!([tag]);
        }
        Self { name: name.to_owned(), tag, operation, schemas }
    }
}

/// Returns the media types of the output: one if the tool's return type tells its form, otherwise all.
fn response_content(definition: &ToolDefinition, name: &str, schemas: &mut Map<String, Value>) -> Value {
    let schema = definition.output_schema().map(|schema| add_schema(schemas, schema, name, "result"));
    let json = json!({"schema": schema.unwrap_or_else(|| json!({}))});
    let text = json!({"schema": {"type": "string"}});
    // JSON Schema has no word for bytes that are no text. Generators of clients know this one of OpenAPI 3.0.
    let media = json!({"schema": {"type": "string", "format": "binary"}});
    match definition.output_form() {
        Some(OutputForm::Json) => json!({"application/json": json}),
        Some(OutputForm::Text) => json!({"text/plain": text}),
        Some(OutputForm::Media) => json!({"*/*": media}),
        _ => json!({"text/plain": text, "application/json": json, "*/*": {}}),
    }
}

/// Returns the body of requests, unless the tool takes no arguments.
fn request_body(definition: &ToolDefinition, name: &str, schemas: &mut Map<String, Value>) -> Option<Value> {
    let parameters = &definition.parameters;
    let has_none = parameters.get("properties").and_then(Value::as_object).is_none_or(Map::is_empty);
    if has_none && parameters.get("additionalProperties") == Some(&Value::Bool(false)) {
        return None;
    }
    let mut body = json!({"schema": add_schema(schemas, parameters, name, "arguments")});
    for (index, value) in definition.metadata.input_examples.iter().enumerate() {
        body["examples"][format!("example{}", index + 1)] = json!({ "value": value });
    }
    let required = parameters.get("required").and_then(Value::as_array);
    let is_required = required.is_some_and(|required| !required.is_empty());
    Some(json!({"required": is_required, "content": {"application/json": body}}))
}

/// Adds a tool's schema and its definitions to the document's, and returns the reference to it.
///
/// The last part of a component's name, after the last dot, is either `kind` or a definition with `kind`.
/// Thus no two schemas have the same name.
fn add_schema(schemas: &mut Map<String, Value>, schema: &Value, tool: &str, kind: &str) -> Value {
    let mut schema = schema.clone();
    booleans_to_objects(&mut schema);
    let mut definitions = Map::new();
    if let Value::Object(keywords) = &mut schema
        && let Some(Value::Object(own)) = keywords.shift_remove("$defs")
    {
        definitions = own;
    }
    let names = WireNames::new(NameRule::LONG_DASHES, definitions.keys().map(String::as_str));
    let components = ComponentNames { tool, kind, names };
    each_subschema(&mut schema, &mut |keywords| components.rename_reference(keywords));
    for (name, mut definition) in definitions {
        each_subschema(&mut definition, &mut |keywords| components.rename_reference(keywords));
        schemas.insert(components.of_definition(&name), definition);
    }
    let whole = components.whole();
    let reference = json!({"$ref": format!("{SCHEMAS}/{whole}")});
    schemas.insert(whole, schema);
    reference
}

/// The document's names for a tool's schema and its definitions.
struct ComponentNames<'a> {
    tool: &'a str,
    kind: &'a str,
    names: WireNames,
}

impl ComponentNames<'_> {
    fn whole(&self) -> String {
        format!("{}.{}", self.tool, self.kind)
    }

    fn of_definition(&self, name: &str) -> String {
        format!("{}.{}_{}", self.tool, self.names.spell(name), self.kind)
    }

    /// Makes a reference within the schema one within the document.
    fn rename_reference(&self, keywords: &mut Map<String, Value>) {
        let Some(reference) = keywords.get("$ref").and_then(Value::as_str) else { return };
        let Some(pointer) = reference.strip_prefix('#') else { return };
        let target = match pointer.strip_prefix("/$defs/") {
            Some(path) => {
                let (escaped, rest) = path.split_at(path.find('/').unwrap_or(path.len()));
                let name = escaped.replace("~1", "/").replace("~0", "~");
                format!("{SCHEMAS}/{}{rest}", self.of_definition(&name))
            }
            None => format!("{SCHEMAS}/{}{pointer}", self.whole()),
        };
        keywords.insert("$ref".to_owned(), target.into());
    }
}

fn problem() -> Value {
    json!({
        "type": "object",
        "required": ["title", "status", "detail"],
        "properties": {
            "title": {"type": "string", "description": "The name of the status."},
            "status": {"type": "integer", "description": "The status of the response."},
            "detail": {"type": "string", "description": "What happened, and what to do."},
            "kind": {"type": "string", "description": "The kind of the error, such as `invalid_arguments`."},
            "errors": {
                "type": "array",
                "description": "What is wrong with the arguments.",
                "items": {
                    "type": "object",
                    "required": ["path", "kind", "detail"],
                    "properties": {
                        "path": {"type": "string", "description": "The argument, such as `filters[2].max`."},
                        "kind": {"type": "string"},
                        "detail": {"type": "string"},
                    },
                },
            },
            "pending": {"type": "object", "description": "Why the result comes later."},
        },
    })
}
