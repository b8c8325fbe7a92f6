//! Checks of an input beside the model call.

use super::{InputCheck, Judged, have_passed};
use crate::error::AgentError;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

/// Waits until guardrails have accepted the input and opened `gate`. Used only in the model call of
/// [`ask_alongside`], which polls it again after opening the gate, so no waker is needed.
pub(in crate::llm) async fn passed(gate: &AtomicBool) {
    poll_fn(|_| if gate.load(Ordering::Relaxed) { Poll::Ready(()) } else { Poll::Pending }).await;
}

/// Runs the model call `ask` and the check of the input at the same time. Opens `gate` if the input is
/// accepted unchanged; otherwise, drops the model call and returns the verdicts as the error.
pub(in crate::llm) async fn ask_alongside<T>(
    check: &mut Option<InputCheck>,
    gate: &AtomicBool,
    ask: impl Future<Output = Result<T, AgentError>>,
) -> Result<Result<T, AgentError>, Judged> {
    let mut ask = pin!(ask);
    let mut response = None;
    poll_fn(|cx| {
        if let Some(running) = check
            && let Poll::Ready(judged) = running.as_mut().poll(cx)
        {
            *check = None;
            if !have_passed(&judged) {
                return Poll::Ready(Err(judged));
            }
            gate.store(true, Ordering::Relaxed);
        }
        if response.is_none()
            && let Poll::Ready(ended) = ask.as_mut().poll(cx)
        {
            response = Some(ended);
        }
        match response.take() {
            Some(ended) if check.is_none() || ended.is_err() => Poll::Ready(Ok(ended)),
            waiting => {
                response = waiting;
                Poll::Pending
            }
        }
    })
    .await
}
