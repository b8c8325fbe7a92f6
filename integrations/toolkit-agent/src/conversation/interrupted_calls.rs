//! Interrupted calls: the results of calls whose turn ends before they have one.

use super::State;
use toolkit_core::error::Pending;
use toolkit_core::{ErrorKind, ToolCall, ToolError, ToolResult};
use toolkit_llm::Message;

/// The maximum characters of arguments and outputs in the description of calls.
const MAX_CHARS: usize = 200;

/// Creates the error for a call that was started before the program stopped, and may have run.
pub(crate) fn unknown(call: &ToolCall) -> ToolError {
    let text = format!(
        "Tool `{}` was started, but the program stopped before it had a result. It may have run; find out before \
         calling it again",
        call.name
    );
    ToolError::new(ErrorKind::Cancelled, text)
}

/// Creates the error for a call that was not started.
pub(super) fn not_started(call: &ToolCall) -> ToolError {
    let text = format!("Tool `{}` was not run: the run stopped before the call began", call.name);
    ToolError::new(ErrorKind::Cancelled, text)
}

/// Creates the error for a call whose turn ends before it has a result. `pending` is why it waits, and
/// `called` the conversation of an agent called as a tool.
pub(super) fn interrupted(call: &ToolCall, pending: Option<&Pending>, called: Option<State>) -> ToolError {
    let name = &call.name;
    let text = match (pending, called.map(describe_calls)) {
        (_, Some(calls)) if !calls.is_empty() => format!(
            "Tool `{name}` was started, but the program stopped before it had a result. Consider what it has done \
             before calling it again:{calls}"
        ),
        (Some(Pending::Approval { .. }), _) => {
            format!("Tool `{name}` was not run: its approval was not decided")
        }
        (Some(Pending::Question { .. }), _) => format!("The question of tool `{name}` was not answered"),
        (Some(_), None) => format!(
            "Tool `{name}` has started work that may continue elsewhere, and its result is not known. Find out before \
             calling it again"
        ),
        (_, _) => return unknown(call),
    };
    ToolError::new(ErrorKind::Cancelled, text)
}

/// Returns whether an agent called as a tool cannot continue after this error: the tool is gone, or refuses
/// the call.
pub(crate) fn is_final(error: &ToolError) -> bool {
    use ErrorKind::{Denied, Disabled, InvalidArguments, InvalidJson, NotFound};
    matches!(error.kind(), NotFound | Disabled | Denied | InvalidArguments | InvalidJson)
}

/// Adds the calls of an agent called as a tool to the error after which it cannot continue.
pub(crate) fn describe_interrupted(error: &ToolError, called: State) -> ToolError {
    match describe_calls(called) {
        calls if calls.is_empty() => error.clone(),
        calls => {
            let text = format!(
                "{}\nThe call was started before the run stopped. Consider what it has done before calling it again:{calls}",
                error.message()
            );
            ToolError::new(error.kind(), text)
        }
    }
}

/// Returns a line for each call of an agent called as a tool.
fn describe_calls(mut called: State) -> String {
    called.give_up_work(0);
    let mut lines = String::new();
    let mut calls = &[][..];
    for message in called.history.messages.iter() {
        match message {
            Message::Assistant(said) => calls = &said.calls,
            Message::Tool(given) => {
                for (call, result) in calls.iter().zip(&given.results) {
                    lines.push_str(&line(call, result));
                }
            }
            _ => {}
        }
    }
    lines
}

fn line(call: &ToolCall, result: &ToolResult) -> String {
    let arguments = shortened(call.arguments.as_str());
    let end = match &result.outcome {
        // May describe the calls of another agent.
        Err(error) => error.to_string().replace('\n', "\n  "),
        Ok(_) => format!("finished with {}", shortened(&result.to_text())),
    };
    format!("\n- `{}` with {arguments}: {end}", call.name)
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
