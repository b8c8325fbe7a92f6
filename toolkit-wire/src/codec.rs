//! The traits of a provider's codec, one for each concern.

use crate::call::WireCall;
use crate::declaration::{EncodedDefinition, Spelling, Strictness};
use crate::reading::{Message, Reading};
use crate::stream::decode::StreamDecoder;
use crate::tool_config::EncodedToolConfig;
use crate::{Response, WireError};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;
use toolkit_core::ToolResult;
use toolkit_core::call::{ToolCall, ToolConfig};
use toolkit_core::name::{NameRule, WireNames};
use toolkit_core::output::Content;
use toolkit_core::tool::ToolDefinition;
use toolkit_schema::SchemaDialect;

/// One provider's JSON. [`ApiFormat`](crate::ApiFormat) documents what the public methods promise.
///
/// Required methods read or write one value; loops over messages, ids and names are written once, in
/// [`reading`](crate::reading) and [`HistoryWriter`](crate::HistoryWriter).
pub(crate) trait Codec:
    DefinitionCodec + ChoiceCodec + ResponseCodec + HistoryCodec + ResultCodec + RepairCodec + fmt::Debug + Sync
{
}

impl<C> Codec for C where
    C: DefinitionCodec
        + ChoiceCodec
        + ResponseCodec
        + HistoryCodec
        + ResultCodec
        + RepairCodec
        + fmt::Debug
        + Sync
{
}

/// The `tools` of a request.
pub(crate) trait DefinitionCodec {
    /// Returns the text before and after the definitions in the list of tools.
    fn frame(&self) -> (&'static str, &'static str) {
        ("[", "]")
    }

    /// Returns the schema dialect of a strict or plain tool, or of a request that wants plain JSON Schema.
    fn dialect(&self, strict: bool, json_schema: bool) -> SchemaDialect;

    /// Returns the rule for tool names.
    fn name_rule(&self) -> NameRule;

    /// Returns how the API holds tools to their schemas.
    fn strictness(&self) -> Strictness {
        Strictness::None
    }

    /// Returns the number of tools that a request may have; `None` if no number is documented.
    fn most_tools(&self) -> Option<usize> {
        None
    }

    /// Returns the rule for names of properties, if there is one.
    fn property_rule(&self) -> Option<NameRule> {
        None
    }

    /// Returns the key in a definition's `meta` of fields that only this API has.
    fn own_fields(&self) -> Option<&'static str> {
        None
    }

    fn encode_definition(&self, definition: &ToolDefinition, how: &Spelling<'_>) -> EncodedDefinition;

    fn parse_definitions(&self, payload: &Value) -> Result<Vec<ToolDefinition>, WireError>;

    fn hosted_tools(&self, payload: &Value) -> Result<Vec<Value>, WireError>;
}

/// The fields of a request that say how tools may be called.
pub(crate) trait ChoiceCodec {
    fn encode_tool_config(&self, wanted: &ToolConfig, names: &WireNames) -> EncodedToolConfig;

    fn parse_tool_config(
        &self,
        request: &Map<String, Value>,
        names: &WireNames,
    ) -> Result<ToolConfig, WireError>;
}

/// Responses, whole and streamed.
pub(crate) trait ResponseCodec {
    /// Joins a payload of several response bodies into one.
    fn join<'a>(&self, payload: &'a Value) -> Result<Cow<'a, Value>, WireError> {
        Ok(Cow::Borrowed(payload))
    }

    /// Finds the model's messages in a payload.
    fn read<'a>(&self, payload: &'a Value) -> Result<Reading<'a>, WireError>;

    /// Sets everything of a response except its calls and native messages.
    fn describe(&self, reading: &Reading<'_>, response: &mut Response);

    fn stream(&self) -> Box<dyn StreamDecoder>;
}

/// Messages for the next request, received or made.
pub(crate) trait HistoryCodec {
    /// Returns the rule for call ids in requests. `None` where ids are optional.
    fn id_rule(&self) -> Option<IdRule>;

    /// Writes a received call for the next request.
    fn write_call(&self, call: &WireCall<'_>, id: String, names: &WireNames) -> Value;

    /// Writes a received part other than a call for the next request. `None` drops it.
    fn write_part(&self, part: &Value) -> Option<Value>;

    /// Puts written parts back into their message, which may be dropped or be several messages.
    fn write_message(&self, message: &Message<'_>, parts: Vec<Value>) -> Vec<Value>;

    fn encode_call(&self, call: &ToolCall, id: String, names: &WireNames) -> Value;

    /// Makes the assistant messages of a text and encoded calls; both may be empty.
    fn encode_assistant(&self, text: &str, calls: Vec<Value>) -> Vec<Value>;

    fn encode_user(&self, contents: &[Content]) -> Value;
}

/// Tool results, both ways.
pub(crate) trait ResultCodec {
    /// Encodes the results of a turn, with the ids of their calls.
    fn encode_results(&self, results: &[ToolResult], ids: &[String], names: &WireNames) -> Vec<Value>;

    fn parse_results(&self, payload: &Value) -> Result<Vec<ToolResult>, WireError>;
}

/// Histories in which every call has its result.
pub(crate) trait RepairCodec {
    fn repair_history(&self, history: Vec<Value>) -> Vec<Value>;
}

/// The ids that requests accept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IdRule {
    pub(crate) rule: NameRule,
    /// Whether ids are made legal without being asked to.
    pub(crate) is_strict: bool,
}
