//! Trying a call again that failed.

use super::{Middleware, Next, Outcome, ToolRequest};
use crate::error::{ErrorKind, ToolError};
use crate::tool::ToolMetadata;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::Duration;
use tokio::time::sleep;

/// Tries calls again that failed, as often as the tool's [`retries`](ToolMetadata::retries) allow.
///
/// An error that is [marked](ToolError::with_retryable) is tried again whatever the tool. A failure or a time
/// limit is tried again if a second call does no harm: the tool says that it is
/// [idempotent](ToolMetadata::idempotent) or [read-only](ToolMetadata::read_only). Nothing else is: wrong arguments
/// stay wrong.
///
/// The pause is random between nothing and a bound that doubles each time, so that calls that failed together do
/// not come back together. Every attempt has the whole time limit, and takes its place among those that run anew.
/// The error of the last attempt is that of the call; it [remembers](ToolError::earlier_attempts) the others.
///
/// ```
/// use toolkit::{Dispatcher, ToolRegistry};
/// use toolkit::middleware::Retry;
///
/// let dispatcher = Dispatcher::new(ToolRegistry::new())?.with_middleware(Retry::new());
/// # Ok::<(), toolkit::BuildError>(())
/// ```
#[derive(Debug, Clone)]
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
    /// Pauses of up to 200 ms before the second attempt, and up to 20 s before later ones.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how long the first pause is at most, and how long any is.
    #[must_use]
    pub fn with_pauses(self, first: Duration, longest: Duration) -> Self {
        Self { first, longest }
    }

    /// The pause after this many attempts.
    fn pause(&self, attempts: u32) -> Duration {
        let doubled = 1_u32.checked_shl(attempts - 1).unwrap_or(u32::MAX);
        let bound = self.first.saturating_mul(doubled).min(self.longest);
        bound.mul_f64(random_fraction())
    }
}

impl Middleware for Retry {
    async fn handle(&self, request: ToolRequest, next: Next) -> Outcome {
        let most = request.definition().metadata.retries;
        let mut earlier = Vec::new();
        for attempts in 1..=most {
            let error = match next.clone().run(request.clone()).await {
                Err(error) if may_be_tried_again(&request.definition().metadata, &error) => error,
                Err(error) => return Err(error.with_earlier_attempts(earlier)),
                outcome => return outcome,
            };
            let pause = self.pause(attempts);
            if let Some(teller) = request.context().teller() {
                teller.retried(attempts, &error, pause);
            }
            earlier.push(error);
            sleep(pause).await;
        }
        next.run(request).await.map_err(|error| error.with_earlier_attempts(earlier))
    }
}

fn may_be_tried_again(metadata: &ToolMetadata, error: &ToolError) -> bool {
    let harmless = metadata.idempotent.or(metadata.read_only) == Some(true);
    error.is_retryable() || harmless && matches!(error.kind(), ErrorKind::Failed | ErrorKind::TimedOut)
}

/// A number from 0 to 1. The standard library has no other source of randomness.
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
