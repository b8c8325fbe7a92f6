//! The functions that start a run: an agent answers in a conversation.

use crate::agent::{Agent, Run};
use crate::conversation::{Conversation, Stop};
use crate::error::{AgentError, RunError};
use crate::event::RunEvent;
use crate::helpers::BoxFuture;
use crate::options::RunOptions;
use crate::output::RunOutput;
use crate::pending::Decisions;
use crate::session::{Sessions, StoreError};
use crate::span::in_current;
use futures_core::Stream;
use std::future::poll_fn;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use toolkit_llm::UserMessage;

impl Agent {
    /// Answers `input` in a new conversation.
    ///
    /// # Errors
    /// [`RunError`] if the agent has no answer.
    pub async fn run(&self, input: impl Into<UserMessage>) -> Result<RunOutput, RunError> {
        self.run_in(&mut Conversation::default(), input).await
    }

    /// Answers `input` in a conversation, and adds the new messages to the conversation.
    ///
    /// If the returned future is dropped, the run stops, and the conversation can still be continued.
    ///
    /// # Errors
    /// [`RunError`] if the agent has no answer.
    pub async fn run_in(
        &self,
        conversation: &mut Conversation,
        input: impl Into<UserMessage>,
    ) -> Result<RunOutput, RunError> {
        self.run_with(conversation, input, RunOptions::default()).await
    }

    /// Answers `input` in a conversation, with the given options.
    ///
    /// # Errors
    /// [`RunError`] if the agent has no answer.
    pub async fn run_with(
        &self,
        conversation: &mut Conversation,
        input: impl Into<UserMessage>,
        options: RunOptions,
    ) -> Result<RunOutput, RunError> {
        self.execute(conversation, Some(input.into()), Run::new(self.clone(), options, None)).await
    }

    /// Continues a conversation that has no answer yet, for example after a crash, an error, a cancelled run
    /// or an [interruption](AgentError::Interrupted).
    ///
    /// After a crash, a call without a saved result runs again only if its tool is marked as idempotent, or as read-only
    /// and not as non-idempotent. An agent called as a tool continues from its saved conversation. For any other call, the
    /// model reads that it may have run. After a cancelled run or a failed save, it reads which calls were stopped.
    ///
    /// If the conversation already has an answer, returns this answer again and changes nothing.
    ///
    /// # Errors
    /// [`RunError`] if the agent has no answer. The error is [`AgentError::Interrupted`] if calls are still
    /// pending, and [`AgentError::InvalidDecision`] if a decision does not fit a pending call, or if the run was
    /// not interrupted when the conversation was saved.
    pub async fn resume(
        &self,
        conversation: &mut Conversation,
        options: RunOptions,
    ) -> Result<RunOutput, RunError> {
        self.execute(conversation, None, Run::new(self.clone(), options, None)).await
    }

    /// Answers `input` in a new conversation, and returns the events of the run as a stream.
    #[must_use]
    pub fn run_stream(&self, input: impl Into<UserMessage>) -> RunStream<'static> {
        let input = Some(input.into());
        self.stream(RunOptions::default(), |agent, run| async move {
            agent.execute(&mut Conversation::default(), input, run).await
        })
    }

    /// Answers `input` in a conversation, and returns the events of the run as a stream.
    #[must_use]
    pub fn run_stream_in<'a>(
        &self,
        conversation: &'a mut Conversation,
        input: impl Into<UserMessage>,
        options: RunOptions,
    ) -> RunStream<'a> {
        let input = Some(input.into());
        self.stream(options, |agent, run| async move { agent.execute(conversation, input, run).await })
    }

    /// Continues a conversation that has no answer yet, and returns the events of the run as a stream. See
    /// [`resume`](Self::resume).
    #[must_use]
    pub fn resume_stream<'a>(
        &self,
        conversation: &'a mut Conversation,
        options: RunOptions,
    ) -> RunStream<'a> {
        self.stream(options, |agent, run| async move { agent.execute(conversation, None, run).await })
    }

    pub(crate) fn stream<'a, F>(
        &self,
        options: RunOptions,
        execute: impl FnOnce(Self, Run) -> F,
    ) -> RunStream<'a>
    where
        F: Future<Output = Result<RunOutput, RunError>> + Send + 'a,
    {
        let (sender, events) = unbounded_channel();
        let run = Run::new(self.clone(), options, Some(sender));
        // The stream may be polled by a task with another current span.
        let work = in_current(execute(self.clone(), run));
        RunStream { run: Some(Box::pin(work)), events, result: None }
    }

    /// Begins a run with `input`, or continues the latest run if `input` is `None`. Returns the output of the
    /// run.
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
            Some(input) => conversation.begin_run(input, run.0.answers_only),
            None => {
                if run.is_outermost() {
                    check_resumed(&run.0.place.decisions, conversation)?;
                }
                match conversation.continue_run() {
                    ControlFlow::Continue(spent) if run.is_outermost() => run.0.budget.set_earlier(spent),
                    ControlFlow::Continue(_) => {}
                    ControlFlow::Break(output) => {
                        // Save again, because the last save may have failed.
                        run.0.budget.set_earlier(conversation.spent());
                        run.save(conversation).await?;
                        return Ok(output);
                    }
                }
            }
        }
        // The run may have stopped while it repeated an invalid answer. Then it continues without tool calls.
        let repetition = conversation.is_repetition().then(|| run.for_answers_only());
        let run = repetition.as_ref().unwrap_or(run);
        let mut working = Working::new(conversation, run);
        let output = match run.save(working.conversation).await {
            Ok(()) if working.conversation.has_answered() => Ok(()),
            Ok(()) => self.join_run(working.conversation, run).await.map(drop),
            Err(error) => Err(error),
        };
        working.is_dropped = false;
        drop(working);
        // An agent may have replaced the conversation with another one.
        run.connect(conversation);
        conversation.set_spent(run.0.budget.sum());
        let output = match output {
            Ok(()) => Ok(conversation.end_run()),
            Err(AgentError::Interrupted { .. }) => {
                conversation.stop_run(Stop::Interrupted);
                Err(AgentError::Interrupted { pending: conversation.pending() })
            }
            Err(error) => {
                // The program of before can continue the turn.
                let is_kept = matches!(error, AgentError::TeamChanged(_));
                conversation.stop_run(if is_kept { Stop::Dropped } else { Stop::Failed });
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

/// A run that works on a conversation. If its future is dropped, the conversation notes that the run has stopped, so
/// that pending calls can be decided.
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
            self.conversation.stop_run(Stop::Dropped);
            if self.run.is_outermost() {
                self.run.save_dropped(self.conversation);
            }
        }
    }
}

/// Checks that a conversation can be resumed with these decisions.
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

impl Sessions {
    /// Answers `input` with `agent` in the conversation `id` of a user. Creates the conversation if the store
    /// does not contain it. Saves the conversation [during the run](RunOptions::with_autosave).
    ///
    /// # Errors
    /// [`RunError`] if the agent has no answer, or if the conversation cannot be read or saved.
    pub async fn run(
        &self,
        agent: &Agent,
        user: &str,
        id: &str,
        input: impl Into<UserMessage>,
    ) -> Result<RunOutput, RunError> {
        let mut conversation = self.open(user, id).await?;
        agent.run_with(&mut conversation, input, RunOptions::new().with_autosave(self)).await
    }

    /// Ends the unfinished run of a saved conversation without an answer. See [`Conversation::abandon`].
    ///
    /// # Errors
    /// [`StoreError`](crate::session::StoreError) if the conversation cannot be read or saved.
    pub async fn abandon(&self, user: &str, id: &str) -> Result<(), StoreError> {
        let mut conversation = self.open(user, id).await?;
        conversation.abandon();
        self.save(&mut conversation).await
    }

    /// Continues a saved conversation that has no answer yet, for example after a crash.
    ///
    /// # Errors
    /// [`RunError`] if the agent has no answer, or if the conversation cannot be read or saved.
    pub async fn resume(&self, agent: &Agent, user: &str, id: &str) -> Result<RunOutput, RunError> {
        self.resume_with(agent, user, id, RunOptions::default()).await
    }

    /// Continues a saved conversation that has no answer yet, with the given options. They may contain
    /// [decisions](RunOptions::with_decisions) about pending calls.
    ///
    /// Decisions are accepted after the run was [interrupted](AgentError::Interrupted), and refused while it works:
    /// its other calls may be running. After a crash, resume without decisions first. The run is then interrupted
    /// again, with the same pending calls.
    ///
    /// # Errors
    /// [`RunError`] if the agent has no answer, or if the conversation cannot be read or saved.
    pub async fn resume_with(
        &self,
        agent: &Agent,
        user: &str,
        id: &str,
        options: RunOptions,
    ) -> Result<RunOutput, RunError> {
        let mut conversation = self.open(user, id).await?;
        agent.resume(&mut conversation, options.with_autosave(self)).await
    }

    /// Answers `input` with `agent` in the conversation `id` of a user, and returns the events of the run as
    /// a stream. Creates the conversation if the store does not contain it. The stream is `'static`, so a web
    /// server can send it to a client.
    #[must_use]
    pub fn run_stream(
        &self,
        agent: &Agent,
        user: impl Into<String>,
        id: impl Into<String>,
        input: impl Into<UserMessage>,
    ) -> RunStream<'static> {
        self.stream(agent, (user.into(), id.into()), Some(input.into()), RunOptions::default())
    }

    /// Continues a saved conversation that has no answer yet, and returns the events of the run as a stream.
    #[must_use]
    pub fn resume_stream(
        &self,
        agent: &Agent,
        user: impl Into<String>,
        id: impl Into<String>,
        options: RunOptions,
    ) -> RunStream<'static> {
        self.stream(agent, (user.into(), id.into()), None, options)
    }

    fn stream(
        &self,
        agent: &Agent,
        (user, id): (String, String),
        input: Option<UserMessage>,
        options: RunOptions,
    ) -> RunStream<'static> {
        let sessions = self.clone();
        agent.stream(options.with_autosave(self), |agent, run| async move {
            let mut conversation = sessions.open(&user, &id).await?;
            agent.execute(&mut conversation, input, run).await
        })
    }
}

/// A stream of the events of a run. The last item is [`RunEvent::Finished`] or an error.
///
/// Polling the stream drives the run. Dropping the stream stops the run.
pub struct RunStream<'a> {
    /// The run. `None` after its end.
    run: Option<BoxFuture<'a, Result<RunOutput, RunError>>>,
    events: UnboundedReceiver<RunEvent>,
    /// The result of the run, which the stream yields after all events.
    result: Option<Result<RunOutput, RunError>>,
}

impl RunStream<'_> {
    /// Waits for the next event. Returns `None` after the last event.
    pub async fn next(&mut self) -> Option<Result<RunEvent, RunError>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Waits for the end of the run and returns its output. All events before the end are skipped.
    ///
    /// # Errors
    /// The [`RunError`] of the run, or an error with [`AgentError::Other`] if the stream has already yielded
    /// the end of the run.
    pub async fn finish(mut self) -> Result<RunOutput, RunError> {
        while let Some(event) = self.next().await {
            if let RunEvent::Finished { output } = event? {
                return Ok(*output);
            }
        }
        Err(AgentError::Other("the run has already ended".to_owned()).into())
    }
}

impl Stream for RunStream<'_> {
    type Item = Result<RunEvent, RunError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            // Unlike `poll_recv`, this also returns an event if the task has used up its cooperative budget.
            if let Ok(event) = self.events.try_recv() {
                return Poll::Ready(Some(Ok(event)));
            }
            let Some(run) = &mut self.run else {
                let result = self.result.take();
                return Poll::Ready(
                    result.map(|result| Ok(RunEvent::Finished { output: Box::new(result?) })),
                );
            };
            match run.as_mut().poll(cx) {
                Poll::Ready(result) => {
                    self.run = None;
                    self.result = Some(result);
                }
                // Polling the run may have emitted events.
                Poll::Pending => match self.events.poll_recv(cx) {
                    Poll::Ready(Some(event)) => return Poll::Ready(Some(Ok(event))),
                    _ => return Poll::Pending,
                },
            }
        }
    }
}

debug!(RunStream<'_>, self, "running": self.run.is_some());
