//! Reads the messages of a response, or the reason for their absence.
//!
//! The API calls a message a `Content`. A call is one of its parts.

use super::spelling::{get, list};
use super::{FACTS, Gemini};
use crate::call::WireCall;
use crate::call::pairing::CallKey;
use crate::call::received::{DecodedPayload, ReceivedMessage};
use crate::codec::ResponseCodec;
use crate::hosted::{HostedCall, HostedPart};
use crate::json::error::{Report, check_role, failed};
use crate::json::fields::{Fields, camel, element, field, is_true, optional, text};
use crate::json::{WireError, texts};
use crate::response::{FinishReason, Response};
use serde_json::Value;
use toolkit_core::call::ProviderExtras;

impl ResponseCodec for Gemini {
    /// Finds the messages in a response body, a candidate, a message, or a list of parts.
    fn read<'a>(&self, payload: &'a Value) -> Result<DecodedPayload<'a>, WireError> {
        let messages = match payload {
            Value::Array(parts) => bare_parts(parts)?,
            Value::Object(body) if body.contains_key("candidates") => candidates(body)?,
            Value::Object(content) if content.contains_key("parts") => vec![lone_content(content)?],
            Value::Object(content) if text(payload, "role") == "model" => vec![lone_content(content)?],
            Value::Object(_) if read_call(payload, false).is_some() => {
                vec![message(None, std::slice::from_ref(payload), false)]
            }
            Value::Object(one) if is_candidate(one) => vec![candidate(one, "")?],
            Value::Object(body) => return Err(no_content("candidates[0].content", reported_error(body))),
            _ => return Err(WireError::new("", "a response, a content or a part")),
        };
        Ok(DecodedPayload { payload, messages })
    }

    fn describe(&self, reading: &DecodedPayload<'_>, response: &mut Response) {
        for part in reading.other_parts() {
            let target = if is_true(part, "thought") { &mut response.reasoning } else { &mut response.text };
            target.push_str(&texts::of(part, "text"));
        }
        let candidate = reading.payload.pointer("/candidates/0").unwrap_or(reading.payload).as_object();
        // The service may block the prompt after the first parts of the answer.
        let blocked = reading.payload.as_object().and_then(block);
        response.finish = match candidate.map(finish).unwrap_or_default() {
            FinishReason::Stop if blocked.is_some() => FinishReason::Refused,
            finish => finish,
        };
        if response.finish == FinishReason::Refused && has_only_thoughts(reading) {
            let report = match (blocked, candidate) {
                (None, Some(candidate)) => failure(candidate, false, false),
                (blocked, _) => blocked,
            };
            response.refusal = report.map(|report| report.text).unwrap_or_default();
        }
        // The service counts neither reasoning as output nor the results of its own tools as input.
        let usage = &mut response.usage;
        usage.output_tokens = usage.output_tokens.saturating_add(usage.reasoning_tokens);
        usage.input_tokens = usage.input_tokens.saturating_add(usage.tool_tokens);
    }
}

fn has_only_thoughts(reading: &DecodedPayload<'_>) -> bool {
    let has_calls = reading.messages.iter().any(|message| message.calls().next().is_some());
    !has_calls && reading.other_parts().all(|part| is_true(part, "thought"))
}

/// The parts of hosted tools: the field, whether it is a call, and the field of the arguments or output.
///
/// If the last field is empty, the whole object is the arguments or the output of `code_execution`.
const HOSTED: [(&str, bool, &str); 4] = [
    ("executableCode", true, ""),
    ("codeExecutionResult", false, ""),
    ("toolCall", true, "args"),
    ("toolResponse", false, "response"),
];

pub(super) fn hosted(part: &Value) -> Option<HostedPart> {
    for (kind, is_call, field) in HOSTED {
        let Some(json) = member(part, kind) else { continue };
        let (name, value) = if field.is_empty() {
            ("code_execution".to_owned(), Some(json))
        } else {
            let tool = member(json, "toolType").and_then(Value::as_str).unwrap_or_default();
            (tool.to_lowercase(), member(json, field))
        };
        if is_call {
            return Some(HostedPart::Call(HostedCall::from_part(json, kind, &name, value)));
        }
        let call = HostedCall::from_part(json, kind, &name, None);
        return Some(HostedPart::Output(call.with_output(value)));
    }
    None
}

/// Returns the value of a field in either spelling, if `value` is an object.
pub(super) fn member<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    get(value.as_object()?, name)
}

/// Reads the parts of a message.
///
/// If generation stopped early (`is_cut`), the last part with content is incomplete.
fn message<'a>(fields: Option<&'a Fields>, parts: &'a [Value], is_cut: bool) -> ReceivedMessage<'a> {
    let last = parts.iter().rposition(|part| part.as_object().is_some_and(says_something));
    let cut = if is_cut { last } else { None };
    ReceivedMessage { fields, ..ReceivedMessage::from_parts(parts, cut, read_call) }
}

/// Returns whether `fields` is a candidate.
///
/// In messages of other APIs, `content` is not an object.
fn is_candidate(fields: &Fields) -> bool {
    get(fields, "content").is_some_and(Value::is_object) || get(fields, "finishReason").is_some()
}

fn bare_parts(parts: &[Value]) -> Result<Vec<ReceivedMessage<'_>>, WireError> {
    if parts.is_empty() {
        return Ok(Vec::new());
    }
    // Unknown parts are accepted beside a call.
    if parts.iter().any(|part| read_call(part, false).is_some())
        || parts.iter().all(|part| part.get("text").is_some() && part.get("type").is_none())
    {
        return Ok(vec![message(None, parts, false)]);
    }
    Err(WireError::new("[0]", "a part with `functionCall`"))
}

/// Reads all candidates.
///
/// Failed candidates are ignored if one succeeded.
fn candidates(body: &Fields) -> Result<Vec<ReceivedMessage<'_>>, WireError> {
    let mut contents = Vec::new();
    let mut failure = None;
    for (index, one) in list(body, "candidates").iter().enumerate() {
        let path = element("candidates", index);
        let content = match one.as_object() {
            Some(one) => candidate(one, &path),
            None => Err(no_content(&field(&path, "content"), None)),
        };
        match content {
            Ok(content) => contents.push(content),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    if !contents.is_empty() {
        return Ok(contents);
    }
    match (reported_error(body), failure) {
        (None, Some(failure)) => Err(failure),
        (reason, _) => Err(no_content("candidates[0].content", reason)),
    }
}

/// Parses a message outside of a candidate.
///
/// A user message, which differs only in its role, is refused.
fn lone_content(content: &Fields) -> Result<ReceivedMessage<'_>, WireError> {
    check_role(content, "model", "contents")?;
    Ok(message(Some(content), parts(content, "")?, false))
}

fn candidate<'a>(candidate: &'a Fields, path: &str) -> Result<ReceivedMessage<'a>, WireError> {
    let path = field(path, "content");
    let fields = get(candidate, "content").and_then(Value::as_object);
    let parts = fields.map_or(Ok(&[][..]), |content| parts(content, &path))?;
    let message = message(fields, parts, finish(candidate).is_cut());
    let has_calls = message.calls().next().is_some();
    match failure(candidate, !parts.is_empty(), has_calls) {
        Some(reason) => Err(no_content(&path, Some(reason))),
        None if fields.is_none() && get(candidate, "finishReason").is_none() => Err(no_content(&path, None)),
        None => Ok(message),
    }
}

fn parts<'a>(content: &'a Fields, path: &str) -> Result<&'a [Value], WireError> {
    Ok(optional(content, path, "parts", "a list of parts", Value::as_array)?.map_or(&[], Vec::as_slice))
}

pub(super) fn finish(candidate: &Fields) -> FinishReason {
    FinishReason::parse(get(candidate, "finishReason").and_then(Value::as_str).unwrap_or_default())
}

/// Returns the error of a candidate that is not an answer.
///
/// A call that the model failed to write is an error, because the response must not look like one without
/// calls. After other stops, the content of the candidate is kept.
pub(super) fn failure(candidate: &Fields, has_parts: bool, has_calls: bool) -> Option<Report> {
    let reason = get(candidate, "finishReason").and_then(Value::as_str)?;
    let failed = match reason {
        "STOP" | "MAX_TOKENS" | "FINISH_REASON_UNSPECIFIED" => false,
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => !has_calls,
        _ => !has_parts,
    };
    let message = get(candidate, "finishMessage").and_then(Value::as_str);
    let is_blocked = FinishReason::parse(reason) == FinishReason::Refused;
    if failed { Some(report("the model stopped", Some(reason), message, is_blocked)) } else { None }
}

/// Returns the service's error, or why it blocked the prompt.
pub(super) fn reported_error(body: &Fields) -> Option<Report> {
    if let Some(error) = get(body, "error") {
        return Some(Report::read(error));
    }
    block(body)
}

pub(super) fn block(body: &Fields) -> Option<Report> {
    let feedback = get(body, "promptFeedback")?.as_object()?;
    let reason = get(feedback, "blockReason").and_then(Value::as_str);
    let message = get(feedback, "blockReasonMessage").and_then(Value::as_str);
    let is_blocked = reason.is_some() || message.is_some();
    if is_blocked { Some(report("the prompt was blocked", reason, message, true)) } else { None }
}

fn report(what: &str, code: Option<&str>, message: Option<&str>, is_blocked: bool) -> Report {
    let mut text = what.to_owned();
    for part in [code, message].into_iter().flatten() {
        text.push_str(&format!(": {part}"));
    }
    Report { text, code: code.unwrap_or_default().to_owned(), is_blocked }
}

pub(super) fn no_content(path: &str, reason: Option<Report>) -> WireError {
    failed(path, "a content of the model", reason)
}

pub(super) fn function(part: &Value) -> Option<&Value> {
    member(part, "functionCall")
}

/// Parses a part with a call: `{functionCall: {id?, name, args?}, thoughtSignature?}`.
///
/// The signature becomes an extra of the call: since Gemini 3, the service refuses a history without it.
pub(crate) fn read_call(part: &Value, is_cut: bool) -> Option<WireCall<'_>> {
    let function = function(part)?;
    // Only the stream decoder assembles partial arguments. Here, they show an incomplete call.
    let is_piece = member(function, "partialArgs").is_some() || goes_on(function);
    let args = member(function, "args");
    let name = member(function, "name").and_then(Value::as_str).unwrap_or_default();
    let call = WireCall::new(part, member(function, "id"), name, args, extras);
    Some(WireCall { is_cut: is_cut || args.is_none() && is_piece, ..call })
}

/// Returns whether a call, or a piece of its arguments, continues in a later part.
pub(super) fn goes_on(json: &Value) -> bool {
    member(json, "willContinue").is_some_and(|flag| flag == true)
}

fn extras(part: &Value, _is_custom: bool) -> ProviderExtras {
    ProviderExtras::new(FACTS.name, beside(part))
}

/// Returns the fields of a part beside `functionCall`, in camel case.
pub(super) fn beside(part: &Value) -> Fields {
    let mut others = Fields::new();
    for (key, value) in part.as_object().into_iter().flatten() {
        let name = camel(key);
        if name != "functionCall" && !value.is_null() {
            others.insert(name.into_owned(), value.clone());
        }
    }
    others
}

/// Returns whether a part has content.
///
/// The service refuses an empty text, unless it has a signature, which must be sent back.
pub(super) fn says_something(part: &Fields) -> bool {
    let mut fields = part.iter().filter(|(name, value)| *name != "thought" && !value.is_null());
    fields.any(|(name, value)| name != "text" || value != "") || get(part, "thoughtSignature").is_some()
}

/// A result in a part: `{functionResponse: {id?, name, response, parts?}}`.
#[derive(Clone, Copy)]
pub(crate) struct WireResult<'a>(pub(crate) &'a Fields);

impl<'a> WireResult<'a> {
    pub(crate) fn from_part(part: &'a Value) -> Option<Self> {
        get(part.as_object()?, "functionResponse")?.as_object().map(Self)
    }

    pub(crate) fn key(self) -> CallKey<'a> {
        let id = get(self.0, "id").and_then(Value::as_str).filter(|id| !id.is_empty());
        CallKey { id: id.map(Into::into), name: Some(self.name()) }
    }

    pub(crate) fn name(self) -> &'a str {
        get(self.0, "name").and_then(Value::as_str).unwrap_or_default()
    }
}
