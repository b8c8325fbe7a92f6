//! Results that were read from a request, and are written in the same form for the same API.

use super::{RequestCodec, RequestFormat, ResultForm};
use crate::codec::Codec;
use crate::json::WireError;
use crate::json::fields::elements;
use serde_json::Value;
use std::slice;
use toolkit_core::ToolResult;
use toolkit_core::call::ProviderExtras;
use toolkit_core::name::WireNames;
use toolkit_core::output::ToolOutput;

/// The provider extra with the JSON of a received result. A field of its own, because the extras also contain
/// those of the call.
pub(crate) const RECEIVED: &str = "tool_result";

/// Returns the messages in a list or a single message, each with its path.
pub(super) fn listed<'a>(payload: &'a Value, expected: &str) -> Result<Vec<(String, &'a Value)>, WireError> {
    match payload {
        Value::Array(items) => Ok(elements(items, "").collect()),
        Value::Object(_) => Ok(vec![(String::new(), payload)]),
        _ => Err(WireError::new("", expected)),
    }
}

/// Stores the JSON of a received result, unless the codec writes it the same.
pub(super) fn store_received(codec: &dyn RequestCodec, result: ToolResult, received: &Value) -> ToolResult {
    let ids = [result.call_id.as_str().to_owned()];
    let mut messages = codec.encode_results(slice::from_ref(&result), &ids, &WireNames::default());
    if let Some(written) = results(codec.result_form(), &mut messages).first()
        && **written == *received
    {
        return result;
    }
    let api = codec.facts().name;
    let mut extras = result.extras.for_api(api).cloned().unwrap_or_default();
    extras.insert(RECEIVED.to_owned(), received.clone());
    result.with_extras(ProviderExtras::new(api, extras))
}

fn results(form: ResultForm, messages: &mut [Value]) -> Vec<&mut Value> {
    let mut results = Vec::new();
    for message in messages {
        if form.parts.is_empty() {
            if (form.is_result)(message) {
                results.push(message);
            }
        } else if let Some(Value::Array(parts)) = message.get_mut(form.parts) {
            results.extend(parts.iter_mut().filter(|part| (form.is_result)(part)));
        }
    }
    results
}

/// Encodes results with `encode`. Received results are then replaced by their JSON, with the new ids and
/// names.
pub(crate) fn encode_received_results(
    codec: &dyn Codec,
    generation: Option<u32>,
    results: &[ToolResult],
    encode: impl Fn(&[ToolResult]) -> Vec<Value>,
) -> Vec<Value> {
    let Some(codec) = RequestFormat::named(codec.facts().name) else { return encode(results) };
    let received: Vec<Option<&Value>> =
        results.iter().map(|result| received(codec, generation, result)).collect();
    if received.iter().all(Option::is_none) {
        return encode(results);
    }
    // The received JSON has the media items, so they must not follow in another message.
    let mut plain = results.to_vec();
    for (result, received) in plain.iter_mut().zip(&received) {
        if received.is_some() {
            result.outcome = Ok(ToolOutput::default());
        }
    }
    let mut messages = encode(&plain);
    let form = codec.result_form();
    for (written, received) in self::results(form, &mut messages).into_iter().zip(received) {
        if let Some(received) = received {
            *written = with_own(received.clone(), written, form.own);
        }
    }
    messages
}

/// Returns the JSON of a received result, unless its outcome was changed, or this generation does not accept
/// media items in results.
fn received<'a>(
    codec: &dyn RequestCodec,
    generation: Option<u32>,
    result: &'a ToolResult,
) -> Option<&'a Value> {
    let received = result.extras.get(codec.facts().name, RECEIVED)?;
    let accepts_media = codec.facts().media_table(generation).is_none_or(|table| !table.results.is_empty());
    if !accepts_media && received.pointer("/functionResponse/parts").is_some() {
        return None;
    }
    match codec.parse_results(received).ok()?.as_slice() {
        [only] if only.outcome == result.outcome => Some(received),
        _ => None,
    }
}

/// Returns the received JSON with the fields at the pointers `own` of `written`.
fn with_own(mut received: Value, written: &Value, own: &[&str]) -> Value {
    for pointer in own {
        let Some((parent, name)) = pointer.rsplit_once('/') else { continue };
        let Some(fields) = received.pointer_mut(parent).and_then(Value::as_object_mut) else { continue };
        match written.pointer(pointer) {
            Some(value) => drop(fields.insert(name.to_owned(), value.clone())),
            None => drop(fields.shift_remove(name)),
        }
    }
    received
}
