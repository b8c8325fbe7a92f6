//! The traits that make up a provider's codec. There is one trait for each part of a request or response.
//!
//! The traits for definitions, for the tool config and for the parts of a stream are in the modules of the types that
//! they use.

use crate::call::outgoing::OutgoingCall;
use crate::call::pairing::{CallKey, Entry};
use crate::call::received::{DecodedPayload, ReceivedMessage};
use crate::definitions::declaration::DefinitionCodec;
use crate::definitions::tool_config::ChoiceCodec;
use crate::facts::media::MediaKind;
use crate::facts::{Api, MistralForm};
use crate::json::WireError;
use crate::json::fields::Fields;
use crate::response::Response;
use crate::stream::assembly::Assembly;
use crate::stream::part::PartCodec;
use serde_json::Value;
use std::fmt;
use toolkit_core::ToolResult;
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, Media};
use toolkit_schema::SchemaLoss;

/// The codec of one provider's JSON. [`ApiFormat`](crate::ApiFormat) documents the public methods.
///
/// The required methods of the supertraits read or write a single value. The loops over tools, messages, ids and names
/// are written once for all codecs: in provided methods of the supertraits, in [`reading`](crate::reading) and in
/// [`HistoryWriter`](crate::HistoryWriter).
pub(crate) trait Codec:
    DefinitionCodec
    + ChoiceCodec
    + ResponseCodec
    + PartCodec
    + StreamCodec
    + HistoryCodec
    + ResultCodec
    + RepairCodec
    + fmt::Debug
    + Sync
{
}

/// Reads complete responses.
pub(crate) trait ResponseCodec {
    /// Finds the messages of the model in a payload.
    fn read<'a>(&self, payload: &'a Value) -> Result<DecodedPayload<'a>, WireError>;

    /// Sets the text, the reasoning, the refusal and the finish reason of `response`, and corrects the token
    /// usage.
    fn describe(&self, reading: &DecodedPayload<'_>, response: &mut Response);
}

/// Reads streamed responses.
pub(crate) trait StreamCodec {
    /// Adds the pieces of one event to `stream`. If the event contains an error, the pieces before the error are added
    /// nevertheless.
    fn push(&self, stream: &mut Assembly, event: &Value) -> Result<(), WireError>;

    /// Records the end of the stream when the server sends `[DONE]`, which is not one of the format's own
    /// events.
    fn done(&self, _stream: &mut Assembly) {}

    /// Returns whether the server announced the end of the response.
    fn is_complete(&self, stream: &Assembly) -> bool;

    /// Closes the open parts and returns the response body. The body is the same as without streaming.
    fn finish(&self, stream: &mut Assembly) -> Value;

    /// Returns whether a value is an event of a streamed response. Payloads that are lists of such events are
    /// read as streams.
    fn is_chunk(&self, _value: &Value) -> bool {
        false
    }
}

/// Writes messages for the next request, both received messages and messages made by the program.
pub(crate) trait HistoryCodec: Api {
    /// Writes a call for the next request. A received call keeps the fields that this library does not know.
    fn write_call(&self, call: OutgoingCall<'_>) -> Value;

    /// Writes a received content part for the next request, or returns `None` to drop the part. For calls,
    /// [`write_call`](Self::write_call) is used instead. In some APIs, all parts are calls.
    fn write_part(&self, _part: &Value) -> Option<Value> {
        None
    }

    /// Writes a message with the encoded `parts`. The returned list is empty if the message is dropped. It
    /// has several messages if the API needs several.
    fn write_message(&self, message: &ReceivedMessage<'_>, parts: Vec<Value>) -> Vec<Value>;

    /// Creates assistant messages from `text` and the encoded `calls`. Either of them, or both, may be empty. By
    /// default, the text is the `content` of one message.
    fn encode_assistant(&self, text: &str, calls: Vec<Value>) -> Vec<Value> {
        let names = ["role", "content"].map(ToOwned::to_owned);
        let fields = names.into_iter().zip(["assistant".into(), text.into()]).collect();
        self.write_message(
            &ReceivedMessage { fields: Some(&fields), parts: Vec::new(), is_whole: true },
            calls,
        )
    }

    /// Adds to the encoded `calls` of a message what models of a generation require in calls that they did not
    /// make themselves.
    fn complete_calls(&self, _generation: Option<u32>, _calls: &mut [Value]) {}

    fn encode_user(&self, contents: &[Content]) -> Value;

    /// Returns whether a media item that the API accepts has content that can be sent.
    fn is_readable(&self, _kind: MediaKind, _media: &Media) -> bool {
        true
    }

    /// Returns the messages of Mistral's servers, which offer the same API with another form of media items. Returns
    /// `None` for other APIs.
    fn mistral(&self) -> Option<&'static MistralForm> {
        None
    }
}

/// Writes tool results.
pub(crate) trait ResultCodec {
    /// Encodes the results of one turn. `ids` are the ids of the calls, in the same order as the results.
    fn encode_results(&self, results: &[ToolResult], ids: &[String], names: &WireNames) -> Vec<Value>;

    /// Encodes the results of one turn for a model of the given generation. The generation `None` stands for the latest
    /// one.
    fn encode_results_for(
        &self,
        _generation: Option<u32>,
        results: &[ToolResult],
        ids: &[String],
        names: &WireNames,
    ) -> Vec<Value> {
        self.encode_results(results, ids, names)
    }
}

/// Reads and writes the calls and results of a history for the repair. [`ResultRule`](crate::facts::result_rule::ResultRule) states
/// where the results belong.
pub(crate) trait RepairCodec: Api {
    /// Lists the calls and results of a message, each with its index among the parts of the message. The index is 0 if
    /// the message itself is the result.
    fn entries<'a>(&self, message: &'a Value) -> Vec<(usize, Entry<'a>)>;

    /// Creates a result for a call that has none.
    fn placeholder(&self, call: &Value, key: &CallKey<'_>) -> Value;

    /// Sets the id in a call or in a result. Only used for APIs that have a rule for the ids in a history.
    fn set_id(&self, _part: &mut Value, _id: &str) {}

    /// Returns whether a message refers to messages stored by the service.
    fn is_reference(&self, _message: &Value) -> bool {
        false
    }

    /// Returns whether the service may have the call of `result` although the history lacks it.
    fn may_be_alone(&self, _result: &Value) -> bool {
        false
    }

    /// Applies the other rules of the API to a history in which every call has a result. This removes calls of the
    /// provider's own tools that the provider can no longer finish. It also removes the field `caller` of a call if the
    /// history lacks the code that made the call. Each of these removals is appended to `losses`, with a path that
    /// begins with the index of the message.
    ///
    /// `request` contains all fields of the request except the messages, or is `None` if they are unknown.
    fn complete_repair(
        &self,
        history: Vec<Value>,
        _request: Option<&Fields>,
        _losses: &mut Vec<SchemaLoss>,
    ) -> Vec<Value> {
        history
    }
}
