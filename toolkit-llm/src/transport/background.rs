//! Waits for background responses.

use super::Transport;
use crate::json::fields::text;
use crate::model::{ModelError, ModelErrorKind};
use serde_json::Value;
use std::time::Duration;
use tokio::time::sleep;

/// The first pause. Each later one is twice as long, up to `LONGEST_POLL`.
const FIRST_POLL: Duration = Duration::from_millis(500);
const LONGEST_POLL: Duration = Duration::from_secs(10);

/// The maximum number of consecutive failures.
const MOST_FAILURES: u32 = 10;

/// Polls a background response until it is finished. Failed polls are repeated, because a new request would
/// be a second answer to pay for.
pub(super) async fn finished(transport: &impl Transport, mut body: Value) -> Result<Value, ModelError> {
    let mut pause = FIRST_POLL;
    let mut failures = 0;
    while let Some(id) = unfinished(&body) {
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST_POLL);
        match transport.retrieve(&id).await {
            Ok(current) => (body, failures) = (current, 0),
            Err(error) if error.is_retryable() && failures < MOST_FAILURES => failures += 1,
            Err(error) => return Err(lost(&id, error)),
        }
    }
    Ok(body)
}

/// Returns the error for a response that cannot be retrieved. It is not retryable.
fn lost(id: &str, error: ModelError) -> ModelError {
    let ModelError { message, .. } = &error;
    let message =
        format!("background response `{id}` cannot be retrieved: {message}; it may still be running");
    let kind = if error.is_retryable() { ModelErrorKind::Other } else { error.kind };
    ModelError { kind, message, ..error }
}

/// Returns the id of an unfinished response.
fn unfinished(body: &Value) -> Option<String> {
    if !matches!(text(body, "status"), "queued" | "in_progress") {
        return None;
    }
    Some(body.get("id")?.as_str()?.to_owned())
}
