//! The scopes of turns and checks, and the verdicts of guardrails.

use crate::agent::{Caller, Run};
use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::guardrail::{CheckFn, GuardAction, GuardContext, Verdict};
use crate::helpers::guarded_future;
use toolkit_core::middleware::ToolRequest;
use toolkit_core::{Session, ToolCall};
use toolkit_llm::{Message, Messages};

#[derive(Debug, Clone)]
pub(super) enum Checked<T> {
    Passed(T),
    Replaced(T),
    /// The value was blocked, and this text replaces it.
    Blocked(String),
}

#[derive(Clone, Copy)]
pub(super) struct TurnScope<'a> {
    pub(super) run: &'a Run,
    pub(super) agent: &'a str,
    pub(super) session: &'a Session,
}

impl TurnScope<'_> {
    pub(super) fn for_check(self) -> CheckScope {
        let agent = self.agent.to_owned();
        let session = self.session.clone();
        let invocation_id = self.run.invocation_id().to_owned();
        CheckScope {
            run: self.run.clone(),
            context: GuardContext {
                agent,
                session,
                invocation_id,
                call: None,
                messages: Messages::default(),
            },
        }
    }

    /// Emits the latest outputs of tools that are the answer, as their verdict leaves them.
    pub(super) fn emit_outputs(self, conversation: &Conversation) {
        let run = self.run;
        if !run.has_listener() {
            return;
        }
        let Some(Message::Tool(given)) = conversation.messages().last() else { return };
        for result in &given.results {
            if result.actions.skip_summarization {
                run.emit(|| RunEvent::Result {
                    agent: self.agent.to_owned(),
                    key: conversation.path_of_call(result.position).into(),
                    result: Box::new(result.clone()),
                    within: run.within(),
                });
            }
        }
    }

    /// Emits the text of an answer in place of another value, and the last message if it contains the
    /// answer.
    pub(super) fn emit_answer(self, conversation: &Conversation, text: &str) {
        let run = self.run;
        if !run.has_listener() {
            return;
        }
        let message_id = conversation.turn_path().message();
        run.emit(|| RunEvent::Text {
            agent: self.agent.to_owned(),
            message_id: message_id.clone(),
            text: text.to_owned(),
            within: run.within(),
        });
        if let Some(Message::Assistant(message)) = conversation.messages().last() {
            let message = Box::new(message.clone());
            run.emit(|| RunEvent::Message { message_id, message, within: run.within() });
        }
    }
}

#[derive(Clone)]
pub(super) struct CheckScope {
    run: Run,
    context: GuardContext,
}

impl CheckScope {
    /// Creates the scope of a tool call's check. `None` outside of a run.
    pub(super) fn from_call(agent: &str, request: &ToolRequest, call: ToolCall) -> Option<Self> {
        let run = request.context().extension::<Caller>()?.run.clone();
        let session = request.context().run().and_then(|run| run.session()).cloned().unwrap_or_default();
        let agent = agent.to_owned();
        let invocation_id = run.invocation_id().to_owned();
        Some(Self {
            run,
            context: GuardContext {
                agent,
                session,
                invocation_id,
                call: Some(call),
                messages: Messages::default(),
            },
        })
    }

    pub(super) fn within(mut self, conversation: &Conversation) -> Self {
        self.context.messages = conversation.history().clone();
        self
    }

    pub(super) fn about(mut self, call: Option<ToolCall>) -> Self {
        self.context.call = call;
        self
    }

    /// Runs checks in order, until one blocks the value.
    ///
    /// # Errors
    /// [`AgentError::Blocked`] if a check has ended the run, and [`AgentError::Other`] if a check has
    /// panicked.
    pub(super) async fn judge<T: Clone>(
        &self,
        checks: Vec<(String, CheckFn<T>)>,
        mut value: T,
    ) -> Result<Checked<T>, AgentError> {
        let mut is_replaced = false;
        for (guardrail, check) in checks {
            let checked = guarded_future(async { check(value, self.context.clone()).await }).await;
            let verdict;
            (value, verdict) = match checked {
                Ok(checked) => checked,
                Err(panic) => {
                    let error = format!("guardrail `{guardrail}` has panicked: {panic}");
                    return Err(self.run.end(AgentError::Other(error)));
                }
            };
            match verdict {
                Verdict::Pass => {}
                Verdict::Replace(other) => {
                    self.emit(&guardrail, GuardAction::Replaced, "");
                    (value, is_replaced) = (other, true);
                }
                Verdict::Block(text) => {
                    self.emit(&guardrail, GuardAction::Blocked, &text);
                    return Ok(Checked::Blocked(text));
                }
                Verdict::End(reason) => {
                    self.emit(&guardrail, GuardAction::Ended, &reason);
                    let agent = self.context.agent.clone();
                    return Err(self.run.end(AgentError::Blocked { guardrail, agent, reason }));
                }
            }
        }
        Ok(if is_replaced { Checked::Replaced(value) } else { Checked::Passed(value) })
    }

    fn emit(&self, guardrail: &str, action: GuardAction, reason: &str) {
        self.run.emit(|| RunEvent::Guardrail {
            agent: self.context.agent.clone(),
            guardrail: guardrail.to_owned(),
            action,
            reason: reason.to_owned(),
            within: self.run.within(),
        });
    }
}
