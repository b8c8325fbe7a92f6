//! The traits of a provider's codec, one for each concern, and the facts that need no code.

use crate::call::{Message, OutgoingCall, Reading};
use crate::declaration::{EncodedDefinition, Spelling, Strictness, listed_tools, unsaid_settings};
use crate::fields::Fields;
use crate::stream::decode::StreamDecoder;
use crate::tool_config::EncodedToolConfig;
use crate::{Response, WireError};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use toolkit_core::ToolResult;
use toolkit_core::call::ToolConfig;
use toolkit_core::name::{NameRule, WireNames};
use toolkit_core::output::Content;
use toolkit_core::tool::ToolDefinition;
use toolkit_schema::{SchemaDialect, SchemaLoss};

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

impl<C> Codec for C where
    C: DefinitionCodec
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

/// What is to know about an API, from its reference.
#[derive(Debug)]
pub(crate) struct Facts {
    /// The format's name, under which fields that only this API has are kept.
    pub(crate) name: &'static str,
    pub(crate) aliases: &'static [&'static str],
    /// The rule for tool names.
    pub(crate) names: NameRule,
    /// The rule for names of properties, if there is one.
    pub(crate) properties: Option<NameRule>,
    /// The rule for call ids in requests. `None` where ids are optional.
    pub(crate) ids: Option<IdRule>,
    /// The number of tools that a request may have; `None` if no number is documented.
    pub(crate) most_tools: Option<usize>,
    /// How the API holds tools to their schemas.
    pub(crate) strictness: Strictness,
    /// The schema dialects of a plain and of a strict tool, and of a request that wants plain JSON Schema.
    pub(crate) dialects: [SchemaDialect; 3],
    /// The text before and after the definitions in the list of tools.
    pub(crate) frame: (&'static str, &'static str),
    /// The field of a request that holds its messages.
    pub(crate) messages: &'static str,
    /// Whether definitions keep fields that only this API has, in their `meta` under the format's name.
    pub(crate) keeps_fields: bool,
    /// The settings of a definition that the API has no field for: setting, keyword of the loss, reason.
    pub(crate) unsaid: &'static [(&'static str, &'static str, &'static str)],
    /// JSON pointers to the tokens of a response: input, output, cached input, reasoning.
    pub(crate) usage: [&'static str; 4],
}

impl Facts {
    /// Returns the schema dialect of a strict or plain tool, or of a request that wants plain JSON Schema.
    pub(crate) const fn dialect(&self, strict: bool, json_schema: bool) -> SchemaDialect {
        let [plain, held, unchanged] = self.dialects;
        if strict {
            held
        } else if json_schema {
            unchanged
        } else {
            plain
        }
    }
}

/// The ids that requests accept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IdRule {
    pub(crate) rule: NameRule,
    /// Whether ids are made legal without being asked to.
    pub(crate) is_strict: bool,
}

pub(crate) trait Api {
    fn facts(&self) -> &'static Facts;
}

/// The `tools` of a request.
pub(crate) trait DefinitionCodec: Api {
    /// Writes a definition, without a report of the settings that the API has no fields for.
    fn write_definition(
        &self,
        definition: &ToolDefinition,
        how: &Spelling<'_>,
        losses: &mut Vec<SchemaLoss>,
    ) -> Value;

    /// Returns whether an object is a tool, and not a request with tools.
    fn is_tool(&self, fields: &Fields) -> bool;

    /// Parses the definitions of one tool in a list; none if the provider runs it.
    fn parse_tool(&self, tool: &Value, path: &str) -> Result<Vec<ToolDefinition>, WireError>;

    /// Returns the part of a tool that the provider runs.
    fn hosted_part(&self, tool: &Value, path: &str) -> Result<Option<Value>, WireError>;

    fn encode_definition(&self, definition: &ToolDefinition, how: &Spelling<'_>) -> EncodedDefinition {
        let mut losses = Vec::new();
        let json = self.write_definition(definition, how, &mut losses);
        losses.extend(unsaid_settings(definition, how, self.facts()));
        EncodedDefinition { json, losses }
    }

    fn parse_definitions(&self, payload: &Value) -> Result<Vec<ToolDefinition>, WireError> {
        let tools = listed_tools(payload, |fields| self.is_tool(fields), self.facts().messages)?;
        let parsed = tools.into_iter().map(|(path, tool)| self.parse_tool(tool, &path));
        Ok(parsed.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
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
