//! What remains of a turn after the verdict about its answer.

use serde_json::Value;
use toolkit_core::{ErrorKind, ToolError, ToolOutput, ToolResult};
use toolkit_llm::AssistantMessage;

/// Returns whether all calls of a message give an answer.
pub(super) fn is_answer_call_only(message: &AssistantMessage) -> bool {
    message.calls.iter().all(|call| message.is_answer(call))
}

/// Removes the answer of a turn. Other calls stay, and so does the text of a message with other calls only.
///
/// - A text answer is removed. Text before a pause stays, because the turn is not finished.
/// - Arguments that are the answer become empty. The errors of invalid answers stay.
/// - A tool's output that is the answer becomes an error.
pub(super) fn withhold(message: &mut AssistantMessage, results: &mut [ToolResult]) {
    if message.calls.is_empty() && !message.paused {
        message.text.clear();
        drop_draft(message);
    }
    if message.has_answer() {
        for (call, result) in message.calls.iter().zip(results.iter_mut()) {
            if message.is_answer(call) && result.outcome.is_ok() {
                result.outcome = Err(ToolError::cancelled(&call.name));
            }
        }
        replace_calls(message, "{}", |_| true);
    }
    withhold_outputs(results);
}

/// Returns the index of the accepted call, if something unchecked is beside it: other answers, or text of
/// the message, also before a pause.
pub(crate) fn accepted_alongside(
    message: &AssistantMessage,
    results: &[ToolResult],
    was_paused: bool,
) -> Option<usize> {
    let accepted = accepted_call(message, results)?;
    let answers = message.calls.iter().filter(|call| message.is_answer(call)).count();
    let is_alone = answers <= 1 && message.text.is_empty() && !was_paused;
    if is_alone { None } else { Some(accepted) }
}

fn accepted_call(message: &AssistantMessage, results: &[ToolResult]) -> Option<usize> {
    for result in results {
        if let Some(call) = message.calls.get(result.position)
            && message.is_answer(call)
            && result.outcome.is_ok()
        {
            return Some(result.position);
        }
    }
    None
}

/// Removes everything unchecked beside the accepted answer.
pub(super) fn withhold_alongside(message: &mut AssistantMessage, results: &[ToolResult], was_paused: bool) {
    if let Some(accepted) = accepted_alongside(message, results, was_paused) {
        replace_calls(message, "{}", |index| index != accepted);
    }
}

/// Replaces the answer with `text`: the text of the message, the arguments of a call, or the output of a
/// tool.
pub(super) fn replace_answer(message: &mut AssistantMessage, results: &mut [ToolResult], text: &str) {
    if message.calls.is_empty() {
        text.clone_into(&mut message.text);
        drop_draft(message);
    } else if message.has_answer() {
        let is_object = serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object());
        replace_calls(message, if is_object { text } else { "{}" }, |_| true);
        withhold_outputs(results);
    } else {
        let mut texts = Some(text);
        for result in results {
            result.outcome = Ok(ToolOutput::text(texts.take().unwrap_or_default()));
        }
    }
}

fn withhold_outputs(results: &mut [ToolResult]) {
    for result in results.iter_mut().filter(|result| result.actions.skip_summarization) {
        let text = format!("The output of tool `{}` was withheld", result.name);
        result.outcome = Err(ToolError::new(ErrorKind::Denied, text));
    }
}

/// Replaces the arguments of answers at indexes that `is_selected` accepts, and removes the text of the
/// message.
fn replace_calls(message: &mut AssistantMessage, arguments: &str, is_selected: impl Fn(usize) -> bool) {
    let tool = std::mem::take(&mut message.answer_tool);
    for (index, call) in message.calls.iter_mut().enumerate() {
        if call.name == tool && is_selected(index) {
            call.arguments = arguments.into();
        }
    }
    message.answer_tool = tool;
    message.text.clear();
    drop_draft(message);
}

/// Removes the reasoning and the native form of a message, because both may contain the removed answer.
fn drop_draft(message: &mut AssistantMessage) {
    message.reasoning.clear();
    message.drop_native();
}
