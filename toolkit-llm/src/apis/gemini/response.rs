//! Reads the messages of a response, or the reason for their absence. In this API, a message is called a
//! `Content`.

use super::Gemini;
use super::call::{read as read_call, says_something};
use super::spelling::{get, list};
use crate::WireError;
use crate::call::{Message, Reading};
use crate::codec::ResponseCodec;
use crate::error::{Report, check_role, failed};
use crate::fields::{Fields, element, field, is_true, optional, text};
use crate::hosted::{HostedCall, HostedPart};
use crate::response::{FinishReason, Response};
use crate::texts;
use serde_json::Value;

impl ResponseCodec for Gemini {
    /// Finds the messages in `payload`. The payload is a response body with candidates, one candidate, one
    /// message, or a list of parts.
    fn read<'a>(&self, payload: &'a Value) -> Result<Reading<'a>, WireError> {
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
        Ok(Reading { payload, messages })
    }

    fn describe(&self, reading: &Reading<'_>, response: &mut Response) {
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

/// Reads a part of a hosted tool: a call or an output. Returns `None` for other parts.
pub(super) fn hosted(part: &Value) -> Option<HostedPart> {
    let fields = part.as_object()?;
    let output = |result: &Value, field| result.as_object().and_then(|result| get(result, field)).cloned();
    if let Some(code) = get(fields, "executableCode") {
        let call = HostedCall::of(code, "executableCode", "code_execution", Some(code));
        return Some(HostedPart::Call(call));
    }
    if let Some(result) = get(fields, "codeExecutionResult") {
        let call = HostedCall::of(result, "codeExecutionResult", "code_execution", None);
        return Some(HostedPart::Output(call.with_output(Some(result))));
    }
    let tool = |json: &Value| output(json, "toolType").and_then(|kind| Some(kind.as_str()?.to_lowercase()));
    if let Some(json) = get(fields, "toolCall") {
        let name = tool(json).unwrap_or_default();
        let args = output(json, "args");
        return Some(HostedPart::Call(HostedCall::of(json, "toolCall", &name, args.as_ref())));
    }
    let json = get(fields, "toolResponse")?;
    let call = HostedCall::of(json, "toolResponse", &tool(json).unwrap_or_default(), None);
    Some(HostedPart::Output(call.with_output(output(json, "response").as_ref())))
}

/// Reads the parts of a message. If generation stopped early (`is_cut`), the last part with content is read
/// as incomplete.
fn message<'a>(fields: Option<&'a Fields>, parts: &'a [Value], is_cut: bool) -> Message<'a> {
    let says_something = |part: &Value| part.as_object().is_some_and(says_something);
    let last = parts.iter().rposition(says_something).filter(|_| is_cut);
    Message { fields, ..Message::of_parts(parts, last, read_call) }
}

/// Returns whether `fields` is a candidate. In a candidate, the field `content` is an object. In messages of
/// other APIs, it is not.
fn is_candidate(fields: &Fields) -> bool {
    get(fields, "content").is_some_and(Value::is_object) || get(fields, "finishReason").is_some()
}

fn bare_parts(parts: &[Value]) -> Result<Vec<Message<'_>>, WireError> {
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
fn candidates(body: &Fields) -> Result<Vec<Message<'_>>, WireError> {
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
fn lone_content(content: &Fields) -> Result<Message<'_>, WireError> {
    check_role(content, "model", "contents")?;
    Ok(message(Some(content), parts(content, "")?, false))
}

fn candidate<'a>(candidate: &'a Fields, path: &str) -> Result<Message<'a>, WireError> {
    let path = field(path, "content");
    let fields = get(candidate, "content").and_then(Value::as_object);
    let parts = fields.map_or(Ok(&[][..]), |content| parts(content, &path))?;
    let message = message(fields, parts, is_cut(candidate));
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

fn is_cut(candidate: &Fields) -> bool {
    finish(candidate).is_cut()
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
    failed.then(|| report("the model stopped", reason, message, is_blocked))
}

/// Returns the error reported by the service, or the reason why it blocked the prompt.
pub(super) fn reported_error(body: &Fields) -> Option<Report> {
    if let Some(error) = get(body, "error") {
        return Some(Report::of(error));
    }
    block(body)
}

/// Returns the reason why the service blocked the prompt.
pub(super) fn block(body: &Fields) -> Option<Report> {
    let feedback = get(body, "promptFeedback")?.as_object()?;
    let reason = get(feedback, "blockReason")?.as_str()?;
    let message = get(feedback, "blockReasonMessage").and_then(Value::as_str);
    Some(report("the prompt was blocked", reason, message, true))
}

fn report(what: &str, code: &str, message: Option<&str>, is_blocked: bool) -> Report {
    let message = message.map_or_else(String::new, |message| format!(": {message}"));
    Report { text: format!("{what}: {code}{message}"), code: code.to_owned(), is_blocked }
}

pub(super) fn no_content(path: &str, reason: Option<Report>) -> WireError {
    failed(path, "a content of the model", reason)
}
