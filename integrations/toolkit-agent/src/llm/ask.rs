//! One question to a model, until it is answered.

use super::LlmAgent;
use super::work::Work;
use crate::conversation::{Conversation, Turn};
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::limits::TimeLimit;
use crate::model::{
    FinishReason, ModelDelta, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelStream,
};
use crate::run::Run;
use futures_core::Stream;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use tokio::task::coop::consume_budget;
use tokio::time::sleep;
use toolkit_core::ToolResult;

/// Why there is no answer.
enum Failure {
    /// Another attempt may help.
    Model(ModelError),
    Run(AgentError),
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self::Model(error)
    }
}

impl LlmAgent {
    /// Asks until there is an answer. Calls run from the moment they are complete, if nobody may change them.
    pub(super) async fn ask(
        &self,
        conversation: &mut Conversation,
        run: &Run,
        request: ModelRequest,
        work: &mut Work<'_>,
    ) -> Result<ModelResponse, AgentError> {
        for attempt in 1_u32.. {
            let agent = || self.name.clone();
            run.tell(|| RunEvent::ModelAsked { agent: agent(), model: self.model.name().to_owned() });
            let error = match self.attempt(conversation, run, request.clone(), work).await {
                Ok(response) => return Ok(response),
                Err(Failure::Run(error)) => return Err(error),
                // What the calls have done is done: the model goes on from there.
                Err(Failure::Model(error)) if !work.is_empty() => {
                    return Ok(interrupted(error, conversation.turn()));
                }
                Err(Failure::Model(error)) => error,
            };
            conversation.drop_turn();
            let Some(pause) = self.retry.pause_after(attempt, &error) else {
                return Err(error.into());
            };
            run.tell(|| RunEvent::ModelRetried { agent: agent(), error: error.to_string(), pause });
            within(run, sleep(pause)).await?;
            conversation.begin_turn(&self.name);
        }
        Err(AgentError::Cancelled)
    }

    async fn attempt(
        &self,
        conversation: &mut Conversation,
        run: &Run,
        request: ModelRequest,
        work: &mut Work<'_>,
    ) -> Result<ModelResponse, Failure> {
        let time = run.budget().time_left();
        let mut time_is_over = pin!(async {
            match time {
                Some((left, limit)) => {
                    sleep(left).await;
                    limit
                }
                None => std::future::pending().await,
            }
        });
        let mut cancelled = pin!(run.cancellation().cancelled());
        let mut listening = pin!(self.listen(conversation, run, request, work));
        poll_fn(|context| {
            if let Poll::Ready(response) = listening.as_mut().poll(context) {
                return Poll::Ready(response);
            }
            if cancelled.as_mut().poll(context).is_ready() {
                return Poll::Ready(Err(Failure::Run(AgentError::Cancelled)));
            }
            time_is_over.as_mut().poll(context).map(|limit| Err(out_of_time(run, limit)))
        })
        .await
    }

    async fn listen(
        &self,
        conversation: &mut Conversation,
        run: &Run,
        request: ModelRequest,
        work: &mut Work<'_>,
    ) -> Result<ModelResponse, Failure> {
        if !self.streaming {
            return Ok(self.model.respond(request).await?);
        }
        let mut stream = self.model.stream(request).await?;
        loop {
            // However fast the pieces come: a run can be stopped between two.
            consume_budget().await;
            match heard(&mut stream, work).await {
                Heard::Result(result) => work.keep(result, conversation.turn()),
                Heard::Piece(Some(piece)) => match piece? {
                    ModelDelta::Call(call) if !self.callbacks.may_change_calls() => {
                        conversation.turn().message.calls.push(call.clone());
                        run.save(conversation).await.map_err(Failure::Run)?;
                        work.start(call, conversation.turn());
                    }
                    ModelDelta::Done(response) => return Ok(*response),
                    piece => self.take(piece, conversation.turn(), run),
                },
                Heard::Piece(None) => {
                    let text = "the answer ended before it was complete";
                    return Err(ModelError::new(ModelErrorKind::Connection, text).into());
                }
            }
        }
    }

    /// Takes a piece that starts no call.
    fn take(&self, piece: ModelDelta, turn: &mut Turn, run: &Run) {
        let agent = || self.name.clone();
        match piece {
            ModelDelta::Text(text) => {
                turn.message.text.push_str(&text);
                run.tell(|| RunEvent::Text { agent: agent(), text });
            }
            ModelDelta::Reasoning(text) => run.tell(|| RunEvent::Reasoning { agent: agent(), text }),
            ModelDelta::CallStarted { id, name } => {
                run.tell(|| RunEvent::CallStarted { agent: agent(), call_id: id, tool: name });
            }
            ModelDelta::Call(_) | ModelDelta::Done(_) => {}
        }
    }
}

/// What comes next: a piece of the answer, or the result of a call.
enum Heard {
    Piece(Option<Result<ModelDelta, ModelError>>),
    Result(ToolResult),
}

async fn heard(stream: &mut ModelStream, work: &mut Work<'_>) -> Heard {
    let mut result = pin!(work.next());
    let mut no_call_runs = false;
    poll_fn(|context| {
        if let Poll::Ready(piece) = Pin::new(&mut *stream).poll_next(context) {
            return Poll::Ready(Heard::Piece(piece));
        }
        if !no_call_runs {
            match result.as_mut().poll(context) {
                Poll::Ready(Some(result)) => return Poll::Ready(Heard::Result(result)),
                Poll::Ready(None) => no_call_runs = true,
                Poll::Pending => {}
            }
        }
        Poll::Pending
    })
    .await
}

/// What had come of an answer before it broke off.
fn interrupted(error: ModelError, turn: &Turn) -> ModelResponse {
    let partial = error.partial.map(|partial| *partial);
    let partial = partial.filter(|partial| partial.message.calls.len() >= turn.message.calls.len());
    let response = partial
        .unwrap_or_else(|| ModelResponse { message: turn.message.clone(), ..ModelResponse::default() });
    response.with_finish(FinishReason::Interrupted)
}

fn out_of_time(run: &Run, limit: TimeLimit) -> Failure {
    let limits = run.budget().limits();
    match limit {
        TimeLimit::Run => Failure::Run(run.budget().out_of_time()),
        TimeLimit::Model => {
            let seconds = limits.model_timeout.unwrap_or_default().as_secs_f64();
            let text = format!("LLM call timed out after {seconds}s");
            Failure::Model(ModelError::new(ModelErrorKind::TimedOut, text))
        }
    }
}

/// Waits for something, unless the run is stopped before or its time is over.
pub(super) async fn within<T>(run: &Run, work: impl Future<Output = T>) -> Result<T, AgentError> {
    let mut cancelled = pin!(run.cancellation().cancelled());
    let mut time_is_over = pin!(run.time_is_over());
    let mut work = pin!(work);
    poll_fn(|context| {
        if let Poll::Ready(done) = work.as_mut().poll(context) {
            return Poll::Ready(Ok(done));
        }
        if cancelled.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(AgentError::Cancelled));
        }
        time_is_over.as_mut().poll(context).map(Err)
    })
    .await
}
