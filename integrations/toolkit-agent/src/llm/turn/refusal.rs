//! Calls that must not run.

use super::repetitions::Repetitions;
use crate::agent::Run;
use crate::conversation::{Conversation, EarlierCall};
use crate::llm::answer::FinalAnswer;
use crate::session::date;
use std::time::{Duration, UNIX_EPOCH};
use toolkit_core::__private::target_of;
use toolkit_core::{ErrorKind, ToolCall, ToolError, ToolRegistry};

/// Returns the error of further calls in a message, if the request allowed only one.
pub(super) fn parallel_call_refused() -> ToolError {
    let text = "Only one tool call per message is allowed, and this one was not run. Make it in your next message if \
                it is still needed.";
    ToolError::new(ErrorKind::Denied, text).with_brief("Only one call per message")
}

/// Returns why a call waits for a decision: its tool has earlier calls, which the model does not know, and is
/// not marked as repeatable.
pub(super) fn repeated(
    conversation: &Conversation,
    tools: &ToolRegistry,
    call: &ToolCall,
) -> Option<ToolError> {
    if conversation.earlier_calls().is_empty() {
        return None;
    }
    let tool = tools.get(&target_of(call))?.definition();
    if tool.metadata.is_repeatable() {
        return None;
    }
    let mut calls = String::new();
    for earlier in conversation.earlier_calls() {
        if tools.get(&target_of(&earlier.call)).is_some_and(|known| known.definition().name == tool.name) {
            calls.push_str(&described(earlier));
        }
    }
    if calls.is_empty() {
        return None;
    }
    let reason =
        format!("it may have run before, in a part of the conversation that is no longer here:{calls}");
    Some(ToolError::needs_approval(tool.name.as_str(), reason))
}

fn described(EarlierCall { call, at, .. }: &EarlierCall) -> String {
    let when = match at {
        0 => String::new(),
        at => format!(" at {} UTC", date(UNIX_EPOCH + Duration::from_secs(*at))),
    };
    format!("\n- with {}{when}", call.arguments)
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
