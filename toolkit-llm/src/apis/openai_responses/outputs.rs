//! Writes the output of a tool into the result item of each kind of call.
//!
//! [`write`](super::write) writes the fields that all results have.

use super::FACTS;
use crate::facts::media::{IMAGES, MediaKind, MediaRule, MediaTable, Urls, accepted, address, file_name};
use crate::history::results::{output_text, unsendable};
use crate::json::fields::{Fields, is_true, set, text};
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::error::ErrorKind;
use toolkit_core::output::{Content, MediaData, ToolOutput};

/// The accepted media items, from OpenAI's guides to images and files.
pub(super) const MEDIA: MediaTable = MediaTable { messages: ACCEPTED, results: ACCEPTED };

const ACCEPTED: &[MediaRule] = &[
    MediaRule { kind: MediaKind::Image, types: IMAGES, urls: Urls::Any },
    MediaRule { kind: MediaKind::File, types: DOCUMENTS, urls: Urls::Web },
];

const DOCUMENTS: &[&str] = &[
    "application/pdf",
    "text/*",
    "application/json",
    "application/xml",
    "*+json",
    "*+xml",
    "application/yaml",
    "application/toml",
    "application/javascript",
    "application/typescript",
    "application/csv",
    "application/rtf",
    "application/msword",
    "application/vnd.ms-excel",
    "application/vnd.ms-powerpoint",
    "application/vnd.oasis.opendocument.text",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
];

/// Encodes one [`Content`].
///
/// Content without a form in the API becomes text.
pub(super) fn content_part(content: &Content) -> Value {
    media_part(content).unwrap_or_else(|| text_part(&unsendable(content)))
}

pub(super) fn text_part(text: &str) -> Value {
    json!({"type": "input_text", "text": text})
}

/// The form of a result, besides the fields that all results have.
///
/// It is a value, not a function, because the table of calls is also read to publish tools alone.
#[derive(Debug, Clone, Copy)]
pub(super) enum OutputForm {
    Function,
    Custom,
    Text,
    Patched,
    Shell,
    Screenshot,
    Approval,
    Found,
}

impl OutputForm {
    /// Writes the fields of a result.
    ///
    /// Returns the text that they cannot express.
    pub(super) fn write(self, item: &mut Fields, result: &ToolResult) -> Option<String> {
        match self {
            Self::Function => write_function(item, result),
            Self::Custom => write_custom(item, result),
            Self::Text => write_text(item, result),
            Self::Patched => write_patched(item, result),
            Self::Shell => write_shell(item, result),
            Self::Screenshot => write_screenshot(item, result),
            Self::Approval => write_approval(item, result),
            Self::Found => write_found(item, result),
        }
    }
}

fn media_part(content: &Content) -> Option<Value> {
    let (kind, media) = accepted(ACCEPTED, content)?;
    Some(match (kind, &media.data) {
        (MediaKind::Image, _) => {
            json!({"type": "input_image", "detail": "auto", "image_url": address(media)})
        }
        (_, MediaData::Base64(_)) => {
            json!({"type": "input_file", "filename": file_name(media), "file_data": address(media)})
        }
        (_, MediaData::Url(url)) => json!({"type": "input_file", "file_url": url}),
    })
}

/// Returns the text of an output or an error.
///
/// The API has no mark for errors, so only the text reveals them.
fn message(result: &ToolResult) -> String {
    match &result.outcome {
        Ok(output) => output_text(output, unsendable).into_owned(),
        Err(error) => error.message().to_owned(),
    }
}

/// Returns the value of an output that is a single JSON value.
fn only_json(result: &ToolResult) -> Option<Value> {
    match result.output()?.content() {
        [Content::Json(json)] => json.as_str().parse().ok(),
        _ => None,
    }
}

fn contents(result: &ToolResult) -> &[Content] {
    result.outcome.as_ref().map_or(&[], ToolOutput::content)
}

/// Writes the result of a function with `status`, which some compatible servers require.
fn write_function(item: &mut Fields, result: &ToolResult) -> Option<String> {
    set(item, "status", "completed");
    write_custom(item, result)
}

/// Writes an output with media items as a list, and any other as a string.
///
/// Every server accepts strings.
fn write_custom(item: &mut Fields, result: &ToolResult) -> Option<String> {
    let contents = contents(result);
    if !contents.iter().any(|content| media_part(content).is_some()) {
        return write_text(item, result);
    }
    let mut parts: Vec<Value> = contents.iter().map(content_part).collect();
    let message = result.output().map_or("", ToolOutput::message);
    if !message.is_empty() {
        parts.push(text_part(message));
    }
    set(item, "output", parts);
    None
}

fn write_text(item: &mut Fields, result: &ToolResult) -> Option<String> {
    set(item, "output", message(result));
    None
}

fn write_patched(item: &mut Fields, result: &ToolResult) -> Option<String> {
    set(item, "status", if result.is_error() { "failed" } else { "completed" });
    write_text(item, result)
}

/// Writes the output of each command.
///
/// A tool may return the provider's form: `{stdout, stderr, outcome}`, or a list of such objects. `exit_code`
/// may stand for `outcome`. Any other output is the standard output of a command with exit code 0.
fn write_shell(item: &mut Fields, result: &ToolResult) -> Option<String> {
    let listed: Option<Vec<Value>> = match only_json(result) {
        Some(Value::Array(list)) => list.iter().map(read_run).collect(),
        Some(value) => read_run(&value).map(|run| vec![run]),
        None => None,
    };
    let runs = match (listed, &result.outcome) {
        (Some(runs), _) => runs,
        (None, Ok(_)) => vec![run(&message(result), "", exit(&0.into()))],
        (None, Err(error)) if error.kind() == ErrorKind::TimedOut => {
            vec![run("", error.message(), json!({"type": "timeout"}))]
        }
        (None, Err(error)) => vec![run("", error.message(), exit(&1.into()))],
    };
    set(item, "output", runs);
    None
}

/// Reads the output of a command in the provider's form.
fn read_run(value: &Value) -> Option<Value> {
    const FIELDS: [&str; 4] = ["stdout", "stderr", "outcome", "exit_code"];
    if !FIELDS.iter().any(|name| value.get(name).is_some()) {
        return None;
    }
    let outcome = match (value.get("outcome"), value.get("exit_code")) {
        (Some(outcome @ Value::Object(_)), _) => outcome.clone(),
        (_, Some(code)) if code.is_i64() => exit(code),
        _ => exit(&0.into()),
    };
    Some(run(text(value, "stdout"), text(value, "stderr"), outcome))
}

fn run(stdout: &str, stderr: &str, outcome: Value) -> Value {
    json!({"stdout": stdout, "stderr": stderr, "outcome": outcome})
}

fn exit(code: &Value) -> Value {
    json!({"type": "exit", "exit_code": code})
}

/// Writes the screenshot, which is the last image of the output.
///
/// If the tool succeeds, all safety checks of the call count as acknowledged: the tool received them as
/// arguments.
fn write_screenshot(item: &mut Fields, result: &ToolResult) -> Option<String> {
    let shot = screenshot(contents(result));
    let output = if shot.is_some() { result.output() } else { None };
    set(item, "output", shot.unwrap_or_else(|| json!({"type": "computer_screenshot"})));
    if !result.is_error()
        && let Some(checks) = result.extras.get(FACTS.name, "pending_safety_checks")
    {
        set(item, "acknowledged_safety_checks", checks.clone());
    }
    let Some(output) = output else { return Some(message(result)) };
    let texts = output.content().iter().filter(|content| matches!(content, Content::Text(_)));
    let mut lines: Vec<_> = texts.map(Content::to_text).collect();
    lines.push(output.message().into());
    lines.retain(|line| !line.is_empty());
    Some(lines.join("\n"))
}

fn screenshot(contents: &[Content]) -> Option<Value> {
    for content in contents.iter().rev() {
        if let Content::Image(media) = content {
            return Some(json!({"type": "computer_screenshot", "image_url": address(media)}));
        }
        let Content::Json(json) = content else { continue };
        let Ok(value) = json.as_str().parse() else { continue };
        if text(&value, "type") == "computer_screenshot" {
            return Some(value);
        }
    }
    None
}

/// Writes the answer to a request for approval.
///
/// Only `true`, or an object with `approve: true`, approves the call. An object may have a `reason`. Any
/// other output is the reason for the refusal.
fn write_approval(item: &mut Fields, result: &ToolResult) -> Option<String> {
    let answer_text = message(result);
    let answer = serde_json::from_str(&answer_text);
    let (approve, reason) = match &answer {
        _ if result.is_error() => (false, answer_text.as_str()),
        Ok(Value::Bool(approve)) => (*approve, ""),
        Ok(object @ Value::Object(_)) => (is_true(object, "approve"), text(object, "reason")),
        _ => (false, answer_text.as_str()),
    };
    set(item, "approve", approve);
    if !reason.is_empty() {
        set(item, "reason", reason);
    }
    None
}

/// Writes the found tools, which `discover_tools` lists with names, descriptions and parameters.
///
/// A tool with a `type` is already in the provider's JSON, and stays unchanged.
fn write_found(item: &mut Fields, result: &ToolResult) -> Option<String> {
    set(item, "execution", "client");
    set(item, "status", "completed");
    let Some(Value::Array(tools)) = only_json(result) else {
        set(item, "tools", json!([]));
        return Some(message(result));
    };
    set(item, "tools", tools.iter().filter_map(found_tool).collect::<Value>());
    None
}

/// Returns the definition of a tool that is new to the model.
fn found_tool(found: &Value) -> Option<Value> {
    match (found.get("type"), found.get("deferred")) {
        (Some(_), _) => Some(found.clone()),
        (None, Some(deferred)) if deferred != true => None,
        _ => Some(json!({
            "type": "function",
            "name": text(found, "name"),
            "description": text(found, "description"),
            "parameters": found.get("parameters").unwrap_or(&json!({"type": "object", "properties": {}})),
            "strict": false,
            "defer_loading": true,
        })),
    }
}
