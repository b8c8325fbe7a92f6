//! Functions that follow a schema say what is too deep and where, and do nothing else.

use toolkit_ai::prelude::*;
use toolkit_ai::schema::{CompiledSchema, SchemaDialect, SchemaDiff};
use toolkit_ai::serde_json::{Value, json};
use toolkit_ai::{ToolDefinition, ToolFuture, ToolName};

const DIALECTS: [SchemaDialect; 7] = [
    SchemaDialect::JsonSchema,
    SchemaDialect::Inlined,
    SchemaDialect::OpenAi,
    SchemaDialect::OpenAiStrict,
    SchemaDialect::Anthropic,
    SchemaDialect::AnthropicStrict,
    SchemaDialect::Gemini,
];

/// Where a schema is inside another.
const POSITIONS: [fn(Value) -> Value; 5] = [
    |inner| json!({"items": inner}),
    |inner| json!({"properties": {"a": inner}}),
    |inner| json!({"additionalProperties": inner}),
    |inner| json!({"allOf": [inner]}),
    |inner| json!({"anyOf": [inner, {"type": "null"}]}),
];

struct AnyTool(ToolDefinition);

impl Tool for AnyTool {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, _: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready(Ok(ToolOutput::text("")))
    }
}

fn said(schema: &Value) -> Vec<String> {
    let mut said = Vec::new();
    let faults = CompiledSchema::new(schema).err().unwrap_or_default();
    said.push(faults.iter().map(ToString::to_string).collect::<String>());
    for dialect in DIALECTS {
        let losses = dialect.convert(schema).losses;
        said.push(losses.into_iter().map(|loss| loss.reason).collect());
    }
    let diff = SchemaDiff::of_results(schema, &json!({"type": "object"}));
    said.push(diff.changes().iter().map(ToString::to_string).collect());
    let definition = ToolDefinition::new(ToolName::new("tool").unwrap(), "", schema.clone());
    let registered = ToolRegistry::new().register(AnyTool(definition));
    said.push(registered.err().map(|error| error.to_string()).unwrap_or_default());
    said
}

#[test]
fn each_function_says_where_a_schema_is_nested_too_deep() {
    for (number, position) in POSITIONS.into_iter().enumerate() {
        for (levels, is_refused) in [(30, false), (200, true)] {
            let inside = (0..levels).fold(json!({"type": "string"}), |inner, _| position(inner));
            let schema = json!({"type": "object", "properties": {"a": inside}});
            for (function, text) in said(&schema).iter().enumerate() {
                let is_named = text.contains("nested too deep at `#/properties/a");
                assert_eq!(
                    is_named, is_refused,
                    "position {number}, {levels} levels, function {function}: {text}"
                );
            }
        }
    }
}
