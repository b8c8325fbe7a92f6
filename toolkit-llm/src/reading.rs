//! Converts a payload into calls, responses, and messages for the history.

mod accumulator;
#[cfg(test)]
mod argument_tests;

use crate::call::received::{DecodedPayload, MessagePart, ReceivedMessage};
use crate::call::{ids, sanitize};
use crate::codec::Codec;
use crate::facts::{HistoryForm, IdRule};
use crate::hosted;
use crate::json::WireError;
use crate::response::{FinishReason, Response, Usage};
use crate::stream::assembly::Assembly;
pub use accumulator::{StreamAccumulator, StreamEnd};
use serde_json::Value;
use std::borrow::Cow;
use toolkit_core::call::{CallId, ToolCall};
use toolkit_core::name::WireNames;

impl DecodedPayload<'_> {
    /// Returns the ids of calls, generated where missing.
    fn ids(&self) -> Vec<CallId> {
        let calls = self.messages.iter().flat_map(ReceivedMessage::calls);
        ids::complete(calls.map(|call| (call.json, call.id.as_deref())))
    }

    fn into_calls(self, ids: Vec<CallId>) -> Vec<ToolCall> {
        let mut calls = Vec::with_capacity(ids.len());
        let mut ids = ids.into_iter();
        for message in self.messages {
            for part in message.parts {
                let MessagePart::Call(call) = part else { continue };
                let Some(id) = ids.next() else { return calls };
                calls.push(call.into_call(id));
            }
        }
        calls
    }

    /// Writes the received messages for the next request, with the call ids `ids` in the form `form`.
    fn write(&self, codec: &dyn Codec, ids: &[CallId], form: HistoryForm, names: &WireNames) -> Vec<Value> {
        let mut ids = request_ids(codec, form, ids.iter().map(CallId::as_str)).into_iter();
        let rule = codec.facts().tools.names;
        let mut written = Vec::with_capacity(self.messages.len());
        for message in &self.messages {
            let mut parts = Vec::new();
            for part in &message.parts {
                match part {
                    MessagePart::Call(call) => {
                        let Some(id) = ids.next() else { continue };
                        parts.push(codec.write_call(call.outgoing(id, rule, names)));
                    }
                    MessagePart::Other(part) => parts.extend(codec.write_part(part)),
                }
            }
            written.extend(codec.write_message(message, parts));
        }
        written
    }
}

fn ends_blank(message: &ReceivedMessage<'_>) -> bool {
    matches!(message.parts.last(), Some(MessagePart::Call(call)) if call.is_blank())
}

pub(crate) fn request_ids<'a>(
    codec: &dyn Codec,
    form: HistoryForm,
    ids: impl IntoIterator<Item = &'a str>,
) -> Vec<String> {
    let Some(IdRule { rule, is_strict }) = codec.facts().ids else {
        return ids.into_iter().map(ToOwned::to_owned).collect();
    };
    match form {
        HistoryForm::Mistral(_) => sanitize::nine_character_ids(ids),
        HistoryForm::StrictIds => sanitize::ids(rule, true, ids),
        HistoryForm::Usual => sanitize::ids(rule, is_strict, ids),
    }
}

/// Finds the messages, with the calls that may run.
fn read<'a>(codec: &dyn Codec, payload: &'a Value) -> Result<DecodedPayload<'a>, WireError> {
    let mut reading = codec.read(payload)?;
    let is_unclear = reading.messages.iter().any(ends_blank) && finish(codec, &reading).is_unknown();
    for message in &mut reading.messages {
        message.settle(is_unclear);
    }
    Ok(reading)
}

fn finish(codec: &dyn Codec, reading: &DecodedPayload<'_>) -> FinishReason {
    let mut response = Response::default();
    codec.describe(reading, &mut response);
    response.finish
}

pub(crate) fn parse_calls(codec: &'static dyn Codec, payload: &Value) -> Result<Vec<ToolCall>, WireError> {
    let (payload, _) = join(codec, payload)?;
    let reading = read(codec, &payload)?;
    let ids = reading.ids();
    Ok(reading.into_calls(ids))
}

pub(crate) fn assistant_messages(
    codec: &'static dyn Codec,
    payload: &Value,
    names: &WireNames,
    form: HistoryForm,
) -> Result<Vec<Value>, WireError> {
    let (payload, _) = join(codec, payload)?;
    let reading = read(codec, &payload)?;
    Ok(reading.write(codec, &reading.ids(), form, names))
}

pub(crate) fn parse_response(codec: &'static dyn Codec, payload: &Value) -> Result<Response, WireError> {
    let (payload, is_complete) = join(codec, payload)?;
    let mut response = response(codec, &payload, None)?;
    if !is_complete {
        response.finish = FinishReason::Interrupted;
    }
    Ok(response)
}

/// Reads a response body, with the `calls` already read from a stream, if any.
pub(crate) fn response(
    codec: &'static dyn Codec,
    payload: &Value,
    calls: Option<Vec<ToolCall>>,
) -> Result<Response, WireError> {
    let reading = read(codec, payload)?;
    let count = reading.messages.iter().flat_map(ReceivedMessage::calls).count();
    let streamed = calls.filter(|calls| calls.len() == count);
    let ids = match &streamed {
        Some(calls) => calls.iter().map(|call| call.id.clone()).collect(),
        None => reading.ids(),
    };
    let native = reading.write(codec, &ids, HistoryForm::Usual, &WireNames::default());
    let usage = Usage::read(payload, &codec.facts().usage);
    let named = |pointer| payload.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (id, [container, container_expires_at]) =
        (named(codec.facts().response_id), codec.facts().container.map(named));
    let hosted = hosted::calls(reading.other_parts().filter_map(|part| codec.hosted(part)));
    let mut response =
        Response { native, usage, hosted, id, container, container_expires_at, ..Response::default() };
    codec.describe(&reading, &mut response);
    response.calls = match streamed {
        Some(calls) => calls,
        None => reading.into_calls(ids),
    };
    response.settle();
    Ok(response)
}

pub(crate) fn usage(codec: &dyn Codec, payload: &Value) -> Usage {
    let mut response = Response { usage: Usage::read(payload, &codec.facts().usage), ..Response::default() };
    // The codec corrects the counts there.
    codec.describe(&DecodedPayload { payload, messages: Vec::new() }, &mut response);
    response.usage
}

/// Merges a list of the events of a stream into one body. Also returns whether the response is complete.
fn join<'a>(codec: &'static dyn Codec, payload: &'a Value) -> Result<(Cow<'a, Value>, bool), WireError> {
    let Value::Array(events) = payload else { return Ok((Cow::Borrowed(payload), true)) };
    if !events.iter().any(|event| codec.is_chunk(event)) {
        return Ok((Cow::Borrowed(payload), true));
    }
    let mut stream = Assembly::new(codec);
    for event in events {
        codec.push(&mut stream, event)?;
    }
    let is_complete = codec.is_complete(&stream);
    Ok((Cow::Owned(codec.finish(&mut stream)), is_complete))
}
