//! APIs with one message per response, a list `tool_calls`, and a message of the role `tool` for each result.
//!
//! Calls have the form of Chat Completions, `{id, function: {name, arguments}}`.

use super::openai::unknown_of_function;
use crate::call::WireCall;
use crate::call::received::{DecodedPayload, ReceivedMessage};
use crate::codec::{HistoryCodec, ResponseCodec, ResultCodec};
use crate::facts::Api;
use crate::facts::media::accepted;
use crate::json::error::{Report, check_role, failed, reported_error};
use crate::json::fields::{Fields, optional, text};
use crate::json::{WireError, texts};
use crate::response::{FinishReason, Response};
use serde_json::Value;
use toolkit_core::ToolResult;
use toolkit_core::call::ProviderExtras;
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, ToolOutput};

/// The received message of an API.
pub(crate) trait ChatResponse {
    /// The format's name, under which provider extras are stored.
    const NAME: &'static str;
    /// The field of a response with the finish reason.
    const FINISH: &'static str;
    /// The fields of a message with texts, each with `true` for reasoning.
    const TEXTS: [(&'static str, bool); 2];
    /// Whether an early stop may leave the last call incomplete.
    const CUTS_CALLS: bool;

    /// Refuses the content of another API.
    ///
    /// As a message without calls, it would hide a mistake of the caller.
    fn check_content(message: &Fields, path: &str) -> Result<(), WireError>;
}

/// The `tool` messages of an API.
///
/// All images of a turn follow them in one user message.
pub(crate) trait ToolMessages: Api + HistoryCodec {
    fn tool_message(result: &ToolResult, id: &str, names: &WireNames) -> Value;
}

impl<C: ChatResponse> ResponseCodec for C {
    /// Finds the message in a response body, or reads a message, a call, or a list of calls.
    fn read<'a>(&self, payload: &'a Value) -> Result<DecodedPayload<'a>, WireError> {
        let messages = match payload {
            Value::Array(calls) if calls.is_empty() => Vec::new(),
            // Damaged calls are accepted beside a valid call.
            Value::Array(calls) if calls.iter().any(is_call) => vec![of_calls::<C>(calls, false)],
            Value::Array(_) => return Err(WireError::new("[0]", "a call with `function`")),
            Value::Object(_) if is_call(payload) => {
                vec![of_calls::<C>(std::slice::from_ref(payload), false)]
            }
            Value::Object(fields) => vec![body::<C>(fields, finish::<C>(payload).is_cut())?],
            _ => return Err(WireError::new("", "a response, a message or a call")),
        };
        Ok(DecodedPayload { payload, messages })
    }

    fn describe(&self, reading: &DecodedPayload<'_>, response: &mut Response) {
        if let Some(ReceivedMessage { fields: Some(fields), .. }) = reading.messages.first() {
            for (name, is_plan) in C::TEXTS {
                let Some(value) = fields.get(name) else { continue };
                for (is_reasoning, text) in texts::pieces(value, is_plan) {
                    let target = if is_reasoning { &mut response.reasoning } else { &mut response.text };
                    target.push_str(&text);
                }
            }
        }
        response.finish = finish::<C>(reading.payload);
    }
}

fn finish<C: ChatResponse>(payload: &Value) -> FinishReason {
    FinishReason::parse(text(payload, C::FINISH))
}

/// Reads the message of a response body, or one alone.
///
/// A body has no role. A message with one may have an unknown field `message`.
fn body<C: ChatResponse>(fields: &Fields, is_cut: bool) -> Result<ReceivedMessage<'_>, WireError> {
    let nested = if fields.contains_key("role") { None } else { fields.get("message") };
    match nested {
        Some(Value::Object(fields)) => message::<C>(fields, "message", is_cut),
        None if is_message::<C>(fields) => message::<C>(fields, "", false),
        _ => {
            let report = match (reported_error(fields), nested) {
                // Cohere reports errors as `{message}`.
                (None, Some(Value::String(text))) => Some(Report::new(text)),
                (report, _) => report,
            };
            Err(failed("message", "a message of the model", report))
        }
    }
}

fn is_message<C: ChatResponse>(fields: &Fields) -> bool {
    let has_text = C::TEXTS.iter().any(|(name, _)| fields.contains_key(*name));
    has_text || fields.contains_key("role") || fields.contains_key("tool_calls")
}

fn message<'a, C: ChatResponse>(
    fields: &'a Fields,
    path: &str,
    is_cut: bool,
) -> Result<ReceivedMessage<'a>, WireError> {
    check_role(fields, "assistant", "messages")?;
    C::check_content(fields, path)?;
    let list = optional(fields, path, "tool_calls", "a list of calls", Value::as_array)?;
    let calls = of_calls::<C>(list.map_or(&[], Vec::as_slice), is_cut);
    Ok(ReceivedMessage { fields: Some(fields), is_whole: true, ..calls })
}

fn of_calls<C: ChatResponse>(list: &[Value], is_cut: bool) -> ReceivedMessage<'_> {
    let is_last_cut = is_cut && C::CUTS_CALLS;
    let calls = ReceivedMessage::from_list(list, is_last_cut, |json, cut| Some(read_call::<C>(json, cut)));
    ReceivedMessage { is_whole: false, ..calls }
}

/// Returns whether a value has an object `function`, as calls have.
pub(super) fn is_call(value: &Value) -> bool {
    value.get("function").is_some_and(Value::is_object)
}

/// Parses an element of `tool_calls`.
pub(super) fn read_call<C: ChatResponse>(json: &Value, is_cut: bool) -> WireCall<'_> {
    let function = json.get("function").unwrap_or(&Value::Null);
    let index = function.get("index").and_then(Value::as_u64).and_then(|index| usize::try_from(index).ok());
    let arguments = function.get("arguments");
    let call = WireCall::new(json, json.get("id"), text(function, "name"), arguments, extras::<C>);
    WireCall { is_cut, index, ..call }
}

/// Returns the fields of a call and of its `function` that `ToolCall` cannot express.
fn extras<C: ChatResponse>(json: &Value, _is_custom: bool) -> ProviderExtras {
    ProviderExtras::new(C::NAME, unknown_of_function(json, &["id", "type", "index", "name", "arguments"]))
}

impl<C: ToolMessages> ResultCodec for C {
    fn encode_results(&self, results: &[ToolResult], ids: &[String], names: &WireNames) -> Vec<Value> {
        let mut messages = Vec::with_capacity(results.len());
        for (result, id) in results.iter().zip(ids) {
            messages.push(C::tool_message(result, id, names));
        }
        let media = self.facts().media_table(None).map_or(&[][..], |table| table.messages);
        let mut images = Vec::new();
        for content in results.iter().filter_map(ToolResult::output).flat_map(ToolOutput::content) {
            if accepted(media, content).is_some() {
                images.push(content.clone());
            }
        }
        if !images.is_empty() {
            images.insert(0, Content::Text("The images of the tool results.".to_owned()));
            messages.push(self.encode_user(&images));
        }
        messages
    }
}
