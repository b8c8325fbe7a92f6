//! The events of a run as a stream.

use crate::agent::{Agent, Run, Sink};
use crate::error::{AgentError, RunError};
use crate::event::RunEvent;
use crate::helpers::BoxFuture;
use crate::options::RunOptions;
use crate::output::RunOutput;
use crate::span::in_current;
use futures_core::Stream;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// The events of a run, ending with [`RunEvent::Finished`], [`RunEvent::Waiting`] or an error.
///
/// Polling the stream drives the run, and dropping it stops the run.
pub struct RunStream<'a> {
    /// The run, until its end.
    run: Option<BoxFuture<'a, Result<RunOutput, RunError>>>,
    events: UnboundedReceiver<RunEvent>,
    /// The result to yield after all events.
    result: Option<Result<RunOutput, RunError>>,
}

impl<'a> RunStream<'a> {
    /// Creates the stream of a run, which `work` does.
    pub(crate) fn start<F>(agent: &Agent, options: RunOptions, work: impl FnOnce(Run) -> F) -> Self
    where
        F: Future<Output = Result<RunOutput, RunError>> + Send + 'a,
    {
        let (sender, events) = unbounded_channel();
        let run = Run::new(agent.clone(), options, Some(Sink::Stream(sender)));
        // The stream may be polled by a task with another current span.
        let work = in_current(work(run));
        RunStream { run: Some(Box::pin(work)), events, result: None }
    }
}

impl RunStream<'_> {
    /// Waits for the next event. `None` after the last one.
    pub async fn next(&mut self) -> Option<Result<RunEvent, RunError>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Waits for the end of the run and returns its output. Events before it are skipped.
    ///
    /// # Errors
    /// The [`RunError`] of the run, which is [`AgentError::Interrupted`] if calls wait.
    /// [`AgentError::Other`] if the stream has already yielded the end.
    pub async fn finish(mut self) -> Result<RunOutput, RunError> {
        while let Some(event) = self.next().await {
            match event? {
                RunEvent::Finished { output } => return Ok(*output),
                RunEvent::Waiting { pending, output } => {
                    return Err(RunError { error: AgentError::Interrupted { pending }, output });
                }
                _ => {}
            }
        }
        Err(AgentError::Other("the run has already ended".to_owned()).into())
    }
}

impl Stream for RunStream<'_> {
    type Item = Result<RunEvent, RunError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            // Unlike `poll_recv`, this also works after the task has used up its cooperative budget.
            if let Ok(event) = self.events.try_recv() {
                return Poll::Ready(Some(Ok(event)));
            }
            let Some(run) = &mut self.run else {
                return Poll::Ready(self.result.take().map(last));
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

fn last(result: Result<RunOutput, RunError>) -> Result<RunEvent, RunError> {
    match result {
        Ok(output) => Ok(RunEvent::Finished { output: Box::new(output) }),
        Err(RunError { error: AgentError::Interrupted { pending }, output }) => {
            Ok(RunEvent::Waiting { pending, output })
        }
        Err(error) => Err(error),
    }
}

debug!(RunStream<'_>, self, "running": self.run.is_some());
