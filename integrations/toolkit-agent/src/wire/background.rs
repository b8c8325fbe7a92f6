//! Waits for background responses.

use super::Transport;
use crate::model::{ModelError, ModelErrorKind};
use serde_json::Value;
use std::time::Duration;
use tokio::time::sleep;

/// The first and the longest pause between two requests for a background response.
const FIRST_POLL: Duration = Duration::from_millis(500);
const LONGEST_POLL: Duration = Duration::from_secs(10);

/// The number of failed requests for a background response in a row that are repeated.
const MOST_FAILURES: u32 = 10;

/// Waits until the provider has finished a background response. A failed look at the response is repeated, because
/// a new request would be a second answer to pay for.
pub(super) async fn finished(transport: &impl Transport, mut body: Value) -> Result<Value, ModelError> {
    let (mut pause, mut failures) = (FIRST_POLL, 0);
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

/// Returns the error for a background response that cannot be retrieved. It is not retryable.
fn lost(id: &str, error: ModelError) -> ModelError {
    let ModelError { message, .. } = &error;
    let message =
        format!("background response `{id}` cannot be retrieved: {message}; it may still be running");
    let kind = if error.is_retryable() { ModelErrorKind::Other } else { error.kind };
    ModelError { kind, message, ..error }
}

/// Returns the id of an unfinished background response. Returns `None` if the response is finished.
fn unfinished(body: &Value) -> Option<String> {
    let text = |name: &str| body.get(name).and_then(Value::as_str);
    text("status").filter(|status| matches!(*status, "queued" | "in_progress"))?;
    text("id").map(ToOwned::to_owned)
}
