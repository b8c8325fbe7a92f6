//! The stream of a run's events.

use crate::error::AgentError;
use crate::event::{RunEvent, RunOutput};
use futures_core::Stream;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc::UnboundedReceiver;

type BoxRun<'a> = Pin<Box<dyn Future<Output = Result<RunOutput, AgentError>> + Send + 'a>>;

/// The events of a run, as they happen. The last item is [`RunEvent::Finished`] or an error.
///
/// Polling the stream drives the run; dropping it stops the run.
pub struct RunStream<'a> {
    /// `None` after the end of the run.
    run: Option<BoxRun<'a>>,
    events: UnboundedReceiver<RunEvent>,
    /// The result of the run, yielded after all events.
    result: Option<Result<RunOutput, AgentError>>,
}

impl<'a> RunStream<'a> {
    pub(crate) fn new(run: BoxRun<'a>, events: UnboundedReceiver<RunEvent>) -> Self {
        Self { run: Some(run), events, result: None }
    }

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

impl fmt::Debug for RunStream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunStream").field("running", &self.run.is_some()).finish()
    }
}
