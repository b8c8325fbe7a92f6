//! How an exchange ends.

use super::AgEncoder;
use crate::ag_ui::AgEvent;
use serde_json::{Value, json};
use std::mem;
use toolkit_agent::session::EndReason;
use toolkit_agent::{PendingCall, RunOutput};
use toolkit_core::error::Pending;

impl AgEncoder {
    pub(super) fn waiting(&mut self, pending: &[PendingCall], output: &RunOutput, events: &mut Vec<AgEvent>) {
        let mut interrupts = Vec::new();
        let mut ids = Vec::new();
        for mut voice in mem::take(&mut self.voices) {
            voice.finish(events);
        }
        for waiting in pending {
            let call = self.calls.entry(waiting.id.clone()).or_default();
            if !call.is_shown {
                call.tool.clone_from(&waiting.call.name);
                call.arguments = waiting.call.arguments.as_str().to_owned();
            }
            self.complete_call(&waiting.id, events);
            ids.push(waiting.id.clone());
            if asks(&waiting.reason) {
                interrupts.push(interrupt(waiting));
            }
        }
        self.end_subagents(&json!({"type": "suspended", "interruptIds": ids}), events);
        self.waits += 1;
        let outcome = if interrupts.is_empty() {
            json!({"type": "success", "pendingToolCallIds": ids})
        } else {
            json!({"type": "interrupt", "interrupts": interrupts})
        };
        self.end = Some(self.finished(outcome, output));
    }

    pub(super) fn finished(&self, outcome: Value, output: &RunOutput) -> AgEvent {
        let tokens = &output.attempt.usage;
        let usage = json!({"inputTokens": tokens.input_tokens, "outputTokens": tokens.output_tokens});
        AgEvent::RunFinished {
            thread_id: self.thread.clone(),
            run_id: self.exchange.clone(),
            outcome,
            usage: json!([usage]),
        }
    }

    pub(super) fn stopped(&self, reason: &EndReason, output: &RunOutput) -> AgEvent {
        match reason {
            // Its message is for the program, and may have what users must not read.
            EndReason::Failed { kind, .. } => AgEvent::RunError {
                message: "The answer could not be finished. Try again later.".to_owned(),
                code: kind.clone(),
            },
            _ => self.finished(json!({"type": "cancelled"}), output),
        }
    }
}

/// Returns whether a call waits for the user, and not for the result of a tool of the page.
fn asks(reason: &Pending) -> bool {
    !matches!(reason, Pending::Deferred { .. })
}

fn interrupt(PendingCall { id, reason, .. }: &PendingCall) -> Value {
    let (kind, message) = match reason {
        Pending::Approval { reason, .. } => ("tool_call", reason.clone()),
        Pending::Question { question, .. } => ("input_required", question.clone()),
        other => ("tool_call", other.to_string()),
    };
    let mut interrupt = json!({"id": id, "reason": kind, "message": message, "toolCallId": id});
    if kind == "tool_call" {
        interrupt["responseSchema"] = json!({
            "type": "object",
            "properties": {
                "approved": {"type": "boolean"},
                "reason": {"type": "string"},
                "editedArgs": {"type": "object"},
            },
            "required": ["approved"],
        });
    }
    interrupt
}
