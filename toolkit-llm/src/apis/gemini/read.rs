//! Reads the messages of a response, or the reason for their absence. In this API, a message is called a
//! `Content`, and a call is one of its parts.

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
    /// Finds the messages in `payload`. The payload is a response body with candidates, one candidate, one
    /// message, or a list of parts.
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
        let has_calls = || reading.messages.iter().any(|message| message.calls().next().is_some());
        if response.finish == FinishReason::Refused
            && reading.other_parts().all(|part| is_true(part, "thought"))
            && !has_calls()
        {
            let report = blocked.or_else(|| failure(candidate?, false, false));
            response.refusal = report.map(|report| report.text).unwrap_or_default();
        }
        // The service does not count reasoning tokens as output tokens, and does not count the results of its
        // own tools as input tokens.
        let usage = &mut response.usage;
        usage.output_tokens = usage.output_tokens.saturating_add(usage.reasoning_tokens);
        usage.input_tokens = usage.input_tokens.saturating_add(usage.tool_tokens);
    }
}

/// The parts of hosted tools: the field of the part, whether it is a call, and the field with the arguments or the
/// output. If the last field is empty, the whole object is the arguments or the output of `code_execution`.
const HOSTED: [(&str, bool, &str); 4] = [
    ("executableCode", true, ""),
    ("codeExecutionResult", false, ""),
    ("toolCall", true, "args"),
    ("toolResponse", false, "response"),
];

/// Reads a part of a hosted tool: a call or an output. Returns `None` for other parts.
pub(super) fn hosted(part: &Value) -> Option<HostedPart> {
    let fields = part.as_object()?;
    let found = HOSTED.into_iter().find_map(|row| Some((row, get(fields, row.0)?)));
    let ((kind, is_call, field), json) = found?;
    let inner = |field| json.as_object().and_then(|fields| get(fields, field));
    let tool = || inner("toolType").and_then(Value::as_str).unwrap_or_default().to_lowercase();
    let (name, value) =
        if field.is_empty() { ("code_execution".to_owned(), Some(json)) } else { (tool(), inner(field)) };
    let call = HostedCall::from_part(json, kind, &name, value.filter(|_| is_call));
    Some(if is_call { HostedPart::Call(call) } else { HostedPart::Output(call.with_output(value)) })
}

/// Reads the parts of a message. If generation stopped early (`is_cut`), the last part with content is read
/// as incomplete.
fn message<'a>(fields: Option<&'a Fields>, parts: &'a [Value], is_cut: bool) -> ReceivedMessage<'a> {
    let says_something = |part: &Value| part.as_object().is_some_and(says_something);
    let last = parts.iter().rposition(says_something).filter(|_| is_cut);
    ReceivedMessage { fields, ..ReceivedMessage::from_parts(parts, last, read_call) }
}

/// Returns whether `fields` is a candidate. In a candidate, the field `content` is an object. In messages of
/// other APIs, it is not.
fn is_candidate(fields: &Fields) -> bool {
    get(fields, "content").is_some_and(Value::is_object) || get(fields, "finishReason").is_some()
}

fn bare_parts(parts: &[Value]) -> Result<Vec<ReceivedMessage<'_>>, WireError> {
    let is_text = |part: &Value| part.get("text").is_some() && part.get("type").is_none();
    match parts {
        [] => Ok(Vec::new()),
        // If at least one part is a call, unknown parts beside it are accepted, too.
        _ if parts.iter().any(|part| read_call(part, false).is_some()) || parts.iter().all(is_text) => {
            Ok(vec![message(None, parts, false)])
        }
        _ => Err(WireError::new("[0]", "a part with `functionCall`")),
    }
}

/// Reads all candidates. If at least one candidate succeeded, failed candidates are ignored.
fn candidates(body: &Fields) -> Result<Vec<ReceivedMessage<'_>>, WireError> {
    let read = list(body, "candidates").iter().enumerate().map(|(index, one)| {
        let path = element("candidates", index);
        match one.as_object() {
            Some(one) => candidate(one, &path),
            None => Err(no_content(&field(&path, "content"), None)),
        }
    });
    let (contents, failures): (Vec<_>, Vec<_>) = read.partition(Result::is_ok);
    let reported = || reported_error(body).map(|reason| no_content("candidates[0].content", Some(reason)));
    match failures.into_iter().find_map(Result::err) {
        _ if !contents.is_empty() => Ok(contents.into_iter().flatten().collect()),
        failure => Err(reported().or(failure).unwrap_or_else(|| no_content("candidates[0].content", None))),
    }
}

/// Parses a message that is not inside a candidate. A message of the user, which differs only in its role, is refused.
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

/// Returns the reason why generation of `candidate` ended.
pub(super) fn finish(candidate: &Fields) -> FinishReason {
    FinishReason::parse(get(candidate, "finishReason").and_then(Value::as_str).unwrap_or_default())
}

/// Returns the error of a candidate that is not an answer.
///
/// If the model failed to write a call, this is an error, because the response must not look like a response
/// without calls. If generation stopped for another reason, the content of the candidate is kept.
pub(super) fn failure(candidate: &Fields, has_parts: bool, has_calls: bool) -> Option<Report> {
    let reason = get(candidate, "finishReason").and_then(Value::as_str)?;
    let failed = match reason {
        "STOP" | "MAX_TOKENS" | "FINISH_REASON_UNSPECIFIED" => false,
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => !has_calls,
        _ => !has_parts,
    };
    let message = get(candidate, "finishMessage").and_then(Value::as_str);
    let is_blocked = FinishReason::parse(reason) == FinishReason::Refused;
    failed.then(|| report("the model stopped", Some(reason), message, is_blocked))
}

/// Returns the error reported by the service, or the reason why it blocked the prompt.
pub(super) fn reported_error(body: &Fields) -> Option<Report> {
    if let Some(error) = get(body, "error") {
        return Some(Report::read(error));
    }
    block(body)
}

/// Returns the reason why the service blocked the prompt.
pub(super) fn block(body: &Fields) -> Option<Report> {
    let feedback = get(body, "promptFeedback")?.as_object()?;
    let reason = get(feedback, "blockReason").and_then(Value::as_str);
    let message = get(feedback, "blockReasonMessage").and_then(Value::as_str);
    (reason.is_some() || message.is_some()).then(|| report("the prompt was blocked", reason, message, true))
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

/// Returns the `functionCall` object of a part, if the part is a call.
pub(super) fn function(part: &Value) -> Option<&Value> {
    get(part.as_object()?, "functionCall")
}

/// Parses a part that contains a call: `{functionCall: {id?, name, args?}, thoughtSignature?}`. Returns `None` for
/// other parts. `is_cut` is `true` if the response was cut off at this part.
///
/// Since Gemini 3, the service refuses a history in which a signature is missing from its original part, so
/// the signature becomes an extra of the call.
pub(crate) fn read_call(part: &Value, is_cut: bool) -> Option<WireCall<'_>> {
    let function = function(part)?;
    let field = |name| function.as_object().and_then(|function| get(function, name));
    // Only the stream decoder assembles partial arguments. Here, they show that the call is incomplete.
    let is_piece = field("partialArgs").is_some() || field("willContinue").is_some_and(|value| value == true);
    let args = field("args");
    let name = field("name").and_then(Value::as_str).unwrap_or_default();
    let extras = |part: &Value, _| ProviderExtras::new(FACTS.name, beside(part));
    Some(WireCall {
        is_cut: is_cut || args.is_none() && is_piece,
        ..WireCall::new(part, field("id"), name, args, extras)
    })
}

/// Returns the fields of a part other than `functionCall`, with their names in camel case.
pub(super) fn beside(part: &Value) -> Fields {
    let others = part.as_object().into_iter().flatten().map(|(name, value)| (camel(name), value));
    let others = others.filter(|(name, value)| name != "functionCall" && !value.is_null());
    others.map(|(name, value)| (name.into_owned(), value.clone())).collect()
}

/// Returns whether a part has content. The service refuses a part with empty text, unless the part has a
/// signature, which must be sent back.
pub(super) fn says_something(part: &Fields) -> bool {
    let mut fields = part.iter().filter(|(name, value)| *name != "thought" && !value.is_null());
    fields.any(|(name, value)| name != "text" || value != "") || get(part, "thoughtSignature").is_some()
}

/// A result in a part: `{functionResponse: {id?, name, response, parts?}}`.
#[derive(Clone, Copy)]
pub(crate) struct WireResult<'a>(pub(crate) &'a Fields);

impl<'a> WireResult<'a> {
    /// Returns the result in `part`, or `None` for other parts.
    pub(crate) fn from_part(part: &'a Value) -> Option<Self> {
        get(part.as_object()?, "functionResponse")?.as_object().map(Self)
    }

    /// Returns the key that identifies the call of this result.
    pub(crate) fn key(self) -> CallKey<'a> {
        let id = get(self.0, "id").and_then(Value::as_str).filter(|id| !id.is_empty());
        CallKey { id: id.map(Into::into), name: Some(self.name()) }
    }

    pub(crate) fn name(self) -> &'a str {
        get(self.0, "name").and_then(Value::as_str).unwrap_or_default()
    }
}
