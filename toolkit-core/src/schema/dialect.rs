//! What each provider accepts of JSON Schema.

use serde_json::Value;
use std::fmt;

/// What a provider accepts of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SchemaDialect {
    /// JSON Schema, draft 2020-12, as it is: Gemini's `parametersJsonSchema`, MCP.
    JsonSchema,
    /// OpenAI and the servers that imitate it, without `strict`.
    OpenAi,
    /// OpenAI with `strict: true`.
    OpenAiStrict,
    /// Anthropic without `strict`.
    Anthropic,
    /// Anthropic with `strict: true`.
    AnthropicStrict,
    /// The subset of OpenAPI 3.0 that is Gemini's `parameters`.
    Google,
}

/// A schema in a provider's dialect.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ConvertedSchema {
    /// The schema as the provider accepts it.
    pub schema: Value,
    /// What it cannot say.
    pub losses: Vec<SchemaLoss>,
}

/// A meaning that a provider's dialect has no words for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaLoss {
    /// Where it stood, as a JSON pointer.
    pub path: String,
    /// The keyword that is gone.
    pub keyword: String,
    /// Why, and what stands there instead.
    pub reason: String,
}

impl SchemaLoss {
    /// The `keyword` at `path` (a JSON pointer) is gone for this reason.
    #[must_use]
    pub fn new(path: impl Into<String>, keyword: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { path: path.into(), keyword: keyword.into(), reason: reason.into() }
    }
}

impl fmt::Display for SchemaLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` at {}: {}", self.keyword, self.path, self.reason)
    }
}

impl SchemaDialect {
    /// Writes a schema in this dialect.
    #[must_use]
    pub fn convert(self, schema: &Value) -> ConvertedSchema {
        ConvertedSchema { schema: schema.clone(), losses: Vec::new() }
    }
}
