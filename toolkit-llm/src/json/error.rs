//! Errors for payloads in the wrong format.

use super::blocked;
use serde_json::{Map, Value};
use std::fmt;

/// Error for a payload in the wrong format. Names the location and the expected value.
///
/// If the provider reported an error or blocked the answer, the error has its [report](Self::report) and
/// [code](Self::code).
///
/// ```
/// use serde_json::json;
/// use toolkit_ai::llm::ApiFormat;
///
/// let body = json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}});
/// let error = ApiFormat::Gemini.parse_response(&body).unwrap_err();
/// assert!(error.is_blocked());
/// assert_eq!(error.code(), Some("PROHIBITED_CONTENT"));
/// assert_eq!(error.report(), Some("the prompt was blocked: PROHIBITED_CONTENT"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct WireError {
    path: String,
    expected: String,
    report: Option<Box<Report>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) text: String,
    /// Empty if the provider sent none.
    pub(crate) code: String,
    pub(crate) is_blocked: bool,
}

impl Report {
    pub(crate) fn new(text: &str) -> Self {
        let text = format!("the service reported an error: {text}");
        Self { text, code: String::new(), is_blocked: false }
    }

    /// Parses an error object. The code is a string if there is one, and a number otherwise.
    pub(crate) fn read(error: &Value) -> Self {
        let text = error_text(error);
        let is_blocked = blocked::is_reported(error, &text);
        Self { code: error_code(error), is_blocked, ..Self::new(&text) }
    }

    pub(crate) fn into_error(self, path: &str, expected: &str) -> WireError {
        let error = WireError::new(path, format!("{expected} ({})", self.text));
        WireError { report: Some(Box::new(self)), ..error }
    }
}

impl WireError {
    /// Creates an error for the location `path`, as in `choices[0].message`.
    #[must_use]
    pub fn new(path: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { path: path.into(), expected: expected.into(), report: None }
    }

    /// Reads the provider's report from the body of a failed HTTP response, or from a message in a string.
    ///
    /// Returns `None` if the body has neither the field `error` nor a message. If the error has no message,
    /// the report is its JSON.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit_ai::llm::WireError;
    ///
    /// let body = json!({"error": {"code": "content_filter", "message": "The response was filtered"}});
    /// let error = WireError::of_failure(&body);
    /// assert!(error.as_ref().is_some_and(WireError::is_blocked));
    /// assert_eq!(error.as_ref().and_then(WireError::code), Some("content_filter"));
    /// ```
    #[must_use]
    pub fn of_failure(body: &Value) -> Option<Self> {
        // For a failed stream, Gemini returns a list with the error.
        let body = body.get(0).unwrap_or(body);
        let error = match body.get("error") {
            Some(error) if !error.is_null() => error,
            _ if body.is_string() || body.get("message").is_some_and(Value::is_string) => body,
            _ => return None,
        };
        Some(Report::read(error).into_error("", "a response"))
    }

    /// Returns the location, as in `choices[0].message`. It is empty for the payload itself.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns a description of the expected value, as in `a list of tools`.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// Returns the provider's report that there is no answer, as in `the prompt was blocked: SAFETY`.
    #[must_use]
    pub fn report(&self) -> Option<&str> {
        let report = self.report.as_ref()?;
        Some(&report.text)
    }

    /// Returns the provider's code, as in `overloaded_error` or `SAFETY`, if it sent one.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        let report = self.report.as_ref()?;
        if report.code.is_empty() { None } else { Some(&report.code) }
    }

    /// Returns whether the provider blocked the prompt or the answer, for example for safety. The same
    /// request is then blocked again.
    ///
    /// Blocks are recognised in the fields of Gemini, and in the errors of OpenAI, Azure, Anthropic, Bedrock,
    /// OpenRouter, xAI, Alibaba and LiteLLM.
    #[must_use]
    pub fn is_blocked(&self) -> bool {
        self.report.as_ref().is_some_and(|report| report.is_blocked)
    }
}

/// Prints the message, so that a failed `main` shows it.
impl fmt::Debug for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "the payload" } else { &self.path };
        write!(f, "expected {} at {place}", self.expected)
    }
}

impl std::error::Error for WireError {}

/// Returns the error in a payload that a provider may have sent instead of an answer.
///
/// Reads the object `{"error": {"message"}}`, an `error` string, or a `message` if the field `type` or
/// `object` has the value `error`.
pub(crate) fn reported_error(fields: &Map<String, Value>) -> Option<Report> {
    let marks = [fields.get("object"), fields.get("type")];
    let is_error = marks.into_iter().flatten().any(|mark| mark == "error");
    // Some servers send an empty error beside the answer.
    let is_beside = !is_error && fields.len() > 1;
    match fields.get("error") {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) if is_beside && text.is_empty() => {}
        Some(Value::Object(members)) if is_beside && members.is_empty() => {}
        Some(error) => return Some(Report::read(error)),
    }
    if is_error && fields.contains_key("message") {
        return Some(Report::read(&Value::Object(fields.clone())));
    }
    None
}

/// Returns the fields of an event, or an error if it is not an object or reports an error in place of
/// `expected`.
pub(crate) fn event_fields<'a>(
    event: &'a Value,
    path: &str,
    expected: &str,
) -> Result<&'a Map<String, Value>, WireError> {
    let Value::Object(fields) = event else { return Err(WireError::new("", "an event of a stream")) };
    match reported_error(fields) {
        Some(report) => Err(report.into_error(path, expected)),
        None => Ok(fields),
    }
}

/// Creates the error for a payload that is not a response, including the provider's `report`.
pub(crate) fn failed(path: &str, expected: &str, report: Option<Report>) -> WireError {
    match report {
        Some(report) => report.into_error(path, expected),
        None => WireError::new(path, expected),
    }
}

fn error_code(error: &Value) -> String {
    for name in ["code", "status", "type"] {
        match error.get(name) {
            // In an error without an object around it, the type only marks the error.
            Some(Value::String(code)) if !matches!(code.trim(), "" | "error") => return code.clone(),
            _ => {}
        }
    }
    for name in ["code", "status"] {
        if let Some(Value::Number(code)) = error.get(name) {
            return code.to_string();
        }
    }
    String::new()
}

pub(crate) fn error_text(error: &Value) -> String {
    match error.get("message").unwrap_or(error) {
        Value::String(message) => message.clone(),
        _ => error.to_string(),
    }
}

/// Refuses a message with another role than `model`. If it counted as a response without calls, a mistake of
/// the caller would stay hidden.
pub(crate) fn check_role(fields: &Map<String, Value>, model: &str, what: &str) -> Result<(), WireError> {
    match fields.get("role") {
        None | Some(Value::Null) => Ok(()),
        Some(role) if role == model => Ok(()),
        Some(_) => Err(WireError::new("role", format!("`{model}`, which marks {what} of the model"))),
    }
}
