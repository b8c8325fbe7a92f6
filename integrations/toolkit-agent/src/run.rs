//! The entry points of a run: one agent answers in one conversation.

use crate::agent::{Agent, AgentOutput, Run};
use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::event::{RunEvent, RunOutput};
use crate::helpers::BoxFuture;
use crate::message::UserMessage;
use crate::options::RunOptions;
use crate::session::Sessions;
use futures_core::Stream;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

impl Agent {
    /// Answers `input` in a new conversation.
    ///
    /// # Errors
    /// [`AgentError`] if there is no answer.
    pub async fn run(&self, input: impl Into<UserMessage>) -> Result<RunOutput, AgentError> {
        self.run_in(&mut Conversation::default(), input).await
    }

    /// Answers `input` in a conversation, and adds the new messages to the conversation.
    ///
    /// If the future is dropped, the run stops, and the conversation can still be continued.
    ///
    /// # Errors
    /// [`AgentError`] if there is no answer.
    pub async fn run_in(
        &self,
        conversation: &mut Conversation,
        input: impl Into<UserMessage>,
    ) -> Result<RunOutput, AgentError> {
        self.run_with(conversation, input, RunOptions::default()).await
    }

    /// Answers `input` in a conversation, with the given options.
    ///
    /// # Errors
    /// [`AgentError`] if there is no answer.
    pub async fn run_with(
        &self,
        conversation: &mut Conversation,
        input: impl Into<UserMessage>,
        options: RunOptions,
    ) -> Result<RunOutput, AgentError> {
        self.execute(conversation, Some(input.into()), Run::new(self.clone(), options, None)).await
    }

    /// Resumes an unanswered conversation, for example after a crash, an error, or a cancelled run.
    ///
    /// # Errors
    /// [`AgentError`] if there is no answer.
    pub async fn resume(
        &self,
        conversation: &mut Conversation,
        options: RunOptions,
    ) -> Result<RunOutput, AgentError> {
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

    /// Resumes an unanswered conversation, and returns the events of the run as a stream.
    #[must_use]
    pub fn resume_stream<'a>(
        &self,
        conversation: &'a mut Conversation,
        options: RunOptions,
    ) -> RunStream<'a> {
        self.stream(options, |agent, run| async move { agent.execute(conversation, None, run).await })
    }

    fn stream<'a, F>(&self, options: RunOptions, execute: impl FnOnce(Self, Run) -> F) -> RunStream<'a>
    where
        F: Future<Output = Result<RunOutput, AgentError>> + Send + 'a,
    {
        let (sender, events) = unbounded_channel();
        let run = Run::new(self.clone(), options, Some(sender));
        RunStream { run: Some(Box::pin(execute(self.clone(), run))), events, result: None }
    }

    /// Completes an unfinished turn, adds the input, runs the agent, and collects the output.
    pub(crate) async fn execute(
        &self,
        conversation: &mut Conversation,
        input: Option<UserMessage>,
        run: Run,
    ) -> Result<RunOutput, AgentError> {
        conversation.settle();
        let begin = conversation.messages().len();
        if let Some(input) = input {
            conversation.push(input);
        }
        let output = match run.save(conversation).await {
            Ok(()) => self.join_run(conversation, &run).await,
            Err(error) => Err(error),
        };
        conversation.settle();
        let saved = run.save(conversation).await;
        let AgentOutput { text, agent, finish, escalate } = output?;
        saved?;
        let messages = conversation.messages_since(begin);
        Ok(RunOutput { text, agent, finish, escalate, messages, ..run.0.budget.sum() })
    }
}

impl Sessions {
    /// Answers `input` with `agent` in a saved conversation. The conversation is saved again during the run.
    ///
    /// # Errors
    /// [`AgentError`] if there is no answer, or the conversation cannot be read or saved.
    pub async fn run(
        &self,
        agent: &Agent,
        user: &str,
        id: &str,
        input: impl Into<UserMessage>,
    ) -> Result<RunOutput, AgentError> {
        let mut conversation = self.open(user, id).await?;
        agent.run_with(&mut conversation, input, RunOptions::new().with_autosave(self)).await
    }

    /// Resumes an unanswered saved conversation, for example after a crash.
    ///
    /// # Errors
    /// [`AgentError`] if there is no answer, or the conversation cannot be read or saved.
    pub async fn resume(&self, agent: &Agent, user: &str, id: &str) -> Result<RunOutput, AgentError> {
        let mut conversation = self.open(user, id).await?;
        agent.resume(&mut conversation, RunOptions::new().with_autosave(self)).await
    }
}

/// A stream of the events of a run. The last item is [`RunEvent::Finished`] or an error.
///
/// Polling the stream drives the run. Dropping the stream stops the run.
pub struct RunStream<'a> {
    /// `None` after the end of the run.
    run: Option<BoxFuture<'a, Result<RunOutput, AgentError>>>,
    events: UnboundedReceiver<RunEvent>,
    /// The result of the run, yielded after all events.
    result: Option<Result<RunOutput, AgentError>>,
}

impl RunStream<'_> {
    /// Waits for the next event. Returns `None` after the last one.
    pub async fn next(&mut self) -> Option<Result<RunEvent, AgentError>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Waits for the end of the run.
    ///
    /// # Errors
    /// The [`AgentError`] of the run.
    pub async fn finish(mut self) -> Result<RunOutput, AgentError> {
        while let Some(event) = self.next().await {
            if let RunEvent::Finished { output } = event? {
                return Ok(*output);
            }
        }
        Err(AgentError::Other("the run has already ended".to_owned()))
    }
}

impl Stream for RunStream<'_> {
    type Item = Result<RunEvent, AgentError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Poll::Ready(Some(event)) = self.events.poll_recv(cx) {
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
