//! Checks of an input that run at the same time as the model call.

use super::{InputCheck, Judged, have_passed};
use crate::error::AgentError;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

/// Waits until `gate` is open, which means that guardrails have accepted the input. Used only within the
/// model call that [`ask_alongside`] polls. [`ask_alongside`] polls this call again after it has opened the gate, so no
/// waker is needed.
pub(in crate::llm) async fn passed(gate: &AtomicBool) {
    poll_fn(|_| if gate.load(Ordering::Relaxed) { Poll::Ready(()) } else { Poll::Pending }).await;
}

/// Runs the model call `ask` and the check of the input at the same time. Opens `gate` when the check has
/// accepted the input unchanged. Otherwise, drops the model call and returns the verdicts of the check as the
/// error.
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
