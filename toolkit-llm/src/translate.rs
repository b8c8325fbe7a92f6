//! Reads requests: the definitions, the tool choice and the results in a provider's JSON.
//!
//! [`RequestFormat`] is the entry point. To translate a request, read it with the format of its provider, and
//! write it with another [`ApiFormat`].

mod anthropic;
mod choices;
mod gemini;
mod gemini_results;
mod gemini_schema;
mod openai;
mod openai_chat;
mod openai_responses;
mod received_definitions;
mod received_results;
mod tools;

use crate::codec::Codec;
use crate::facts::ApiFormat;
use crate::json::WireError;
use crate::json::fields::Fields;
pub(crate) use choices::encode_received_config;
pub(crate) use received_results::{RECEIVED, encode_received_results};
use serde_json::{Map, Value};
use toolkit_core::ToolResult;
use toolkit_core::call::ToolConfig;
use toolkit_core::definition::ToolDefinition;
use toolkit_core::name::WireNames;

/// An API whose requests can be read.
///
/// ```
/// use toolkit_ai::llm::translate::RequestFormat;
/// use toolkit_ai::llm::{ApiFormat, DefinitionOptions};
/// use toolkit_ai::name::WireNames;
///
/// let tools = serde_json::json!([{"type": "function", "function": {"name": "now"}}]);
/// let definitions = RequestFormat::OpenAiChat.parse_definitions(&tools)?;
/// let tools = ApiFormat::Anthropic.encode_definitions(
///     &definitions,
///     &WireNames::default(),
///     &DefinitionOptions::default(),
/// );
/// assert_eq!(tools.to_value()[0]["name"], "now");
/// # Ok::<(), toolkit_ai::llm::WireError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RequestFormat {
    /// OpenAI's Chat Completions API.
    OpenAiChat,
    /// OpenAI's Responses API.
    OpenAiResponses,
    /// Anthropic's Messages API.
    Anthropic,
    /// The `generateContent` API of Google's Gemini.
    Gemini,
}

#[derive(Debug, Default)]
pub(crate) struct RequestTools {
    own: Vec<ToolDefinition>,
    /// The entries or parts that define the provider's own tools.
    hosted: Vec<Value>,
}

/// Reads the parts of one provider's requests. [`RequestFormat`] documents the public methods.
pub(crate) trait RequestCodec: Codec {
    /// Parses one entry of a list of tools, which may define several tools.
    fn parse_tool(&self, tool: &Value, path: &str, found: &mut RequestTools) -> Result<(), WireError>;

    fn parse_config(&self, request: &Fields, names: &WireNames) -> Result<ToolConfig, WireError>;

    /// Parses tool results in order. The caller sets their positions.
    fn parse_results(&self, payload: &Value) -> Result<Vec<ToolResult>, WireError>;

    fn result_form(&self) -> ResultForm;
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ResultForm {
    /// The field with the parts of a message. Empty if each result is a message of its own.
    parts: &'static str,
    is_result: fn(&Value) -> bool,
    /// JSON pointers to the fields that depend on the request: ids and names.
    own: &'static [&'static str],
}

impl RequestFormat {
    /// All formats.
    pub const ALL: &[Self] = &[Self::OpenAiChat, Self::OpenAiResponses, Self::Anthropic, Self::Gemini];

    /// Returns the format for the requests of `api`, if they can be read.
    #[must_use]
    pub fn of(api: ApiFormat) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.api() == api)
    }

    /// Returns the API of the format.
    #[must_use]
    pub const fn api(self) -> ApiFormat {
        match self {
            Self::OpenAiChat => ApiFormat::OpenAiChat,
            Self::OpenAiResponses => ApiFormat::OpenAiResponses,
            Self::Anthropic => ApiFormat::Anthropic,
            Self::Gemini => ApiFormat::Gemini,
        }
    }

    const fn codec(self) -> &'static dyn RequestCodec {
        match self {
            Self::OpenAiChat => &crate::apis::openai_chat::OpenAiChat,
            Self::OpenAiResponses => &crate::apis::openai_responses::OpenAiResponses,
            Self::Anthropic => &crate::apis::anthropic::Anthropic,
            Self::Gemini => &crate::apis::gemini::Gemini,
        }
    }

    /// Returns the codec for the API name in provider extras.
    fn named(api: &str) -> Option<&'static dyn RequestCodec> {
        let format = Self::ALL.iter().find(|format| format.api().name() == api)?;
        Some(format.codec())
    }

    /// Parses definitions from a list of tools, a single tool, or a request with `tools`.
    ///
    /// Names keep their spelling. A tool without parameters gets the schema of an empty object. The
    /// provider's own tools are left out; [`hosted_tools`](Self::hosted_tools) returns them.
    ///
    /// # Errors
    /// [`WireError`] if the payload holds no tools, or a tool whose name is not
    /// [legal](toolkit_core::name::check_name).
    pub fn parse_definitions(self, payload: &Value) -> Result<Vec<ToolDefinition>, WireError> {
        Ok(self.parse_tools(payload)?.own)
    }

    /// Returns the tools that the provider defines, such as web search, with their JSON unchanged.
    /// [`parse_definitions`](Self::parse_definitions) leaves them out.
    ///
    /// # Errors
    /// The same as for [`parse_definitions`](Self::parse_definitions).
    pub fn hosted_tools(self, payload: &Value) -> Result<Vec<Value>, WireError> {
        Ok(self.parse_tools(payload)?.hosted)
    }

    fn parse_tools(self, payload: &Value) -> Result<RequestTools, WireError> {
        let mut found = RequestTools::default();
        for (path, tool) in tools::listed(self.codec(), payload)? {
            self.codec().parse_tool(tool, &path, &mut found)?;
        }
        Ok(found)
    }

    /// Parses tool choice and parallel tool calls of a request. Missing fields give [`ToolConfig::default`].
    ///
    /// # Errors
    /// [`WireError`] if a field is not valid for the format.
    pub fn parse_tool_config(
        self,
        request: &Map<String, Value>,
        names: &WireNames,
    ) -> Result<ToolConfig, WireError> {
        choices::parse_tool_config(self.codec(), request, names)
    }

    /// Parses tool results from a message, an item, or a list. Other messages are skipped.
    ///
    /// # Errors
    /// [`WireError`] if a result is not valid for the format.
    pub fn parse_results(self, payload: &Value) -> Result<Vec<ToolResult>, WireError> {
        let mut results = Vec::new();
        for (position, result) in self.codec().parse_results(payload)?.into_iter().enumerate() {
            results.push(result.with_position(position));
        }
        Ok(results)
    }
}
