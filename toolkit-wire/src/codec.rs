//! The traits of a provider's codec, one for each concern.

use crate::call::{Message, OutgoingCall, Reading};
use crate::declaration::{Draft, EncodedDefinition, Spelling, listed_tools};
use crate::facts::Facts;
use crate::fields::Fields;
use crate::stream::decode::StreamDecoder;
use crate::tool_config::EncodedToolConfig;
use crate::{Response, WireError};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use toolkit_core::ToolResult;
use toolkit_core::call::ToolConfig;
use toolkit_core::name::WireNames;
use toolkit_core::output::Content;
use toolkit_core::tool::ToolDefinition;

/// One provider's JSON. [`ApiFormat`](crate::ApiFormat) documents what the public methods promise.
///
/// Required methods read or write one value; loops over tools, messages, ids and names are written once, here,
/// in [`reading`](crate::reading) and in [`HistoryWriter`](crate::HistoryWriter).
pub(crate) trait Codec:
    DefinitionCodec
    + ChoiceCodec
    + ResponseCodec
    + StreamCodec
    + HistoryCodec
    + ResultCodec
    + RepairCodec
    + fmt::Debug
    + Sync
{
}

pub(crate) trait Api {
    fn facts(&self) -> &'static Facts;
}

/// The `tools` of a request.
pub(crate) trait DefinitionCodec: Api {
    /// Writes a definition, without a report of the settings that the API has no fields for.
    fn write_definition(&self, draft: &mut Draft<'_>) -> Value;

    /// Returns whether an object is a tool, and not a request with tools.
    fn is_tool(&self, fields: &Fields) -> bool;

    /// Adds the definitions of one tool in a list; none if the provider runs it.
    fn parse_tool(&self, tool: &Value, path: &str, found: &mut Vec<ToolDefinition>) -> Result<(), WireError>;

    /// Returns the part of a tool that the provider runs.
    fn hosted_part(&self, tool: &Value, path: &str) -> Result<Option<Value>, WireError>;

    fn encode_definition(&self, definition: &ToolDefinition, how: &Spelling<'_>) -> EncodedDefinition {
        let mut draft = Draft { definition, how, losses: Vec::new() };
        let json = self.write_definition(&mut draft);
        draft.report_unsaid(self.facts().unsaid);
        EncodedDefinition { json, losses: draft.losses }
    }

    fn parse_definitions(&self, payload: &Value) -> Result<Vec<ToolDefinition>, WireError> {
        let tools = listed_tools(payload, |fields| self.is_tool(fields), self.facts().messages)?;
        let mut found = Vec::with_capacity(tools.len());
        tools.into_iter().try_for_each(|(path, tool)| self.parse_tool(tool, &path, &mut found))?;
        Ok(found)
    }

    fn hosted_tools(&self, payload: &Value) -> Result<Vec<Value>, WireError> {
        let tools = listed_tools(payload, |fields| self.is_tool(fields), self.facts().messages)?;
        tools.into_iter().filter_map(|(path, tool)| self.hosted_part(tool, &path).transpose()).collect()
    }
}

/// The fields of a request that say how tools may be called.
pub(crate) trait ChoiceCodec {
    fn encode_tool_config(&self, wanted: &ToolConfig, names: &WireNames) -> EncodedToolConfig;

    fn parse_tool_config(&self, request: &Fields, names: &WireNames) -> Result<ToolConfig, WireError>;
}

/// Whole responses.
pub(crate) trait ResponseCodec {
    /// Finds the model's messages in a payload.
    fn read<'a>(&self, payload: &'a Value) -> Result<Reading<'a>, WireError>;

    /// Sets the texts and the finish reason of a response, and corrects its usage.
    fn describe(&self, reading: &Reading<'_>, response: &mut Response);
}

/// Responses in pieces.
pub(crate) trait StreamCodec {
    fn stream(&self) -> Box<dyn StreamDecoder>;

    /// Joins a payload of several response bodies into one.
    fn join<'a>(&self, payload: &'a Value) -> Result<Cow<'a, Value>, WireError> {
        Ok(Cow::Borrowed(payload))
    }
}

/// Messages for the next request, received or made.
pub(crate) trait HistoryCodec: Api {
    /// Writes a call. Unknown fields of a received one stay.
    fn write_call(&self, call: OutgoingCall<'_>) -> Value;

    /// Writes a received part other than a call for the next request. `None` drops it.
    fn write_part(&self, part: &Value) -> Option<Value>;

    /// Puts written parts back into their message, which may be dropped or be several messages.
    fn write_message(&self, message: &Message<'_>, parts: Vec<Value>) -> Vec<Value>;

    /// Makes the assistant messages of a text and encoded calls; both may be empty.
    fn encode_assistant(&self, text: &str, calls: Vec<Value>) -> Vec<Value>;

    fn encode_user(&self, contents: &[Content]) -> Value;
}

/// Tool results, both ways.
pub(crate) trait ResultCodec {
    /// Encodes the results of a turn, with the ids of their calls.
    fn encode_results(&self, results: &[ToolResult], ids: &[String], names: &WireNames) -> Vec<Value>;

    /// Parses results in their order; their positions are not set.
    fn parse_results(&self, payload: &Value) -> Result<Vec<ToolResult>, WireError>;
}

/// Histories in which every call has its result.
pub(crate) trait RepairCodec {
    fn repair_history(&self, history: Vec<Value>) -> Vec<Value>;
}
