//! Tests of the conversion to the dialects.

#[cfg(feature = "jsonschema")]
mod agree;
mod gemini;
mod plain;
#[cfg(feature = "jsonschema")]
mod provider;
mod strict;

use super::{SchemaDialect, SchemaLoss};
use serde_json::{Value, json};

const ALL: [SchemaDialect; 7] = [
    SchemaDialect::JsonSchema,
    SchemaDialect::Inlined,
    SchemaDialect::OpenAi,
    SchemaDialect::OpenAiStrict,
    SchemaDialect::Anthropic,
    SchemaDialect::AnthropicStrict,
    SchemaDialect::Gemini,
];

/// Returns parameters with `property` only.
fn with(property: &Value) -> Value {
    json!({"type": "object", "properties": {"p": property}, "required": ["p"]})
}

/// Converts a property, and returns the losses as `keyword at path`.
fn property(dialect: SchemaDialect, schema: &Value) -> (Value, Vec<String>) {
    let converted = dialect.convert(&with(schema));
    (converted.schema["properties"]["p"].clone(), losses(&converted.losses))
}

fn losses(losses: &[SchemaLoss]) -> Vec<String> {
    losses.iter().map(|loss| format!("{} at {}", loss.keyword, loss.path)).collect()
}
