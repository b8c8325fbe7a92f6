//! The work of a run: an agent answers in a conversation.

use crate::agent::{Agent, Run};
use crate::conversation::{Conversation, InputId};
use crate::error::{AgentError, RunError};
use crate::output::RunOutput;
use crate::pending::Decisions;
use crate::session::EndReason;
use std::ops::ControlFlow;
use std::sync::Arc;
use toolkit_llm::UserMessage;

impl Agent {
    /// Begins a run with `input`, or continues the latest one without it.
    pub(crate) async fn execute(
        &self,
        conversation: &mut Conversation,
        input: Option<UserMessage>,
        run: Run,
    ) -> Result<RunOutput, RunError> {
        let run = run.with_journal(conversation);
        let ended = self.answer(conversation, input, &run).await;
        ended.map_err(|error| RunError::new(error, conversation.latest_run()))
    }

    async fn answer(
        &self,
        conversation: &mut Conversation,
        input: Option<UserMessage>,
        run: &Run,
    ) -> Result<RunOutput, AgentError> {
        match input {
            Some(input) => {
                let id = if run.is_outermost() { run.input_id() } else { InputId::default() };
                conversation.begin_run(input, run.0.answers_only, &id);
            }
            None => {
                if run.is_outermost() {
                    check_resumed(&run.0.place.decisions, conversation)?;
                }
                match conversation.continue_run() {
                    ControlFlow::Continue(spent) if run.is_outermost() => run.0.budget.resume(spent),
                    ControlFlow::Continue(_) => {}
                    ControlFlow::Break(output) => {
                        // Save again, because the last save may have failed.
                        run.save_again(conversation).await?;
                        return Ok(output);
                    }
                }
            }
        }
        // The run may have stopped while it repeated an invalid answer, and continues without tool calls.
        let repetition = conversation.is_repetition().then(|| run.for_answers_only());
        let run = repetition.as_ref().unwrap_or(run);
        let mut working = Working::new(conversation, run);
        let output = match run.save(working.conversation).await {
            Ok(()) if working.conversation.has_answered() => Ok(()),
            Ok(()) => match run.0.budget.check_lost_attempts() {
                Ok(()) => self.join_run(working.conversation, run).await.map(drop),
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        };
        working.is_dropped = false;
        drop(working);
        // An agent may have replaced the conversation.
        run.connect(conversation);
        if run.is_outermost() {
            // Before the end of the run, whose output has it.
            conversation.log_spent(|| run.0.budget.sum_of_run());
        }
        conversation.set_spent(run.0.budget.sum());
        let output = match output {
            Ok(()) => Ok(conversation.end_run()),
            Err(AgentError::Interrupted { .. }) => {
                conversation.stop_run(EndReason::Waiting.into());
                Err(AgentError::Interrupted { pending: conversation.pending() })
            }
            // The owner continues the run once its store works again.
            Err(error @ AgentError::Store(_)) if run.is_owned() => Err(error),
            Err(AgentError::Cancelled) if run.is_owned() && run.is_outermost() => {
                conversation.cancel_run();
                Err(AgentError::Cancelled)
            }
            Err(error) => {
                conversation.stop_run(error.stop());
                Err(error)
            }
        };
        let saved = run.save(conversation).await;
        match output {
            // Calls are only pending once they are saved: the program may know nothing but the store.
            Ok(_) | Err(AgentError::Interrupted { .. }) => saved.and(output),
            Err(error) => Err(error),
        }
    }
}

/// A run that works on a conversation. If its future is dropped, the conversation notes the stop, so that
/// pending calls can be decided.
struct Working<'a> {
    conversation: &'a mut Conversation,
    run: &'a Run,
    is_dropped: bool,
    _running: Arc<()>,
}

impl<'a> Working<'a> {
    fn new(conversation: &'a mut Conversation, run: &'a Run) -> Self {
        let running = conversation.start_run();
        Self { conversation, run, is_dropped: true, _running: running }
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        if self.is_dropped {
            self.run.connect(self.conversation);
            if self.run.is_owned() {
                // The process ends, and the next one takes the run over.
                return;
            }
            self.conversation.stop_run(EndReason::Dropped.into());
            if self.run.is_outermost() {
                self.run.save_dropped(self.conversation);
            }
        }
    }
}

fn check_resumed(decisions: &Decisions, conversation: &Conversation) -> Result<(), AgentError> {
    if conversation.all_messages().is_empty() {
        let text = format!("conversation `{}` is empty; begin it with an input", conversation.id());
        return Err(AgentError::Other(text));
    }
    if !decisions.is_empty() && conversation.may_be_worked_on() {
        // Running calls would lose their results.
        let text = "a run works on this conversation, or its process has died; wait for the end of the run, or resume \
            without decisions to take it over, and decide then";
        return Err(AgentError::InvalidDecision(text.to_owned()));
    }
    decisions.check(&conversation.pending()).map_err(AgentError::InvalidDecision)
}
