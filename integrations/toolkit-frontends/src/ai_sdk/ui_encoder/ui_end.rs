//! How a message ends.

use super::UiEncoder;
use crate::ai_sdk::UiChunk;
use serde_json::json;
use toolkit_agent::session::EndReason;
use toolkit_agent::{PendingCall, RunOutput};
use toolkit_core::error::Pending;
use toolkit_llm::{FinishReason, Message};

impl UiEncoder {
    pub(super) fn waiting(&mut self, pending: &[PendingCall], output: &RunOutput, chunks: &mut Vec<UiChunk>) {
        self.step.end_message(chunks);
        for PendingCall { id, call, reason, .. } in pending {
            let known = self.calls.entry(id.clone()).or_default();
            if !known.is_complete {
                known.tool.clone_from(&call.name);
                known.arguments = call.arguments.as_str().to_owned();
            }
            if let Pending::Approval { reason, .. } = reason
                && !known.waits
            {
                known.waits = true;
                self.complete_call(id, chunks);
                chunks.push(UiChunk::ToolApprovalRequest {
                    approval_id: id.as_str().into(),
                    tool_call_id: id.as_str().into(),
                    reason: reason.clone(),
                });
            } else {
                self.complete_call(id, chunks);
            }
        }
        self.end.push(self.finished(output, "tool-calls"));
    }

    pub(super) fn finished(&self, output: &RunOutput, reason: &str) -> UiChunk {
        let tokens = &output.attempt.usage;
        let usage = json!({"inputTokens": tokens.input_tokens, "outputTokens": tokens.output_tokens});
        let message_metadata = json!({"run": self.run, "agent": output.agent, "usage": usage});
        UiChunk::Finish { finish_reason: reason.to_owned(), message_metadata }
    }
}

/// Returns whether an agent has written this text in a run.
pub(super) fn has_text(output: &RunOutput, text: &str) -> bool {
    text.is_empty()
        || output
            .messages
            .iter()
            .any(|message| matches!(message, Message::Assistant(said) if said.text == text))
}

/// Returns the protocol's word for the end of an answer.
pub(super) fn reason(finish: &FinishReason) -> &'static str {
    match finish {
        FinishReason::Stop => "stop",
        FinishReason::Length => "length",
        FinishReason::Refused => "content-filter",
        FinishReason::ToolCalls => "tool-calls",
        _ => "other",
    }
}

/// Returns the chunk that ends a run without an answer.
pub(super) fn stopped(reason: &EndReason) -> UiChunk {
    match reason {
        EndReason::Cancelled | EndReason::Dropped => UiChunk::Abort { reason: "stopped".to_owned() },
        // Its message is for the program, and may have what users must not read.
        EndReason::Failed { kind, .. } => UiChunk::Error {
            error_text: format!("The answer could not be finished ({kind}). Try again later."),
        },
        _ => UiChunk::Abort { reason: "ended".to_owned() },
    }
}
