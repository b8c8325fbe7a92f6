//! The traits of a provider's codec, one for each part of a request or response.
//!
//! The traits for definitions, for the tool config and for the parts of a stream are in the modules of their
//! types.

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
/// The required methods of the supertraits read or write a single value. The loops over tools, messages, ids
/// and names are written once: in their provided methods, in [`reading`](crate::reading) and in
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

pub(crate) trait ResponseCodec {
    /// Finds the messages of the model in a payload.
    fn read<'a>(&self, payload: &'a Value) -> Result<DecodedPayload<'a>, WireError>;

    /// Sets the text, the reasoning, the refusal and the finish reason, and corrects the token usage.
    fn describe(&self, reading: &DecodedPayload<'_>, response: &mut Response);
}

pub(crate) trait StreamCodec {
    /// Adds the pieces of one event, including those before an error in it.
    fn push(&self, stream: &mut Assembly, event: &Value) -> Result<(), WireError>;

    /// Records the end of the stream at `[DONE]`, which is not an event of the format.
    fn done(&self, _stream: &mut Assembly) {}

    fn is_complete(&self, stream: &Assembly) -> bool;

    /// Closes the open parts and returns the body, as without streaming.
    fn finish(&self, stream: &mut Assembly) -> Value;

    /// Returns whether a value is an event. Payloads that are lists of events are read as streams.
    fn is_chunk(&self, _value: &Value) -> bool {
        false
    }
}

/// Writes received and own messages for the next request.
pub(crate) trait HistoryCodec: Api {
    /// Writes a call. A received call keeps its unknown fields.
    fn write_call(&self, call: OutgoingCall<'_>) -> Value;

    /// Writes a received content part other than a call ([`write_call`](Self::write_call)), or returns `None`
    /// to drop it. In some APIs, all parts are calls.
    fn write_part(&self, _part: &Value) -> Option<Value> {
        None
    }

    /// Writes a message with the encoded `parts`: none if it is dropped, or several if the API needs them.
    fn write_message(&self, message: &ReceivedMessage<'_>, parts: Vec<Value>) -> Vec<Value>;

    /// Creates assistant messages. `text` and `calls` may be empty. By default, the text is the `content` of
    /// one message.
    fn encode_assistant(&self, text: &str, calls: Vec<Value>) -> Vec<Value> {
        let names = ["role", "content"].map(ToOwned::to_owned);
        let fields = names.into_iter().zip(["assistant".into(), text.into()]).collect();
        self.write_message(
            &ReceivedMessage { fields: Some(&fields), parts: Vec::new(), is_whole: true },
            calls,
        )
    }

    /// Adds what models of a generation require in calls that they did not make themselves.
    fn complete_calls(&self, _generation: Option<u32>, _calls: &mut [Value]) {}

    fn encode_user(&self, contents: &[Content]) -> Value;

    fn is_readable(&self, _kind: MediaKind, _media: &Media) -> bool {
        true
    }

    /// Returns the messages of Mistral's servers, which offer the same API with other media items.
    fn mistral(&self) -> Option<&'static MistralForm> {
        None
    }
}

pub(crate) trait ResultCodec {
    /// Encodes the results of one turn. `ids` are the ids of their calls.
    fn encode_results(&self, results: &[ToolResult], ids: &[String], names: &WireNames) -> Vec<Value>;

    /// Encodes the results of one turn for a generation of models, by default the latest.
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

/// Reads and writes calls and results for the repair. [`ResultRule`](crate::facts::result_rule::ResultRule)
/// states where results belong.
pub(crate) trait RepairCodec: Api {
    /// Lists the calls and results of a message, each with its index among the parts.
    ///
    /// The index is 0 if the message itself is the result.
    fn entries<'a>(&self, message: &'a Value) -> Vec<(usize, Entry<'a>)>;

    fn placeholder(&self, call: &Value, key: &CallKey<'_>) -> Value;

    /// Sets the id in a call or result, in APIs with a rule for ids in a history.
    fn set_id(&self, _part: &mut Value, _id: &str) {}

    fn is_reference(&self, _message: &Value) -> bool {
        false
    }

    /// Returns whether the service may have the call of `result` although the history lacks it.
    fn may_be_alone(&self, _result: &Value) -> bool {
        false
    }

    /// Applies the other rules of the API to a history in which every call has a result.
    ///
    /// This removes calls of the provider's own tools that can no longer finish, and the `caller` of calls
    /// whose code is missing. Each removal is added to `losses`, with a path that begins with the index of
    /// the message.
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
