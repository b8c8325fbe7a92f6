//! The one way from a payload to calls, responses and native messages.

use crate::call::{Fields, WireCall};
use crate::codec::{Codec, IdRule};
use crate::{Response, WireError, history, ids};
use serde_json::Value;
use toolkit_core::call::{CallId, ToolCall};
use toolkit_core::name::WireNames;

/// The model's messages in a payload.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    pub(crate) payload: &'a Value,
    pub(crate) messages: Vec<Message<'a>>,
}

/// One message of the model.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    /// The fields of the message; `None` for parts that came without one.
    pub(crate) fields: Option<&'a Fields>,
    pub(crate) parts: Vec<Part<'a>>,
    /// Whether it is all that the model said in its turn.
    pub(crate) is_whole: bool,
}

#[derive(Debug)]
pub(crate) enum Part<'a> {
    Call(WireCall<'a>),
    Other(&'a Value),
}

impl<'a> Reading<'a> {
    pub(crate) fn new(payload: &'a Value, messages: Vec<Message<'a>>) -> Self {
        Self { payload, messages }
    }

    /// Returns the parts of the first message that are not calls.
    pub(crate) fn other_parts(&self) -> impl Iterator<Item = &'a Value> {
        self.messages.first().into_iter().flat_map(|message| &message.parts).filter_map(|part| match part {
            Part::Call(_) => None,
            Part::Other(part) => Some(*part),
        })
    }

    /// Returns the ids of the calls: the provider's own, or generated where it gave none.
    fn ids(&self) -> Vec<CallId> {
        ids::complete(
            self.messages.iter().flat_map(Message::calls).map(|call| (call.json, call.id.as_deref())),
        )
    }

    fn into_calls(self, ids: Vec<CallId>) -> Vec<ToolCall> {
        let calls =
            self.messages.into_iter().flat_map(|message| message.parts).filter_map(|part| match part {
                Part::Call(call) => Some(call),
                Part::Other(_) => None,
            });
        calls.zip(ids).map(|(call, id)| call.into_call(id)).collect()
    }

    fn write(&self, codec: &dyn Codec, ids: Vec<String>, names: &WireNames) -> Vec<Value> {
        let mut ids = ids.into_iter();
        let mut written = Vec::with_capacity(self.messages.len());
        for message in &self.messages {
            let parts = message.parts.iter().filter_map(|part| match part {
                Part::Call(call) => Some(codec.write_call(call, ids.next()?, names)),
                Part::Other(part) => codec.write_part(part),
            });
            let parts = parts.collect();
            written.extend(codec.write_message(message, parts));
        }
        written
    }
}

impl<'a> Message<'a> {
    pub(crate) fn calls(&self) -> impl Iterator<Item = &WireCall<'a>> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            Part::Other(_) => None,
        })
    }
}

/// Returns the ids of a turn's calls as requests accept them.
pub(crate) fn request_ids<'a>(
    codec: &dyn Codec,
    strict_ids: bool,
    ids: impl IntoIterator<Item = &'a str>,
) -> Vec<String> {
    match codec.id_rule() {
        Some(IdRule { rule, is_strict }) => history::ids(rule, is_strict || strict_ids, ids),
        None => ids.into_iter().map(ToOwned::to_owned).collect(),
    }
}

pub(crate) fn parse_calls(codec: &dyn Codec, payload: &Value) -> Result<Vec<ToolCall>, WireError> {
    let payload = codec.join(payload)?;
    let reading = codec.read(&payload)?;
    let ids = reading.ids();
    Ok(reading.into_calls(ids))
}

pub(crate) fn assistant_messages(
    codec: &dyn Codec,
    payload: &Value,
    names: &WireNames,
    strict_ids: bool,
) -> Result<Vec<Value>, WireError> {
    let payload = codec.join(payload)?;
    let reading = codec.read(&payload)?;
    let ids = reading.ids();
    Ok(reading.write(codec, request_ids(codec, strict_ids, ids.iter().map(CallId::as_str)), names))
}

pub(crate) fn parse_response(codec: &dyn Codec, payload: &Value) -> Result<Response, WireError> {
    let payload = codec.join(payload)?;
    let reading = codec.read(&payload)?;
    let ids = reading.ids();
    let request_ids = request_ids(codec, false, ids.iter().map(CallId::as_str));
    let mut response =
        Response { native: reading.write(codec, request_ids, &WireNames::default()), ..Response::default() };
    codec.describe(&reading, &mut response);
    response.calls = reading.into_calls(ids);
    response.settle();
    Ok(response)
}
