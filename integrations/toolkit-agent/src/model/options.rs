//! How a model should answer.

use serde::Serialize;
use serde_json::{Map, Value};
use toolkit_core::schema::schema_of;
use toolkit_core::schemars::JsonSchema;
use toolkit_wire::ApiFormat;

/// Providers refuse longer names of forms.
const LONGEST_NAME: usize = 64;

/// How a model should answer. What is `None` is left to the provider.
///
/// ```
/// use toolkit_agent::ModelOptions;
///
/// let options = ModelOptions::new().with_temperature(0.2).with_max_output_tokens(2_000);
/// assert_eq!(options.max_output_tokens, Some(2_000));
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct ModelOptions {
    /// How freely it chooses its words, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// From which part of the probable words it chooses, up to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// How many tokens it may write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    /// Texts at which it stops.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// What makes two answers alike, where the provider can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The form of the final answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputFormat>,
    /// Fields of the request's body, in the words of one API; they go before all others.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

impl ModelOptions {
    /// Everything is left to the provider.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how freely the model chooses its words.
    #[must_use]
    pub fn with_temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Sets from which part of the probable words the model chooses.
    #[must_use]
    pub fn with_top_p(mut self, top_p: f64) -> Self {
        self.top_p = Some(top_p);
        self
    }

    /// Sets how many tokens the model may write.
    #[must_use]
    pub fn with_max_output_tokens(mut self, tokens: u32) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// Adds a text at which the model stops.
    #[must_use]
    pub fn with_stop(mut self, text: impl Into<String>) -> Self {
        self.stop.push(text.into());
        self
    }

    /// Sets what makes two answers alike.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets the form of the final answer.
    #[must_use]
    pub fn with_output(mut self, output: OutputFormat) -> Self {
        self.output = Some(output);
        self
    }

    /// Sets a field of the request's body, in the words of one API.
    #[must_use]
    pub fn with_extra(mut self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra.insert(field.into(), value.into());
        self
    }
}

/// The form of an answer: JSON that a schema describes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OutputFormat {
    /// What the form is called; letters, digits, `_` and `-`.
    pub name: String,
    /// Its schema.
    pub schema: Value,
}

impl OutputFormat {
    /// A form of this schema.
    #[must_use]
    pub fn new(name: impl Into<String>, schema: Value) -> Self {
        Self { name: name.into(), schema }
    }

    /// The form of a type. It has the name of the type's schema, of which providers take 64 characters.
    #[must_use]
    pub fn of<T: JsonSchema>() -> Self {
        let legal = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let name: String = T::schema_name().chars().map(legal).take(LONGEST_NAME).collect();
        Self::new(name, schema_of::<T>())
    }

    /// The schema as the API takes it.
    pub(crate) fn schema_for(&self, format: ApiFormat) -> Value {
        use toolkit_core::schema::SchemaDialect;
        let dialect = match format {
            ApiFormat::OpenAiChat | ApiFormat::OpenAiResponses => SchemaDialect::OpenAiStrict,
            ApiFormat::Anthropic => SchemaDialect::AnthropicStrict,
            _ => SchemaDialect::JsonSchema,
        };
        dialect.convert(&self.schema).schema
    }
}
