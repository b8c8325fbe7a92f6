//! Calls that must not run.

use super::repetitions::Repetitions;
use crate::agent::Run;
use crate::llm::answer::FinalAnswer;
use toolkit_core::{ErrorKind, ToolCall, ToolError};

/// Returns the error of further calls in a message, if the request allowed only one.
pub(super) fn parallel_call_refused() -> ToolError {
    let text = "Only one tool call per message is allowed, and this one was not run. Make it in your next message if \
                it is still needed.";
    ToolError::new(ErrorKind::Denied, text).with_brief("Only one call per message")
}

/// Counts a call for the limits. Returns an error if it exceeds a limit, is repeated too often, or follows
/// an invalid answer in the turn (`is_repair`).
pub(super) fn refusal(
    run: &Run,
    answer: &FinalAnswer<'_>,
    repetitions: &Repetitions,
    call: &ToolCall,
    is_repair: bool,
) -> Option<ToolError> {
    if answer.is_in(call) {
        return None;
    }
    let refusal = answer.refusal(call, is_repair).or_else(|| repetitions.refusal(call));
    if refusal.is_some() || run.0.budget.take_tool_call() {
        return refusal;
    }
    let text = "The limit of tool calls is reached and this one was not run. Answer with what you have.";
    Some(ToolError::new(ErrorKind::Denied, text).with_brief("Too many tool calls"))
}
