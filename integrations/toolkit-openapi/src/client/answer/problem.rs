//! The error of a call that the service has refused or failed.

use super::Answer;
use crate::client::operation::Operation;
use http::StatusCode;
use http::header::HeaderMap;
use serde_json::Value;
use std::time::{Duration, SystemTime};
use toolkit_core::foreign::clean;
use toolkit_core::{ErrorKind, ToolError};
use toolkit_http::client::{is_json, media_type, retry_after};

const FIELDS: usize = 16;

/// The members with the name of a field, and those with its fault.
const NAMES: [&str; 8] = ["field", "name", "param", "property", "pointer", "path", "loc", "source"];
const FAULTS: [&str; 6] = ["message", "msg", "reason", "detail", "description", "code"];

/// The places of the message, and of the faulty fields.
const MESSAGES: [&str; 6] = ["/detail", "/message", "/error/message", "/error_description", "/error", "/msg"];
const LISTS: [&str; 5] = ["/errors", "/error/errors", "/invalid-params", "/violations", "/detail"];

/// The characters of a service's text in a message.
const LONGEST: usize = 500;

fn shorten(text: &str) -> String {
    toolkit_core::foreign::shorten(text.to_owned(), LONGEST)
}

pub(crate) struct Problem<'a> {
    pub(crate) answer: &'a Answer,
    pub(crate) operation: &'a Operation,
}

impl Problem<'_> {
    /// Returns the error for the model: the status, the service's message, and what to do.
    pub(crate) fn error(&self) -> ToolError {
        let Answer { status, headers, .. } = self.answer;
        let json = self.json();
        let fields = json.as_ref().map(fields).unwrap_or_default();
        let mut message = format!("The service has answered {status}");
        if let Some(reason) = self.reason(json.as_ref()) {
            message.push_str(&format!(": {reason}"));
        }
        end_sentence(&mut message);
        if !fields.is_empty() {
            message.push_str(&format!(" Fields: {}.", fields.join("; ")));
        }
        let wait = wait(*status, headers);
        let (kind, status_advice) = self.advice(wait.is_some());
        let advice = match wait {
            Some(wait) => {
                format!("Call again in {} seconds.", wait.as_secs() + u64::from(wait.subsec_nanos() > 0))
            }
            None => status_advice.to_owned(),
        };
        let is_retryable = wait.is_some()
            || *status == StatusCode::TOO_MANY_REQUESTS
            || status.is_server_error() && self.operation.method.is_idempotent();
        ToolError::new(kind, format!("{} {advice}", clean(&message)))
            .with_brief(format!("The service has answered {status}"))
            .with_retryable(is_retryable)
    }

    fn json(&self) -> Option<Value> {
        let is_json = media_type(&self.answer.headers).is_none_or(|media_type| is_json(&media_type));
        self.answer.text().json().filter(|_| is_json)
    }

    /// Returns the service's message, or else the document's description of the status.
    fn reason(&self, json: Option<&Value>) -> Option<String> {
        let mut reason = json.and_then(message).unwrap_or_default();
        if reason.is_empty() && media_type(&self.answer.headers).as_deref() == Some("text/plain") {
            reason = self.answer.text().to_string();
        }
        if reason.trim().is_empty() {
            reason = self.answer.described(self.operation)?.description.clone();
        }
        Some(shorten(reason.trim())).filter(|text| !text.is_empty())
    }

    fn advice(&self, is_limit: bool) -> (ErrorKind, &'static str) {
        let status = self.answer.status.as_u16();
        let kind = match status {
            _ if is_limit => ErrorKind::RateLimited,
            429 => ErrorKind::RateLimited,
            400 | 405..=408 | 411 | 413..=428 => ErrorKind::Retry,
            _ => ErrorKind::Failed,
        };
        let advice = match status {
            401 => {
                "The credentials of the program are missing, wrong or expired; another call will fail as well."
            }
            403 => "The credentials of the program do not allow this; do not repeat the call as it is.",
            404 | 410 => "Check the ids and names in the arguments, or list what exists.",
            409 | 412 => "The call conflicts with the current state: read the state, then call again.",
            429 => "Call again later, and less often.",
            500.. if self.operation.method.is_idempotent() => "The service is in trouble; call again later.",
            500.. => "The service may have done it or not: check before you call again.",
            _ if kind == ErrorKind::Retry => "Correct the arguments and call again.",
            _ => "Do not repeat the call as it is.",
        };
        (kind, advice)
    }
}

fn end_sentence(text: &mut String) {
    if !text.ends_with(['.', '!', '?']) {
        text.push('.');
    }
}

/// Returns how long a rate limit lets the next call wait.
fn wait(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    let is_used_up = number(headers, "x-ratelimit-remaining") == Some(0);
    if status != StatusCode::TOO_MANY_REQUESTS && !(status == StatusCode::FORBIDDEN && is_used_up) {
        return None;
    }
    if let Some(wait) = retry_after(headers) {
        return Some(wait);
    }
    let reset = number(headers, "ratelimit-reset").or_else(|| number(headers, "x-ratelimit-reset"))?;
    // Some services send the time of the reset, others the seconds until then.
    const SECONDS_AT_MOST: u64 = 1_000_000_000;
    if reset < SECONDS_AT_MOST {
        return Some(Duration::from_secs(reset));
    }
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(reset.min(SECONDS_AT_MOST * 100));
    Some(at.duration_since(SystemTime::now()).unwrap_or_default())
}

fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

/// Returns the message in services' forms; `title` and `detail` are those of RFC 9457.
fn message(json: &Value) -> Option<String> {
    let detail = MESSAGES.into_iter().find_map(|pointer| text_at(json, pointer)).or_else(|| json.as_str());
    match (text_at(json, "/title"), detail) {
        (Some(title), Some(detail)) if title != detail => Some(format!("{title}: {detail}")),
        (title, detail) => detail.or(title).map(str::to_owned),
    }
}

fn text_at<'v>(json: &'v Value, pointer: &str) -> Option<&'v str> {
    json.pointer(pointer)?.as_str().filter(|text| !text.trim().is_empty())
}

/// Returns the faulty fields, each with its fault.
fn fields(json: &Value) -> Vec<String> {
    let mut fields = Vec::new();
    for place in LISTS {
        match json.pointer(place) {
            Some(Value::Array(items)) => fields.extend(items.iter().filter_map(fault)),
            // A map of fields to their faults.
            Some(Value::Object(members)) => {
                for (field, faults) in members {
                    let text = texts(faults);
                    if !text.is_empty() {
                        fields.push(format!("`{field}`: {}", shorten(&text)));
                    }
                }
            }
            _ => {}
        }
    }
    fields.truncate(FIELDS);
    fields
}

fn fault(item: &Value) -> Option<String> {
    if let Value::String(text) = item {
        return Some(shorten(text));
    }
    match (first_text(item, &NAMES), first_text(item, &FAULTS)) {
        (Some(name), Some(fault)) => Some(format!("`{}`: {}", shorten(&name), shorten(&fault))),
        (one, other) => one.or(other).map(|text| shorten(&text)),
    }
}

fn first_text(item: &Value, names: &[&str]) -> Option<String> {
    for name in names {
        let text = item.get(name).map(texts).unwrap_or_default();
        if !text.is_empty() {
            return Some(text);
        }
    }
    None
}

/// Returns the texts in a value, such as `["body", "age"]` and `{"pointer": "/age"}`.
fn texts(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Array(items) => items.iter().map(texts).collect::<Vec<_>>().join("."),
        Value::Object(members) => members.values().map(texts).next().unwrap_or_default(),
        _ => String::new(),
    }
}
