//! Retries of failed calls.

use super::{Middleware, Next, Outcome, ToolRequest};
use crate::definition::ToolMetadata;
use crate::error::{ErrorKind, ToolError};
use crate::guard::guarded;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::sleep;

/// Retries failed calls, up to the number of [`retries`](ToolMetadata::retries) of the tool.
///
/// Errors [marked as retryable](ToolError::with_retryable) are retried for every tool. Failures and
/// timeouts are retried for [idempotent](ToolMetadata::idempotent) and
/// [read-only](ToolMetadata::read_only) tools. Other errors, such as invalid arguments, are not retried.
///
/// A dispatcher without middleware that [retries](Middleware::retries) uses `Retry::new()` as its
/// innermost middleware. Add it to set other pauses, or to place other middleware inside of it.
///
/// The pause before an attempt is random, between zero and a bound that doubles with each attempt, so that
/// calls that failed together spread. Each attempt has the full time limit and takes its own permits. The
/// last error is the error of the call, and [lists](ToolError::earlier_attempts) the earlier ones. Without
/// a tokio runtime with a timer, calls are not retried.
///
/// ```
/// use std::time::Duration;
/// use toolkit_ai::{Dispatcher, ToolRegistry};
/// use toolkit_ai::middleware::Retry;
///
/// let retry = Retry::new().with_pauses(Duration::from_millis(50), Duration::from_secs(1));
/// let dispatcher = Dispatcher::new(ToolRegistry::new())?.with_middleware(retry);
/// # Ok::<(), toolkit_ai::BuildError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Retry {
    first: Duration,
    longest: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self { first: Duration::from_millis(200), longest: Duration::from_secs(20) }
    }
}

impl Retry {
    /// Creates the middleware, with pauses of up to 200 ms before the second attempt and up to 20 s later.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the upper bounds of the first pause and of all pauses.
    pub fn with_pauses(self, first: Duration, longest: Duration) -> Self {
        Self { first, longest }
    }

    fn pause(&self, attempts: u32) -> Duration {
        let doubled = 1_u32.checked_shl(attempts - 1).unwrap_or(u32::MAX);
        let bound = self.first.saturating_mul(doubled).min(self.longest);
        bound.mul_f64(random_fraction())
    }
}

impl Middleware for Retry {
    fn retries(&self) -> bool {
        true
    }

    async fn handle(&self, request: ToolRequest, next: Next) -> Outcome {
        let most = if Handle::try_current().is_ok() { request.definition().metadata.retries } else { 0 };
        let mut earlier = Vec::new();
        for attempts in 1..=most {
            let error = match next.clone().run(request.clone()).await {
                Err(error) if is_retryable(&request.definition().metadata, &error) => error,
                Err(error) => return Err(error.with_earlier_attempts(earlier)),
                outcome => return outcome,
            };
            let pause = self.pause(attempts);
            // Panics without the timer of the runtime.
            let Ok(pausing) = guarded(|| sleep(pause)) else {
                return Err(error.with_earlier_attempts(earlier));
            };
            if let Some(emitter) = request.context().emitter() {
                emitter.retried(attempts, &error, pause);
            }
            earlier.push(error);
            pausing.await;
        }
        next.run(request).await.map_err(|error| error.with_earlier_attempts(earlier))
    }
}

fn is_retryable(metadata: &ToolMetadata, error: &ToolError) -> bool {
    error.is_retryable()
        || metadata.is_repeatable() && matches!(error.kind(), ErrorKind::Failed | ErrorKind::TimedOut)
}

/// Returns a random number from 0 to 1, from a hasher: the only randomness in the standard library.
fn random_fraction() -> f64 {
    let bits = RandomState::new().build_hasher().finish() >> 32;
    #[expect(clippy::cast_precision_loss, reason = "32 bits fit")]
    let fraction = bits as f64 / f64::from(u32::MAX);
    fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_bound_and_differ() {
        let retry = Retry::new().with_pauses(Duration::from_millis(100), Duration::from_secs(1));
        for (attempts, bound) in [(1, 100), (2, 200), (4, 800), (5, 1000), (33, 1000), (u32::MAX, 1000)] {
            let pauses: Vec<Duration> = (0..50).map(|_| retry.pause(attempts)).collect();
            assert!(pauses.iter().all(|pause| *pause <= Duration::from_millis(bound)), "{pauses:?}");
            assert!(pauses.iter().any(|pause| *pause > Duration::from_millis(bound / 4)), "{pauses:?}");
            assert!(pauses.windows(2).any(|pair| pair[0] != pair[1]));
        }
    }
}
