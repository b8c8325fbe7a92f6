//! The API formats and their operations.

mod hosted;
#[cfg(feature = "model")]
mod output;
mod render;
mod turns;
mod writer;

use crate::codec::Codec;
use crate::definitions::declaration::DefinitionCodec;
use crate::definitions::tool_config::ChoiceCodec;
use crate::definitions::{DefinitionOptions, Definitions, EncodedToolConfig, Renderer};
#[cfg(feature = "model")]
use crate::facts::Server;
use crate::facts::{ApiFormat, Facts};
use crate::json::{WireError, fields, unknown_fields};
use crate::reading;
use crate::reading::StreamAccumulator;
#[cfg(feature = "model")]
use crate::request::RequestFacts;
use crate::response::{Response, Usage};
use crate::stream::merge::overlay;
pub use render::ConfiguredFormat;
use serde_json::{Map, Value};
use toolkit_core::call::{ToolCall, ToolConfig};
use toolkit_core::definition::ToolDefinition;
use toolkit_core::name::WireNames;
pub use writer::HistoryWriter;

/// Connects each variant of [`ApiFormat`] with the module of its codec and its feature.
macro_rules! codecs {
    ($($variant:ident in $folder:ident if $feature:literal;)+) => {
        impl ApiFormat {
            #[cfg(feature = "model")]
            pub(crate) fn request_facts(self, server: Server) -> &'static RequestFacts {
                match self {
                    $(#[cfg(feature = $feature)] Self::$variant => crate::apis::$folder::request::facts(server),)+
                }
            }

            /// Returns what reads answers and writes histories.
            ///
            /// It brings the whole API into the program, so a method that only publishes tools asks a
            /// function below.
            pub(crate) const fn codec(self) -> &'static dyn Codec {
                match self {
                    $(#[cfg(feature = $feature)] Self::$variant => &crate::apis::$folder::$variant,)+
                }
            }

            pub(crate) const fn definition_codec(self) -> &'static dyn DefinitionCodec {
                match self {
                    $(#[cfg(feature = $feature)] Self::$variant => &crate::apis::$folder::$variant,)+
                }
            }

            pub(crate) const fn choice_codec(self) -> &'static dyn ChoiceCodec {
                match self {
                    $(#[cfg(feature = $feature)] Self::$variant => &crate::apis::$folder::$variant,)+
                }
            }

            pub(crate) const fn facts(self) -> &'static Facts {
                match self {
                    $(#[cfg(feature = $feature)] Self::$variant => &crate::apis::$folder::FACTS,)+
                }
            }
        }

        $(#[cfg(feature = $feature)]
        impl crate::facts::Api for crate::apis::$folder::$variant {
            fn facts(&self) -> &'static Facts {
                &crate::apis::$folder::FACTS
            }
        }

        #[cfg(feature = $feature)]
        impl Codec for crate::apis::$folder::$variant {})+
    };
}

codecs! {
    OpenAiChat in openai_chat if "api-openai-chat";
    OpenAiResponses in openai_responses if "api-openai-responses";
    Anthropic in anthropic if "api-anthropic";
    Gemini in gemini if "api-gemini";
    Ollama in ollama if "api-ollama";
    Bedrock in bedrock if "api-bedrock";
    Cohere in cohere if "api-cohere";
    GeminiInteractions in gemini_interactions if "api-gemini-interactions";
}

impl ApiFormat {
    /// Combines the format with options, for
    /// [`ToolRegistry::definitions`](toolkit_core::ToolRegistry::definitions).
    #[must_use]
    pub const fn with_options(self, options: DefinitionOptions) -> ConfiguredFormat {
        ConfiguredFormat { format: self, options }
    }

    /// Encodes definitions as the `tools` of a request, in the given order.
    ///
    /// The report lists all constraints and settings that the API cannot express.
    ///
    /// ```
    /// use toolkit_ai::llm::{ApiFormat, DefinitionOptions};
    /// use toolkit_ai::{ToolDefinition, ToolName};
    /// use toolkit_ai::name::WireNames;
    ///
    /// let now = ToolDefinition::new(ToolName::new("now")?, "The time.", serde_json::json!({"type": "object"}));
    /// let tools = ApiFormat::Anthropic.encode_definitions(
    ///     [&now],
    ///     &WireNames::default(),
    ///     &DefinitionOptions::default(),
    /// );
    /// assert_eq!(tools.to_value()[0]["name"], "now");
    /// assert!(tools.report().is_clean());
    /// # Ok::<(), toolkit_ai::name::NameError>(())
    /// ```
    #[must_use]
    pub fn encode_definitions<'a>(
        self,
        definitions: impl IntoIterator<Item = &'a ToolDefinition>,
        names: &WireNames,
        options: &DefinitionOptions,
    ) -> Definitions {
        let published: Vec<_> =
            definitions.into_iter().map(|definition| definition.published(options.call_reason)).collect();
        let definitions: Vec<&ToolDefinition> = published.iter().map(|definition| &**definition).collect();
        Renderer::new(self.definition_codec(), &definitions, names, options).render_all()
    }

    /// Encodes tool choice and parallel tool calls as request fields.
    ///
    /// A setting that the API cannot express is approximated and reported. For example, a choice limited to
    /// certain tools becomes a choice among all tools, and the limit to one call at a time is left out.
    ///
    /// ```
    /// use toolkit_ai::llm::ApiFormat;
    /// use toolkit_ai::{ToolChoice, ToolConfig};
    /// use toolkit_ai::name::WireNames;
    ///
    /// let wanted = ToolConfig::from(ToolChoice::Required).with_parallel(false);
    /// let anthropic = ApiFormat::Anthropic.encode_tool_config(&wanted, &WireNames::default());
    /// assert_eq!(anthropic.fields["tool_choice"]["disable_parallel_tool_use"], true);
    /// let google = ApiFormat::Gemini.encode_tool_config(&wanted, &WireNames::default());
    /// assert_eq!(google.losses[0].path, "/parallel");
    /// ```
    #[must_use]
    pub fn encode_tool_config(self, wanted: &ToolConfig, names: &WireNames) -> EncodedToolConfig {
        let codec = self.choice_codec();
        #[cfg(feature = "translate")]
        if let Some(encoded) = crate::translate::encode_received_config(codec, wanted, names) {
            return encoded;
        }
        let mut encoded = codec.encode_tool_config(wanted, names);
        match wanted.extras.origin() {
            Some((api, extras)) if api == self.name() => unknown_fields::restore(&mut encoded.fields, extras),
            Some((api, extras)) => encoded.losses.extend(unknown_fields::losses(extras, api, "/extras")),
            None => {}
        }
        encoded
    }

    /// Sets the tools, the tool choice and the limit on parallel calls of a request.
    ///
    /// Most APIs have a field `tools`; others put tools and tool choice into one object. If `definitions` is
    /// empty, nothing is set, because providers refuse a tool choice without tools.
    ///
    /// ```
    /// use toolkit_ai::llm::{ApiFormat, DefinitionOptions};
    /// use toolkit_ai::{ToolChoice, ToolDefinition, ToolName};
    /// use toolkit_ai::name::WireNames;
    /// use serde_json::{Map, json};
    ///
    /// let now = ToolDefinition::new(ToolName::new("now")?, "The time.", json!({"type": "object"}));
    /// let (format, names) = (ApiFormat::Bedrock, WireNames::default());
    /// let tools = format.encode_definitions([&now], &names, &DefinitionOptions::default());
    /// let mut request = Map::new();
    /// let required = format.encode_tool_config(&ToolChoice::Required.into(), &names);
    /// format.set_tools(&mut request, &tools, &required);
    /// assert_eq!(request["toolConfig"]["tools"][0]["toolSpec"]["name"], "now");
    /// assert_eq!(request["toolConfig"]["toolChoice"], json!({"any": {}}));
    /// # Ok::<(), toolkit_ai::name::NameError>(())
    /// ```
    pub fn set_tools(
        self,
        request: &mut Map<String, Value>,
        definitions: &Definitions,
        config: &EncodedToolConfig,
    ) {
        let tools = definitions.value();
        let Some(list) = tools.as_array() else { return };
        if list.is_empty() {
            return;
        }
        overlay(request, &config.fields, |_, _| true);
        fields::set_in(request, self.facts().fields.tools, tools.clone());
    }

    /// Parses the calls in a response body, a choice, a message, a call, or a list of calls.
    ///
    /// The calls are in the order of the response. Tool names keep the provider's spelling, which
    /// [`ToolRegistry::get`](toolkit_core::ToolRegistry::get) understands. Ids and arguments stay unchanged.
    /// A call without an id gets a unique id, always the same for the same payload.
    ///
    /// A call with invalid JSON as arguments is returned as well; the result of its dispatch explains the
    /// error to the model. A call without a name is left out, and so is a repetition of the same id, name and
    /// arguments.
    ///
    /// ```
    /// use toolkit_ai::llm::ApiFormat;
    ///
    /// let message = serde_json::json!({"role": "assistant", "content": null, "tool_calls": [
    ///     {"id": "call_a1", "type": "function", "function": {"name": "add", "arguments": "{\"a\": 1}"}},
    /// ]});
    /// let calls = ApiFormat::OpenAiChat.parse_calls(&message)?;
    /// assert_eq!(calls[0].arguments.as_str(), r#"{"a": 1}"#);
    /// # Ok::<(), toolkit_ai::llm::WireError>(())
    /// ```
    ///
    /// # Errors
    /// [`WireError`] if the payload is not a response of this format, with the text of the provider's error
    /// if there is one.
    pub fn parse_calls(self, payload: &Value) -> Result<Vec<ToolCall>, WireError> {
        reading::parse_calls(self.codec(), payload)
    }

    /// Parses a complete response from the same payloads as [`parse_calls`](Self::parse_calls).
    ///
    /// # Errors
    /// [`WireError`] if the payload is not a response of this format, with the text of the provider's error
    /// if there is one.
    pub fn parse_response(self, payload: &Value) -> Result<Response, WireError> {
        reading::parse_response(self.codec(), payload)
    }

    /// Parses the token counts of a body, even without an answer.
    ///
    /// Providers also count the tokens of a blocked prompt.
    ///
    /// ```
    /// use toolkit_ai::llm::ApiFormat;
    ///
    /// let body = serde_json::json!({
    ///     "promptFeedback": {"blockReason": "SAFETY"},
    ///     "usageMetadata": {"promptTokenCount": 7},
    /// });
    /// assert!(ApiFormat::Gemini.parse_response(&body).is_err());
    /// assert_eq!(ApiFormat::Gemini.parse_usage(&body).input_tokens, 7);
    /// ```
    #[must_use]
    pub fn parse_usage(self, body: &Value) -> Usage {
        reading::usage(self.codec(), body)
    }

    /// Returns the model's messages in a response, for the history. Add them before the tool results.
    ///
    /// Payloads and generated call ids are those of [`parse_calls`](Self::parse_calls). All content is kept,
    /// including unknown fields, except what the provider would refuse in the next request.
    ///
    /// Arguments that are not a JSON object become an object with the string `invalid_arguments` as its only
    /// member. Illegal characters in tool names are replaced.
    ///
    /// # Errors
    /// [`WireError`] if the payload is not a response of this format.
    pub fn assistant_messages(self, payload: &Value) -> Result<Vec<Value>, WireError> {
        self.history(&WireNames::default()).assistant_messages(payload)
    }

    /// Returns an accumulator for a streamed response.
    #[must_use]
    pub fn accumulator(self) -> StreamAccumulator {
        StreamAccumulator::new(self.codec())
    }
}
