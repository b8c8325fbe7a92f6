//! Writes the results of calls to tools defined by the provider and run by the program.

use super::super::FACTS;
use super::message;
use crate::fields::{Fields, set, text};
use crate::media::address;
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::error::ErrorKind;
use toolkit_core::output::{Content, ToolOutput};

/// Returns the JSON value of an output that consists of a single JSON value. Returns `None` for other outputs.
fn only_json(output: &ToolOutput) -> Option<Value> {
    match output.content() {
        [Content::Json(json)] => serde_json::from_str(json.as_str()).ok(),
        _ => None,
    }
}

/// Writes the output of each command. A tool may return JSON in the provider's form: a list of objects
/// `{stdout, stderr, outcome}`, a single such object, or an object with the list in its field `output`.
/// Instead of `outcome`, an object may have the field `exit_code`. Any other output becomes the standard
/// output of a command with exit code 0.
pub(super) fn write_shell(item: &mut Fields, result: &ToolResult) -> Option<String> {
    let exit = |code: Value| json!({"type": "exit", "exit_code": code});
    let run = |stdout: &str, stderr: &str, outcome: Value| json!({"stdout": stdout, "stderr": stderr, "outcome": outcome});
    let of_json = |value: &Value| {
        let code = value.get("exit_code").filter(|code| code.is_i64()).cloned();
        let outcome = value.get("outcome").filter(|outcome| outcome.is_object()).cloned();
        let is_run =
            ["stdout", "stderr", "outcome", "exit_code"].iter().any(|name| value.get(name).is_some());
        let outcome = outcome.unwrap_or_else(|| exit(code.unwrap_or_else(|| 0.into())));
        is_run.then(|| run(text(value, "stdout"), text(value, "stderr"), outcome))
    };
    let runs = match &result.outcome {
        Ok(output) => {
            let listed = only_json(output).and_then(|json| match json.get("output").unwrap_or(&json) {
                Value::Array(list) => list.iter().map(of_json).collect(),
                one => of_json(one).map(|run| vec![run]),
            });
            listed.unwrap_or_else(|| vec![run(&message(result), "", exit(0.into()))])
        }
        Err(error) => {
            let timed_out = error.kind() == ErrorKind::TimedOut;
            let outcome = if timed_out { json!({"type": "timeout"}) } else { exit(1.into()) };
            vec![run("", error.message(), outcome)]
        }
    };
    set(item, "output", runs);
    None
}

/// Writes the screenshot, which is the last image of the output. All safety checks of the call count as
/// acknowledged if the tool succeeds, because the tool has received them as arguments.
pub(super) fn write_computer(item: &mut Fields, result: &ToolResult) -> Option<String> {
    let contents = result.outcome.as_ref().map_or(&[][..], ToolOutput::content);
    let is_screenshot = |json: &Value| text(json, "type") == "computer_screenshot";
    let shot = contents.iter().rev().find_map(|content| match content {
        Content::Image(media) => Some(json!({"type": "computer_screenshot", "image_url": address(media)})),
        Content::Json(json) => serde_json::from_str(json.as_str()).ok().filter(is_screenshot),
        _ => None,
    });
    let has_shot = shot.is_some();
    set(item, "output", shot.unwrap_or_else(|| json!({"type": "computer_screenshot"})));
    if let Some(checks) =
        result.extras.get(FACTS.name, "pending_safety_checks").filter(|_| !result.is_error())
    {
        set(item, "acknowledged_safety_checks", checks.clone());
    }
    match &result.outcome {
        Err(error) => Some(error.message().to_owned()),
        Ok(_) if !has_shot => Some(message(result)),
        Ok(output) => {
            let texts =
                contents.iter().filter(|content| matches!(content, Content::Text(_))).map(Content::to_text);
            let message = Some(output.message().into())
                .filter(|message: &std::borrow::Cow<'_, str>| !message.is_empty());
            Some(texts.chain(message).collect::<Vec<_>>().join("\n"))
        }
    }
}

/// Writes the answer to a request for approval. Only `true`, or an object with `approve: true`, approves the
/// call. An object may also have a `reason`. An output other than a boolean or an object becomes the reason
/// for the refusal.
pub(super) fn write_approval(item: &mut Fields, result: &ToolResult) -> Option<String> {
    let answer_text = message(result);
    let answer = result.output().and_then(|_| serde_json::from_str::<Value>(&answer_text).ok());
    let (approve, reason) = match &answer {
        Some(Value::Bool(approve)) => (*approve, ""),
        Some(object @ Value::Object(_)) => {
            (object.get("approve") == Some(&Value::Bool(true)), text(object, "reason"))
        }
        _ => (false, answer_text.as_str()),
    };
    set(item, "approve", approve);
    if !reason.is_empty() {
        set(item, "reason", reason);
    }
    None
}

/// Writes the found tools. The output of `discover_tools` lists the tools with names, descriptions and
/// parameters. A tool with a `type` is already in the provider's own JSON, and stays unchanged.
pub(super) fn write_found(item: &mut Fields, result: &ToolResult) -> Option<String> {
    let found = result.output().and_then(only_json);
    let as_tool = |found: &Value| match found.get("type") {
        Some(_) => found.clone(),
        None => json!({
            "type": "function",
            "name": text(found, "name"),
            "description": text(found, "description"),
            "parameters": found.get("parameters").cloned().unwrap_or_else(|| json!({"type": "object", "properties": {}})),
            "strict": false,
            "defer_loading": true,
        }),
    };
    let is_tool = |found: &&Value| {
        found.get("type").is_some()
            || found.get("deferred").is_none_or(|deferred| *deferred == Value::Bool(true))
    };
    let tools = found.as_ref().and_then(Value::as_array);
    let listed = tools.map(|tools| tools.iter().filter(is_tool).map(as_tool).collect::<Vec<Value>>());
    let is_listed = listed.is_some();
    set(item, "execution", "client");
    set(item, "status", "completed");
    set(item, "tools", listed.unwrap_or_default());
    (!is_listed).then(|| message(result))
}
