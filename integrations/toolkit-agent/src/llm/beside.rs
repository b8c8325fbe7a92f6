//! The check of an input at the same time as the model call.

use super::guards::{InputCheck, Judged, have_passed};
use crate::error::AgentError;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

/// Waits until the check of the input has passed. Used within the model call that runs beside the check: [`beside`]
/// polls the call whenever the gate has opened, so there is nothing to wake.
pub(super) async fn passed(gate: &AtomicBool) {
    poll_fn(|_| if gate.load(Ordering::Relaxed) { Poll::Ready(()) } else { Poll::Pending }).await;
}

/// Waits for the response of the model and for the check of the input at the same time. Opens `gate` when the
/// check has passed. If it has not passed, returns the verdicts, and the model call is dropped.
pub(super) async fn beside<T>(
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
