//! Where a payload holds contents of the model, and why it may hold none.

use super::part::{WireCall, says_something};
use super::spelling::{Fields, get, list};
use super::stream::Stream;
use crate::WireError;
use crate::path::{element, field};
use crate::stream::Accumulate;
use serde_json::Value;
use std::borrow::Cow;

/// One content of the model.
pub(super) struct Content<'a> {
    /// What came; `None` for parts that came without a content.
    pub(super) fields: Option<&'a Fields>,
    pub(super) parts: &'a [Value],
    /// Whether the model was stopped before it had said all.
    is_cut: bool,
}

impl<'a> Content<'a> {
    fn whole(fields: Option<&'a Fields>, parts: &'a [Value]) -> Self {
        Self { fields, parts, is_cut: false }
    }

    pub(super) fn calls(&self) -> impl Iterator<Item = WireCall<'a>> + use<'a> {
        let last_words = self.last_words();
        self.parts.iter().enumerate().filter_map(move |(at, part)| {
            let call = WireCall::of(part)?;
            Some(if Some(at) == last_words { call.stopped() } else { call })
        })
    }

    /// The part in which, or after which, the model was stopped.
    pub(super) fn last_words(&self) -> Option<usize> {
        self.parts.iter().rposition(says_something).filter(|_| self.is_cut)
    }
}

/// The payload, with the bodies of a streamed response put together to one: without `alt=sse` the
/// service sends a stream as one list.
pub(super) fn joined(payload: &Value) -> Result<Cow<'_, Value>, WireError> {
    let Some(bodies) = payload.as_array().filter(|list| list.iter().any(is_body)) else {
        return Ok(Cow::Borrowed(payload));
    };
    let mut stream = Stream::default();
    let mut events = Vec::new();
    for body in bodies {
        stream.push(body, &mut events)?;
    }
    Ok(Cow::Owned(stream.finish(&mut events)))
}

fn is_body(value: &Value) -> bool {
    let fields = value.as_object();
    fields.is_some_and(|body| {
        ["candidates", "promptFeedback", "usageMetadata", "error"]
            .iter()
            .any(|name| get(body, name).is_some())
    })
}

/// The contents of a whole response body (one for each candidate), of one candidate, one content, or
/// the content that bare parts would have come in.
pub(super) fn contents(payload: &Value) -> Result<Vec<Content<'_>>, WireError> {
    match payload {
        Value::Array(parts) => bare_parts(parts),
        Value::Object(body) if body.contains_key("candidates") => candidates(body),
        Value::Object(content) if content.contains_key("parts") => lone_content(content),
        Value::Object(content) if content.get("role").is_some_and(|role| role == "model") => {
            lone_content(content)
        }
        Value::Object(_) if WireCall::of(payload).is_some() => {
            Ok(vec![Content::whole(None, std::slice::from_ref(payload))])
        }
        Value::Object(one) if is_candidate(one) => Ok(vec![candidate(one, "")?]),
        Value::Object(body) => Err(no_content("candidates[0].content", reported_error(body))),
        _ => Err(WireError::new("", "a response, a content or a part")),
    }
}

/// Messages of other APIs have a `content`, too, but it is no object.
fn is_candidate(fields: &Fields) -> bool {
    get(fields, "content").is_some_and(Value::is_object) || get(fields, "finishReason").is_some()
}

fn bare_parts(parts: &[Value]) -> Result<Vec<Content<'_>>, WireError> {
    let is_text = |part: &Value| part.get("text").is_some() && part.get("type").is_none();
    match parts {
        [] => Ok(Vec::new()),
        // One call that can be recognised vouches for what stands beside it.
        _ if parts.iter().any(|part| WireCall::of(part).is_some()) || parts.iter().all(is_text) => {
            Ok(vec![Content::whole(None, parts)])
        }
        _ => Err(WireError::new("[0]", "a part with `functionCall`")),
    }
}

/// A candidate that failed is of no interest beside one that did not.
fn candidates(body: &Fields) -> Result<Vec<Content<'_>>, WireError> {
    let mut contents = Vec::new();
    let mut failure = None;
    for (index, one) in list(body, "candidates").iter().enumerate() {
        let path = element("candidates", index);
        let read = match one.as_object() {
            Some(one) => candidate(one, &path),
            None => Err(no_content(&field(&path, "content"), None)),
        };
        match read {
            Ok(content) => contents.push(content),
            Err(error) => {
                failure.get_or_insert(error);
            }
        }
    }
    if contents.is_empty() {
        let reported = reported_error(body).map(|reason| no_content("candidates[0].content", Some(reason)));
        return Err(reported.or(failure).unwrap_or_else(|| no_content("candidates[0].content", None)));
    }
    Ok(contents)
}

/// A content that was given alone. Those of the user look the same; to find no calls in them would
/// hide a mistake.
fn lone_content(content: &Fields) -> Result<Vec<Content<'_>>, WireError> {
    match content.get("role") {
        None | Some(Value::Null) => {}
        Some(role) if role == "model" => {}
        Some(_) => return Err(WireError::new("role", "`model`, which marks contents of the model")),
    }
    Ok(vec![Content::whole(Some(content), parts(content, "")?)])
}

fn candidate<'a>(candidate: &'a Fields, path: &str) -> Result<Content<'a>, WireError> {
    let path = field(path, "content");
    let fields = get(candidate, "content").and_then(Value::as_object);
    let parts = fields.map_or(Ok(&[][..]), |content| parts(content, &path))?;
    let content = Content { fields, parts, is_cut: is_cut(candidate) };
    match failure(candidate, !parts.is_empty(), content.calls().next().is_some()) {
        Some(reason) => Err(no_content(&path, Some(reason))),
        None if fields.is_none() && get(candidate, "finishReason").is_none() => Err(no_content(&path, None)),
        None => Ok(content),
    }
}

fn parts<'a>(content: &'a Fields, path: &str) -> Result<&'a [Value], WireError> {
    match content.get("parts") {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(parts)) => Ok(parts),
        Some(_) => Err(WireError::new(field(path, "parts"), "a list of parts")),
    }
}

/// Whether the model was stopped before it had said all.
pub(super) fn is_cut(candidate: &Fields) -> bool {
    get(candidate, "finishReason").is_some_and(|reason| reason == "MAX_TOKENS")
}

/// Why a candidate is no answer. A model that failed to write a call must not look as if it had asked
/// for none; one that was stopped for another reason has still said what it has said.
pub(super) fn failure(candidate: &Fields, has_parts: bool, has_calls: bool) -> Option<String> {
    let reason = get(candidate, "finishReason").and_then(Value::as_str)?;
    let failed = match reason {
        "STOP" | "MAX_TOKENS" | "FINISH_REASON_UNSPECIFIED" => false,
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => !has_calls,
        _ => !has_parts,
    };
    let message = get(candidate, "finishMessage").and_then(Value::as_str);
    failed.then(|| with_message(format!("the model stopped: {reason}"), message))
}

/// What the service says went wrong: an `error`, or that it blocked the prompt.
pub(super) fn reported_error(body: &Fields) -> Option<String> {
    if let Some(error) = get(body, "error") {
        let text = match error.get("message").unwrap_or(error) {
            Value::String(message) => message.clone(),
            _ => error.to_string(),
        };
        return Some(format!("the service reported an error: {text}"));
    }
    let feedback = get(body, "promptFeedback")?.as_object()?;
    let reason = get(feedback, "blockReason")?.as_str()?;
    let message = get(feedback, "blockReasonMessage").and_then(Value::as_str);
    Some(with_message(format!("the prompt was blocked: {reason}"), message))
}

fn with_message(what: String, message: Option<&str>) -> String {
    message.map_or_else(|| what.clone(), |message| format!("{what}: {message}"))
}

pub(super) fn no_content(path: &str, reason: Option<String>) -> WireError {
    let expected = "a content of the model";
    WireError::new(
        path,
        reason.map_or_else(|| expected.to_owned(), |reason| format!("{expected} ({reason})")),
    )
}
