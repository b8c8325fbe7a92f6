//! Options for the answer of a model.

use super::{PromptCache, ServerState, ServiceTier, Thinking};
use crate::hosted::HostedTool;
use crate::message::RequestLoss;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use toolkit_core::schema::{ConvertedSchema, schema_of};
use toolkit_core::schemars::JsonSchema;

const LONGEST_NAME: usize = 64;

/// Options for an answer. `None` is the provider's default.
///
/// ```
/// use toolkit_ai::llm::ModelOptions;
///
/// let options = ModelOptions::new().with_temperature(0.2).with_max_output_tokens(2_000);
/// assert_eq!(options.max_output_tokens, Some(2_000));
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct ModelOptions {
    /// The sampling temperature. 0 is the lowest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The `top_p` of nucleus sampling: the total probability of the tokens to choose from. The
    /// maximum is 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// The maximum number of output tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    /// Texts at which the model stops writing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// The sampling seed. Not all providers support a seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The format of the final answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputFormat>,
    /// Tools that the provider defines, such as its web search. A request leaves out those of
    /// another API.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosted: Vec<HostedTool>,
    /// The amount of thinking before the answer. Models without thinking refuse it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    /// Whether the provider returns the model's thinking as text, usually as a summary.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub show_thinking: bool,
    /// The settings for prompt caching.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_cache: Option<PromptCache>,
    /// The provider's processing tier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<ServiceTier>,
    /// Labels for the provider's logs and bills.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// An id of the end user, without personal data. Providers use it to detect abuse.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// How the provider stores the conversation. `None` if each request contains the whole history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_state: Option<ServerState>,
    /// Whether the provider produces the answer in the background, without an open connection.
    ///
    /// The client asks at intervals for the finished answer, so it is not streamed. Only the Responses API
    /// has this setting.
    ///
    /// The provider goes on after a cancellation, a drop, or the timeout of a model call. The agent therefore
    /// does not repeat a background request after this timeout, or if the answer cannot be retrieved.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// Whether each `$ref` in a tool's schema is replaced with a copy of its target, for small
    /// models that do not follow references.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub inline_references: bool,
    /// Whether requests contain only fields that all servers with the same API understand.
    ///
    /// Set this for a server that supports Chat Completions and refuses unknown fields.
    ///
    /// Tools then have only a name, a description and parameters, and are not strict. Chat Completions keeps
    /// only the temperature, `top_p`, the maximum number of output tokens (as `max_tokens`), stop sequences,
    /// the seed and the output format. Everything left out is reported as a
    /// [loss](crate::ModelResponse::losses). [`with_extra`](Self::with_extra) adds further fields that the
    /// server understands.
    ///
    /// ```
    /// use toolkit_ai::llm::{Message, ModelOptions, ModelRequest, transport};
    /// use toolkit_ai::llm::ApiFormat;
    ///
    /// let options = ModelOptions::new().with_max_output_tokens(500).with_user_id("u1").with_standard_fields(true);
    /// let request = ModelRequest::new([Message::user("hi")]).with_options(options);
    /// let encoded = transport::encode_request(ApiFormat::OpenAiChat, "m", &request, false);
    /// assert_eq!(encoded.body["max_tokens"], 500);
    /// assert_eq!(encoded.losses[0].path, "/options/user_id");
    /// ```
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub standard_fields: bool,
    /// Provider-specific fields of the request body, merged into the fields of the other options.
    ///
    /// Objects are merged at every depth, and lists of tools are joined. Any other value here
    /// replaces the value of the other options, and `null` removes it. An object with another
    /// `type` replaces the whole object.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

impl ModelOptions {
    /// Creates options with defaults.
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

    /// Adds a tool that the provider defines, such as its web search or an MCP connector.
    ///
    /// ```
    /// use toolkit_ai::llm::hosted::anthropic;
    /// use toolkit_ai::llm::ModelOptions;
    ///
    /// let options = ModelOptions::new().with_hosted(anthropic::web_search());
    /// assert_eq!(options.hosted[0].name(), "web_search");
    /// ```
    #[must_use]
    pub fn with_hosted(mut self, tool: HostedTool) -> Self {
        self.hosted.push(tool);
        self
    }

    /// Adds a label for the provider's logs and bills.
    #[must_use]
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Sets a [provider-specific field](Self::extra) of the request body.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit_ai::llm::{Message, ModelOptions, ModelRequest, transport};
    /// use toolkit_ai::llm::ApiFormat;
    ///
    /// let options = ModelOptions::new()
    ///     .with_temperature(0.2)
    ///     .with_extra("generationConfig", json!({"thinkingConfig": {"thinkingLevel": "LOW"}}));
    /// let request = ModelRequest::new([Message::user("hi")]).with_options(options);
    /// let body = transport::encode_request(ApiFormat::Gemini, "gemini-3-flash", &request, false).body;
    /// assert_eq!(
    ///     body["generationConfig"],
    ///     json!({"temperature": 0.2, "thinkingConfig": {"thinkingLevel": "LOW"}}),
    /// );
    /// ```
    #[must_use]
    pub fn with_extra(mut self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra.insert(field.into(), value.into());
        self
    }
}

setters! { ModelOptions:
    /// Sets the sampling temperature.
    with_temperature(temperature: f64) = Some(temperature);
    /// Sets the `top_p` of nucleus sampling.
    with_top_p(top_p: f64) = Some(top_p);
    /// Sets the maximum number of output tokens.
    with_max_output_tokens(max_output_tokens: u32) = Some(max_output_tokens);
    /// Sets the sampling seed.
    with_seed(seed: u64) = Some(seed);
    /// Sets the format of the final answer.
    with_output(output: OutputFormat) = Some(output);
    /// Sets the amount of thinking before the answer.
    with_thinking(thinking: impl Into<Thinking>) = Some(thinking.into());
    /// Sets whether the model's thinking is returned as text.
    with_show_thinking(show_thinking: bool) = show_thinking;
    /// Sets how the provider caches the prompt.
    with_prompt_cache(prompt_cache: PromptCache) = Some(prompt_cache);
    /// Sets the processing tier.
    with_service_tier(service_tier: ServiceTier) = Some(service_tier);
    /// Sets an id of the end user, without personal data.
    with_user_id(user_id: impl Into<String>) = Some(user_id.into());
    /// Sets how the provider stores the conversation.
    with_server_state(server_state: ServerState) = Some(server_state);
    /// Sets whether the answer is produced in the background.
    with_background(background: bool) = background;
    /// Sets whether each `$ref` in a tool's schema is replaced with a copy of its target.
    with_inline_references(inline_references: bool) = inline_references;
    /// Sets whether requests contain only [standard fields](crate::ModelOptions::standard_fields).
    with_standard_fields(standard_fields: bool) = standard_fields;
}

/// A format for answers: JSON that matches a schema.
///
/// ```
/// use toolkit_ai::ToolParams;
/// use toolkit_ai::llm::ModelOptions;
/// use toolkit_ai::llm::model::OutputFormat;
///
/// #[derive(ToolParams)]
/// struct City { name: String, population: u32 }
///
/// let format = OutputFormat::of::<City>();
/// assert_eq!(format.name, "City");
/// let options = ModelOptions::new().with_output(format);
/// assert!(options.output.is_some());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OutputFormat {
    /// The name of the format: letters, digits, `_` and `-`.
    pub name: String,
    /// The JSON Schema that the answer must match.
    pub schema: Value,
}

impl OutputFormat {
    /// Creates a format from a name and a JSON Schema.
    #[must_use]
    pub fn new(name: impl Into<String>, schema: Value) -> Self {
        Self { name: name.into(), schema }
    }

    /// Creates a format from a Rust type.
    ///
    /// Its name is the schema name of the type, cut to 64 characters, with `_` for illegal characters.
    #[must_use]
    pub fn of<T: JsonSchema>() -> Self {
        let mut name = String::new();
        for character in T::schema_name().chars().take(LONGEST_NAME) {
            name.push(if character.is_ascii_alphanumeric() { character } else { '_' });
        }
        Self::new(name, schema_of::<T>())
    }
}

/// The losses if a provider enforces an [`OutputFormat`].
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct OutputLosses {
    /// The constraints that are not enforced or cannot be expressed.
    pub losses: Vec<RequestLoss>,
    /// The first loss that makes some valid answers impossible.
    ///
    /// For example, a provider without support for maps returns only empty maps.
    pub narrowed: Option<RequestLoss>,
}

impl OutputLosses {
    /// Creates losses that make no valid answer impossible.
    #[must_use]
    pub fn new(losses: impl IntoIterator<Item = RequestLoss>) -> Self {
        Self { losses: losses.into_iter().collect(), narrowed: None }
    }

    /// Creates the value for a model that does not report its losses. It is not
    /// [empty](Self::is_empty).
    #[must_use]
    pub fn unknown() -> Self {
        Self::new([RequestLoss {
            path: "/options/output/schema".to_owned(),
            keyword: "output".to_owned(),
            reason: "the model does not report which constraints the provider enforces".to_owned(),
        }])
    }

    /// Returns whether the provider enforces the schema without any loss.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.losses.is_empty() && self.narrowed.is_none()
    }

    /// Adds the losses of another model for the request.
    pub(crate) fn join(mut self, other: Self) -> Self {
        self.losses.extend(other.losses);
        self.narrowed = self.narrowed.or(other.narrowed);
        self
    }
}

setters! { OutputLosses:
    /// Sets the first loss that makes some valid answers impossible.
    with_narrowed(narrowed: RequestLoss) = Some(narrowed);
}

impl From<ConvertedSchema> for OutputLosses {
    fn from(converted: ConvertedSchema) -> Self {
        let ConvertedSchema { losses, narrowed, .. } = converted;
        let losses = losses.into_iter().map(RequestLoss::from).collect();
        Self { losses, narrowed: narrowed.map(RequestLoss::from) }
    }
}
