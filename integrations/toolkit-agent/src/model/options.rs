//! Options for the answer of a model.

use serde::Serialize;
use serde_json::{Map, Value};
use toolkit_core::schema::{SchemaDialect, schema_of};
use toolkit_core::schemars::JsonSchema;
use toolkit_wire::{ApiFormat, HostedTool};

/// The maximum length of a format name accepted by providers.
const LONGEST_NAME: usize = 64;

/// Options for the answer of a model. If an option is `None`, the provider's default applies.
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
    /// The sampling temperature, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The probability mass of nucleus sampling, up to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// The maximum number of output tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    /// Stop sequences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// The sampling seed, for providers with support for seeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The format of the final answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputFormat>,
    /// Tools that the provider defines itself, such as its web search. A tool of another API is left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosted: Vec<HostedTool>,
    /// Provider-specific fields of the request body. They take precedence over all other fields.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

impl ModelOptions {
    /// Creates options with the provider's defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a stop sequence.
    #[must_use]
    pub fn with_stop(mut self, text: impl Into<String>) -> Self {
        self.stop.push(text.into());
        self
    }

    /// Adds a tool that the provider defines itself, such as its web search or an MCP connector.
    ///
    /// ```
    /// use toolkit::wire::hosted::anthropic;
    /// use toolkit_agent::ModelOptions;
    ///
    /// let options = ModelOptions::new().with_hosted(anthropic::web_search());
    /// assert_eq!(options.hosted[0].name(), "web_search");
    /// ```
    #[must_use]
    pub fn with_hosted(mut self, tool: HostedTool) -> Self {
        self.hosted.push(tool);
        self
    }

    /// Sets a provider-specific field of the request body.
    #[must_use]
    pub fn with_extra(mut self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra.insert(field.into(), value.into());
        self
    }
}

setters! { ModelOptions:
    /// Sets the sampling temperature.
    with_temperature(temperature: f64) = Some(temperature);
    /// Sets the probability mass of nucleus sampling.
    with_top_p(top_p: f64) = Some(top_p);
    /// Sets the maximum number of output tokens.
    with_max_output_tokens(max_output_tokens: u32) = Some(max_output_tokens);
    /// Sets the sampling seed.
    with_seed(seed: u64) = Some(seed);
    /// Sets the format of the final answer.
    with_output(output: OutputFormat) = Some(output);
}

/// A format for answers: JSON with a schema.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OutputFormat {
    /// The name of the format. It consists of letters, digits, `_` and `-`.
    pub name: String,
    /// The schema.
    pub schema: Value,
}

impl OutputFormat {
    /// Creates a format from a schema.
    #[must_use]
    pub fn new(name: impl Into<String>, schema: Value) -> Self {
        Self { name: name.into(), schema }
    }

    /// Creates a format from a type. The format's name is the schema name of the type, cut to 64 characters.
    #[must_use]
    pub fn of<T: JsonSchema>() -> Self {
        let legal = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let name: String = T::schema_name().chars().map(legal).take(LONGEST_NAME).collect();
        Self::new(name, schema_of::<T>())
    }

    /// Returns the schema in the dialect of the API.
    pub(crate) fn schema_for(&self, format: ApiFormat) -> Value {
        let dialect = match format {
            ApiFormat::OpenAiChat | ApiFormat::OpenAiResponses => SchemaDialect::OpenAiStrict,
            ApiFormat::Anthropic => SchemaDialect::AnthropicStrict,
            _ => SchemaDialect::JsonSchema,
        };
        dialect.convert(&self.schema).schema
    }
}
