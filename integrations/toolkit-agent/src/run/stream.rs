//! A run that is watched.

use super::RunOutput;
use crate::error::AgentError;
use crate::event::RunEvent;
use futures_core::Stream;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc::UnboundedReceiver;

type Running<'a> = Pin<Box<dyn Future<Output = Result<RunOutput, AgentError>> + Send + 'a>>;

/// What happens in a run, as it happens. The last item is [`RunEvent::Finished`], or the error that the run ended with.
///
/// The run goes on while its stream is asked for more; dropping it stops the run.
pub struct RunStream<'a> {
    /// Until the run has ended.
    run: Option<Running<'a>>,
    events: UnboundedReceiver<RunEvent>,
    /// What it ended with.
    end: Option<Result<RunOutput, AgentError>>,
}

impl<'a> RunStream<'a> {
    pub(crate) fn new(run: Running<'a>, events: UnboundedReceiver<RunEvent>) -> Self {
        Self { run: Some(run), events, end: None }
    }

    /// What happens next; `None` after the end.
    pub async fn next(&mut self) -> Option<Result<RunEvent, AgentError>> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// Waits for the end of the run.
    ///
    /// # Errors
    /// The error that the run ended with.
    pub async fn finish(mut self) -> Result<RunOutput, AgentError> {
        loop {
            match self.next().await {
                Some(Ok(RunEvent::Finished { output })) => return Ok(*output),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error),
                None => return Err(AgentError::Other("the run has ended before".to_owned())),
            }
        }
    }
}

impl Stream for RunStream<'_> {
    type Item = Result<RunEvent, AgentError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Poll::Ready(Some(event)) = self.events.poll_recv(context) {
                return Poll::Ready(Some(Ok(event)));
            }
            let Some(run) = &mut self.run else {
                let end = self.end.take();
                return Poll::Ready(end.map(|end| Ok(RunEvent::Finished { output: Box::new(end?) })));
            };
            match run.as_mut().poll(context) {
                Poll::Ready(end) => {
                    self.run = None;
                    self.end = Some(end);
                }
                // What was told while it ran comes first.
                Poll::Pending => match self.events.poll_recv(context) {
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
