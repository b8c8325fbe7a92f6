//! An agent's final answer in a requested form: how its turns ask for it, and how later requests quote it.

pub(super) use toolkit_llm::model::answer::FinalAnswer;

use super::settings::Settings;
use crate::agent::Run;
use crate::answer::is_blocked;
use crate::error::AgentError;
use std::sync::Arc;
use toolkit_core::{BuildError, Content, ToolRegistry};
use toolkit_llm::FinishReason;
use toolkit_llm::{AssistantMessage, Message, ToolMessage, UserMessage};

/// Creates the state of an agent's final answer. `is_repair` follows an invalid answer.
pub(super) fn final_answer(run: &Run, is_repair: bool) -> FinalAnswer<'_> {
    let format = run.0.answer.as_ref().map(|answer| &*answer.format);
    FinalAnswer::new(format, is_repair && format.is_some() || run.0.answers_only)
}

/// Chooses how the next turn, with these `tools`, asks for the answer.
pub(super) fn begin_turn(
    answer: &mut FinalAnswer<'_>,
    settings: &Settings,
    tools: Arc<ToolRegistry>,
    run: &Run,
) -> Result<(), BuildError> {
    let choice = &settings.tool_config.choice;
    let losses = answer.begin_request(&settings.model, tools, &settings.options, choice)?;
    run.emit_losses(&settings.name, losses);
    if let Some(expected) = &run.0.answer {
        expected.set_source(&settings.name, answer.tool().unwrap_or_default());
    }
    Ok(())
}

/// Checks a text answer. If it is invalid, returns a message that asks for another one.
///
/// # Errors
/// [`AgentError::InvalidOutput`] if the answer is invalid and no attempt is left.
pub(super) fn feedback(
    answer: &mut FinalAnswer<'_>,
    text: &str,
    finish: &FinishReason,
) -> Result<Option<String>, AgentError> {
    if *finish == FinishReason::Refused || is_blocked(finish) {
        return Ok(None);
    }
    let Err(invalid) = answer.check_text(text) else { return Ok(None) };
    if !answer.repeat() {
        return Err(AgentError::InvalidOutput(invalid));
    }
    Ok(Some(answer.feedback(&invalid, finish)))
}

/// Replaces the calls of tools for which `is_quoted` is `true` with their answers as text, and the error of
/// an invalid one with a user message.
pub(super) fn quote_answers(messages: Vec<Message>, is_quoted: impl Fn(&str) -> bool) -> Vec<Message> {
    let is_quoted = |said: &AssistantMessage| said.has_answer() && is_quoted(&said.answer_tool);
    if !messages.iter().any(|message| matches!(message, Message::Assistant(said) if is_quoted(said))) {
        return messages;
    }
    let mut quoted: Vec<Message> = Vec::with_capacity(messages.len());
    let mut errors: Vec<Content> = Vec::new();
    let mut rest = messages.into_iter().peekable();
    while let Some(mut message) = rest.next() {
        if let Message::User(input) = &mut message {
            input.content.splice(..0, errors.drain(..));
        }
        if !errors.is_empty() {
            quoted.push(Message::User(UserMessage::new(errors.drain(..))));
        }
        let said = match message {
            Message::Assistant(said) if is_quoted(&said) => said,
            message => {
                quoted.push(message);
                continue;
            }
        };
        let given = rest.next_if(|next| matches!(next, Message::Tool(_)));
        let (said, given) = quote(said, given, &mut errors);
        quoted.push(Message::Assistant(said));
        quoted.extend(given.map(Message::Tool));
    }
    if !errors.is_empty() {
        quoted.push(Message::User(UserMessage::new(errors)));
    }
    quoted
}

/// Replaces the answers among the calls of `said` with text, and adds their errors to `errors`. Returns the
/// message, and the results of its other calls.
fn quote(
    mut said: AssistantMessage,
    given: Option<Message>,
    errors: &mut Vec<Content>,
) -> (AssistantMessage, Option<ToolMessage>) {
    let mut given = match given {
        Some(Message::Tool(given)) => given,
        _ => ToolMessage::default(),
    };
    let mut results = std::mem::take(&mut given.results).into_iter();
    for call in std::mem::take(&mut said.calls) {
        let result = results.next();
        if !said.is_answer(&call) {
            said.calls.push(call);
            given.results.extend(result);
            continue;
        }
        if !said.text.is_empty() {
            said.text.push_str("\n\n");
        }
        let arguments = call.arguments.as_str();
        said.text.push_str(if arguments.trim().is_empty() { "{}" } else { arguments });
        if let Some(result) = result.filter(|result| result.outcome.is_err()) {
            errors.push(Content::Text(format!("The answer was not accepted: {}", result.to_text())));
        }
    }
    said.native = None;
    said.answer_tool.clear();
    let has_results = !given.results.is_empty();
    (said, has_results.then_some(given))
}
