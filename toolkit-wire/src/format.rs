//! The formats, and the operations on each of them.

use crate::codec::{Api, Codec};
use crate::definitions::{Fragment, Renderer};
use crate::error::UnknownApiFormat;
use crate::facts::Facts;
use crate::{
    DefinitionOptions, Definitions, EncodedToolConfig, HistoryWriter, Response, StreamAccumulator, WireError,
    anthropic, gemini, ollama, openai_chat, openai_responses, reading,
};
use serde_json::{Map, Value};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use toolkit_core::ToolResult;
use toolkit_core::call::{ToolCall, ToolConfig};
use toolkit_core::format::{Publication, ToolFormat};
use toolkit_core::name::{NameRule, WireNames};
use toolkit_core::output::Content;
use toolkit_core::tool::ToolDefinition;

/// Declares the formats: their documentation, their variant, and the folder with their codec.
macro_rules! formats {
    ($($(#[$doc:meta])* $variant:ident in $folder:ident;)+) => {
        /// The JSON of one provider's API.
        ///
        /// ```
        /// use toolkit::ApiFormat;
        ///
        /// let format: ApiFormat = "openai-chat".parse()?;
        /// assert_eq!(format, ApiFormat::OpenAiChat);
        /// # Ok::<(), toolkit::wire::UnknownApiFormat>(())
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ApiFormat {
            $($(#[$doc])* $variant,)+
        }

        impl ApiFormat {
            /// Every format.
            pub const ALL: [Self; [$(Self::$variant),+].len()] = [$(Self::$variant),+];

            /// Returns the name of the format, as in `openai_chat`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $folder::FACTS.name,)+
                }
            }

            /// Returns other names under which the format is known.
            #[must_use]
            pub const fn aliases(self) -> &'static [&'static str] {
                match self {
                    $(Self::$variant => $folder::FACTS.aliases,)+
                }
            }

            /// Returns the rule for tool names.
            #[must_use]
            pub const fn name_rule(self) -> NameRule {
                // Not a method of `Codec`: looking up a tool needs it, and must not link whole codecs.
                match self {
                    $(Self::$variant => $folder::FACTS.names,)+
                }
            }

            pub(crate) const fn codec(self) -> &'static dyn Codec {
                match self {
                    $(Self::$variant => &$folder::$variant,)+
                }
            }
        }

        $(impl Api for $folder::$variant {
            fn facts(&self) -> &'static Facts {
                &$folder::FACTS
            }
        }

        impl Codec for $folder::$variant {})+
    };
}

formats! {
    /// Chat Completions of OpenAI, and of the many servers that speak it.
    OpenAiChat in openai_chat;
    /// Responses of OpenAI.
    OpenAiResponses in openai_responses;
    /// Messages of Anthropic.
    Anthropic in anthropic;
    /// `generateContent` of Google's Gemini.
    Gemini in gemini;
    /// `/api/chat` of Ollama.
    Ollama in ollama;
}

impl ApiFormat {
    /// Returns the format with options, for [`ToolRegistry::definitions`](toolkit_core::ToolRegistry::definitions).
    #[must_use]
    pub const fn with_options(self, options: DefinitionOptions) -> ConfiguredFormat {
        ConfiguredFormat { format: self, options }
    }

    /// Encodes definitions as the `tools` of a request, in the given order, with a report of the losses.
    ///
    /// ```
    /// use toolkit::{ApiFormat, DefinitionOptions, ToolDefinition, ToolName};
    /// use toolkit::name::WireNames;
    ///
    /// let now = ToolDefinition::new(ToolName::new("now")?, "The time.", serde_json::json!({"type": "object"}));
    /// let tools = ApiFormat::Anthropic.encode_definitions(
    ///     [&now],
    ///     &WireNames::default(),
    ///     &DefinitionOptions::default(),
    /// );
    /// assert_eq!(tools.to_value()[0]["name"], "now");
    /// assert!(tools.report().is_clean());
    /// # Ok::<(), toolkit::name::NameError>(())
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
        Renderer::new(self.codec(), &definitions, names, options).render_all()
    }

    /// Parses definitions: a list of tools, one tool, or a request with its `tools`.
    ///
    /// Names stay as they are spelled; missing parameters are an object without properties. Tools that the
    /// provider runs are left out: [`hosted_tools`](Self::hosted_tools) returns them.
    ///
    /// ```
    /// use toolkit::ApiFormat;
    ///
    /// let tools = serde_json::json!([{"type": "function", "function": {"name": "now"}}]);
    /// let definitions = ApiFormat::OpenAiChat.parse_definitions(&tools)?;
    /// assert_eq!(definitions[0].name.as_str(), "now");
    /// # Ok::<(), toolkit::WireError>(())
    /// ```
    ///
    /// # Errors
    /// [`WireError`] if the payload holds no tools, or a tool whose name is not
    /// [legal](toolkit_core::name::check_name).
    pub fn parse_definitions(self, payload: &Value) -> Result<Vec<ToolDefinition>, WireError> {
        self.codec().parse_definitions(payload)
    }

    /// Returns the tools of a payload that [`parse_definitions`](Self::parse_definitions) leaves out because the
    /// provider runs them (web search, code execution and the like), as they came.
    ///
    /// # Errors
    /// [`WireError`] if the payload holds no tools.
    pub fn hosted_tools(self, payload: &Value) -> Result<Vec<Value>, WireError> {
        self.codec().hosted_tools(payload)
    }

    /// Encodes tool choice and parallel tool calls as fields of a request.
    ///
    /// A setting that the API cannot express is approximated, and reported: a set of allowed tools becomes the
    /// choice without the set, calls one at a time are left out.
    ///
    /// ```
    /// use toolkit::{ApiFormat, ToolChoice, ToolConfig};
    /// use toolkit::name::WireNames;
    ///
    /// let wanted = ToolConfig::from(ToolChoice::Required).with_parallel(false);
    /// let anthropic = ApiFormat::Anthropic.encode_tool_config(&wanted, &WireNames::default());
    /// assert_eq!(anthropic.fields["tool_choice"]["disable_parallel_tool_use"], true);
    /// let google = ApiFormat::Gemini.encode_tool_config(&wanted, &WireNames::default());
    /// assert_eq!(google.losses[0].path, "/parallel");
    /// ```
    #[must_use]
    pub fn encode_tool_config(self, wanted: &ToolConfig, names: &WireNames) -> EncodedToolConfig {
        self.codec().encode_tool_config(wanted, names)
    }

    /// Parses those fields of a request. Without them, it is [`ToolConfig::default`].
    ///
    /// # Errors
    /// [`WireError`] if a field is not valid for the format.
    pub fn parse_tool_config(
        self,
        request: &Map<String, Value>,
        names: &WireNames,
    ) -> Result<ToolConfig, WireError> {
        self.codec().parse_tool_config(request, names)
    }

    /// Parses the calls of a response, in its order. It takes a whole response body, one choice, one message, one
    /// call, or a list of calls.
    ///
    /// Names are spelled as the provider knows them; [`ToolRegistry::get`](toolkit_core::ToolRegistry::get)
    /// understands that. Ids and the text of the arguments stay as they came. A call without an id
    /// gets one that no other call of the payload has, and for the same payload always the same.
    ///
    /// A call that cannot be used (no name, arguments that are not JSON) is still in the list:
    /// dispatching it gives a result that explains the error to the model.
    ///
    /// ```
    /// use toolkit::ApiFormat;
    ///
    /// let message = serde_json::json!({"role": "assistant", "content": null, "tool_calls": [
    ///     {"id": "call_a1", "type": "function", "function": {"name": "add", "arguments": "{\"a\": 1}"}},
    /// ]});
    /// let calls = ApiFormat::OpenAiChat.parse_calls(&message)?;
    /// assert_eq!(calls[0].arguments.as_str(), r#"{"a": 1}"#);
    /// # Ok::<(), toolkit::WireError>(())
    /// ```
    ///
    /// # Errors
    /// [`WireError`] if the payload is not a response of this format. If the provider reported an error
    /// instead of an answer, its text is part of it.
    pub fn parse_calls(self, payload: &Value) -> Result<Vec<ToolCall>, WireError> {
        reading::parse_calls(self.codec(), payload)
    }

    /// Reads a response: text, reasoning, calls, the reason why it ended, usage, and the model's messages for
    /// the history. It takes what [`parse_calls`](Self::parse_calls) takes.
    ///
    /// # Errors
    /// [`WireError`] if the payload is not a response of this format. If the provider reported an error
    /// instead of an answer, its text is part of it.
    pub fn parse_response(self, payload: &Value) -> Result<Response, WireError> {
        reading::parse_response(self.codec(), payload)
    }

    /// Returns the model's own messages of a response, for the history before the results. It takes the payloads
    /// of [`parse_calls`](Self::parse_calls), and gives the calls the same ids.
    ///
    /// Everything in the messages is kept, unknown fields included, except content that the provider would
    /// refuse in its next request. Arguments that are not a JSON object then stand inside one, as the text of
    /// `invalid_arguments`, and illegal characters in a name are replaced.
    ///
    /// # Errors
    /// [`WireError`] if the payload is not a response of this format.
    pub fn assistant_messages(self, payload: &Value) -> Result<Vec<Value>, WireError> {
        self.history(&WireNames::default()).assistant_messages(payload)
    }

    /// Encodes a message of the user.
    ///
    /// Media that the API does not accept in such a message are named in a text.
    ///
    /// ```
    /// use toolkit::{ApiFormat, Content};
    ///
    /// let message = ApiFormat::Gemini.encode_user(&[Content::Text("hi".to_owned())]);
    /// assert_eq!(message, serde_json::json!({"role": "user", "parts": [{"text": "hi"}]}));
    /// ```
    #[must_use]
    pub fn encode_user(self, contents: &[Content]) -> Value {
        self.codec().encode_user(contents)
    }

    /// Encodes messages of the model with a text and calls, for a history that is made rather than received.
    #[must_use]
    pub fn encode_assistant(self, text: &str, calls: &[ToolCall], names: &WireNames) -> Vec<Value> {
        self.history(names).encode_assistant(text, calls)
    }

    /// Encodes messages of the model with calls, for a history that is made rather than received.
    ///
    /// Names are spelled for the provider. Names and arguments that it would refuse are treated as
    /// by [`assistant_messages`](Self::assistant_messages).
    #[must_use]
    pub fn encode_calls(self, calls: &[ToolCall], names: &WireNames) -> Vec<Value> {
        self.history(names).encode_calls(calls)
    }

    /// Encodes the results of calls, in their order.
    ///
    /// A result is the text of its output, with the [message](toolkit_core::ToolOutput::message) on a line of
    /// its own, or the message of its error. Media that the provider accepts in no tool message (images,
    /// audio and files in Chat Completions) are named there and follow in a message after them.
    ///
    /// Pass all results of a turn, in the order of its calls: where two calls have one id, the second result
    /// gets another, as the second call does. Names stay as the model's calls had them. For calls that were
    /// [made](Self::encode_calls) rather than received, use a [`history`](Self::history) with the same names.
    #[must_use]
    pub fn encode_results(self, results: &[ToolResult]) -> Vec<Value> {
        self.history(&WireNames::default()).encode_results(results)
    }

    /// Returns a writer that encodes calls and results with the names of the request.
    #[must_use]
    pub const fn history(self, names: &WireNames) -> HistoryWriter<'_> {
        HistoryWriter::new(self.codec(), names)
    }

    /// Parses results: one message, one item, or a list of them. Other messages are skipped.
    ///
    /// # Errors
    /// [`WireError`] if a result is not valid for the format.
    pub fn parse_results(self, payload: &Value) -> Result<Vec<ToolResult>, WireError> {
        let results = self.codec().parse_results(payload)?.into_iter().enumerate();
        Ok(results.map(|(position, result)| result.with_position(position)).collect())
    }

    /// Repairs a history: a call without a result gets one that says so, and a result without a call is removed.
    /// Everything else stays as it is.
    ///
    /// Providers refuse a history with an unanswered call, as it is left behind by a cancelled turn, a crash,
    /// or a history that was cut.
    #[must_use]
    pub fn repair_history(self, history: Vec<Value>) -> Vec<Value> {
        self.codec().repair_history(history)
    }

    /// Returns an accumulator for a streamed response.
    #[must_use]
    pub fn accumulator(self) -> StreamAccumulator {
        StreamAccumulator::new(self.codec())
    }
}

/// An [`ApiFormat`] with [`DefinitionOptions`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ConfiguredFormat {
    format: ApiFormat,
    options: DefinitionOptions,
}

impl ToolFormat for ConfiguredFormat {
    type Rendered = Definitions;
    type Fragment = Fragment;

    fn name_rule(&self) -> NameRule {
        self.format.name_rule()
    }

    fn publication(&self) -> Publication {
        Publication::default()
            .with_call_reason(self.options.call_reason)
            .with_list_deferred(self.options.list_deferred)
    }

    fn render(
        &self,
        tools: &[&ToolDefinition],
        names: &WireNames,
        earlier: &mut dyn FnMut(usize) -> Option<Arc<Fragment>>,
    ) -> (Definitions, Vec<Arc<Fragment>>) {
        let renderer = Renderer::new(self.format.codec(), tools, names, &self.options);
        let fragment = |index| match earlier(index) {
            Some(fragment) if renderer.holds(index, &fragment) => fragment,
            _ => Arc::new(renderer.fragment(index)),
        };
        let fragments: Vec<Arc<Fragment>> = (0..tools.len()).map(fragment).collect();
        (renderer.assemble(&fragments), fragments)
    }
}

impl ToolFormat for ApiFormat {
    type Rendered = Definitions;
    type Fragment = Fragment;

    fn name_rule(&self) -> NameRule {
        Self::name_rule(*self)
    }

    fn render(
        &self,
        tools: &[&ToolDefinition],
        names: &WireNames,
        earlier: &mut dyn FnMut(usize) -> Option<Arc<Fragment>>,
    ) -> (Definitions, Vec<Arc<Fragment>>) {
        self.with_options(DefinitionOptions::default()).render(tools, names, earlier)
    }
}

impl fmt::Display for ApiFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ApiFormat {
    type Err = UnknownApiFormat;

    fn from_str(text: &str) -> Result<Self, UnknownApiFormat> {
        let known =
            Self::ALL.into_iter().find(|format| format.name() == text || format.aliases().contains(&text));
        let aliases = Self::ALL.map(|format| format.aliases().first().copied());
        known.ok_or_else(|| UnknownApiFormat::new(text, &Self::ALL.map(Self::name), &aliases))
    }
}
