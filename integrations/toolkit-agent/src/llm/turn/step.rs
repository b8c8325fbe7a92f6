//! The next step after a complete turn.

use crate::conversation::Turn;
use crate::llm::answer::FinalAnswer;
use toolkit_core::ToolResult;
use toolkit_core::context::ToolActions;
use toolkit_llm::FinishReason;

#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// The results go back to the model.
    Ask,
    /// The provider has paused the turn, and continues it in the next one.
    Continue,
    /// The turn gives an answer to be checked.
    Answer {
        text: String,
        finish: FinishReason,
        /// Whether the answer is the arguments of a call, which were checked.
        is_accepted: bool,
    },
    /// The calls give no valid answer. The model answers again.
    Repair {
        invalid: String,
        /// Whether the message contains an answer, which is withheld.
        has_answer: bool,
    },
    Transfer {
        to: String,
        /// What is wrong with an answer beside the transfer.
        invalid: Option<String>,
        /// Whether the message contains an answer, which is withheld.
        has_answer: bool,
    },
}

/// Returns the step after a turn with all results.
pub(super) fn next_step(turn: &Turn, answer: &FinalAnswer<'_>) -> Step {
    let message = turn.message();
    let results = turn.results();
    let finish = turn.end().map(|end| end.finish.clone()).unwrap_or(FinishReason::ToolCalls);
    let ToolActions { transfer_to_agent, skip_summarization, .. } = ToolResult::merged_actions(results);
    let accepted = answer.accepted(&message.calls, results);
    let is_accepted = accepted.is_some();
    let is_text = results.is_empty();
    let is_paused = is_text && finish.is_paused();
    let is_answer = is_accepted || skip_summarization || (is_text && !is_paused);
    let invalid = answer.invalid(&message.calls, results).filter(|_| !is_answer);
    let calls_answer_tool = message.calls.iter().any(|call| answer.is_in(call));
    if let Some(to) = transfer_to_agent {
        let has_answer = is_accepted || skip_summarization || (invalid.is_some() && calls_answer_tool);
        return Step::Transfer { to, invalid, has_answer };
    }
    if let Some(invalid) = invalid {
        return Step::Repair { invalid, has_answer: calls_answer_tool };
    }
    if !is_answer {
        return if is_paused { Step::Continue } else { Step::Ask };
    }
    let text = match accepted {
        Some(text) => text,
        None if is_text => message.text.clone(),
        None => results.iter().map(ToolResult::to_text).collect::<Vec<_>>().join("\n"),
    };
    Step::Answer { text, finish, is_accepted }
}
