//! Retries of failed model calls.

use super::bill::{Attempt, Unreported};
use super::forward::forward_properties;
use super::{ChatModel, ModelError, ModelRequest, ModelStream};
use crate::message::ModelResponse;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Settings for retries of failed model calls.
///
/// Only [retryable](ModelError::is_retryable) errors are retried: too many requests, an overloaded server, a
/// broken connection, a timeout, or an invalid or empty response.
///
/// Each pause is twice as long as the one before, up to a maximum, with random jitter. A pause that the
/// provider requests, in the header `Retry-After` or in its error, replaces it. If the requested pause
/// exceeds [`longest_retry_after`](Self::longest_retry_after), the error is returned without a retry.
///
/// ```
/// use std::time::Duration;
/// use toolkit_ai::llm::ModelRetry;
///
/// let patient = ModelRetry::new(5).with_pauses(Duration::from_secs(1), Duration::from_secs(60));
/// assert_eq!(patient.attempts, 5);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelRetry {
    /// The maximum number of attempts, including the first.
    ///
    /// An answer that breaks off after a tool call has started counts, too. The agent then continues from the
    /// results of the calls, at least once.
    pub attempts: u32,
    /// The pause after the first attempt.
    pub first_pause: Duration,
    /// The maximum pause between two attempts.
    pub longest_pause: Duration,
    /// The maximum pause that the provider may request. Default: [`longest_pause`](Self::longest_pause), but
    /// at least half a minute.
    pub longest_retry_after: Option<Duration>,
}

impl Default for ModelRetry {
    fn default() -> Self {
        Self::new(3)
    }
}

impl ModelRetry {
    /// Creates settings with pauses from half a second to half a minute.
    #[must_use]
    pub fn new(attempts: u32) -> Self {
        Self {
            attempts: attempts.max(1),
            first_pause: Duration::from_millis(500),
            longest_pause: LONGEST_PAUSE,
            longest_retry_after: None,
        }
    }

    /// Creates settings without retries.
    #[must_use]
    pub fn never() -> Self {
        Self::new(1)
    }

    /// Sets the first and the maximum pause.
    #[must_use]
    pub fn with_pauses(mut self, first: Duration, longest: Duration) -> Self {
        self.first_pause = first;
        self.longest_pause = longest;
        self
    }

    /// Returns the pause after an attempt, counted from 1.
    ///
    /// Returns `None` after the last attempt, or if the error is not retryable.
    #[must_use]
    pub fn pause_after(&self, attempt: u32, error: &ModelError) -> Option<Duration> {
        if attempt >= self.attempts || !error.is_retryable() {
            return None;
        }
        self.pause(attempt, error)
    }

    /// Returns the pause before the agent continues an answer that broke off after tool calls had started.
    ///
    /// `breaks` is the number of such answers in a row. Returns `None` after the last attempt.
    ///
    /// There are at least two attempts, whatever the error, because the next request differs from the failed
    /// one.
    #[doc(hidden)]
    #[must_use]
    pub fn pause_after_break(&self, breaks: u32, error: &ModelError) -> Option<Duration> {
        if breaks >= self.attempts.max(2) { None } else { self.pause(breaks, error) }
    }

    fn longest_accepted(&self) -> Duration {
        self.longest_retry_after.unwrap_or(self.longest_pause.max(LONGEST_PAUSE))
    }

    fn pause(&self, attempt: u32, error: &ModelError) -> Option<Duration> {
        match error.retry_after {
            Some(wanted) if wanted > self.longest_accepted() => None,
            Some(wanted) => Some(wanted),
            None => {
                let doubled = self.first_pause.saturating_mul(1 << (attempt - 1).min(20));
                Some(doubled.min(self.longest_pause).mul_f64(1.0 - 0.25 * chance()))
            }
        }
    }
}

setters! { ModelRetry:
    /// Sets the maximum pause that the provider may request.One minute suits a limit on requests per minute.
    with_longest_retry_after(longest_retry_after: Duration) = Some(longest_retry_after);
}

/// Returns a number from 0 to 1, so that clients retry at different moments.
fn chance() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    f64::from(now.subsec_nanos() % 1_000) / 1_000.0
}

/// A model that retries failed requests. Agents retry by themselves.
///
/// A streamed request is retried only before the first piece of the stream; later errors are items of the
/// stream. The tokens of failed attempts are [counted](ModelResponse::failed_usage).
///
/// ```
/// use toolkit_ai::llm::ModelRetry;
/// use toolkit_ai::llm::model::Retrying;
/// use toolkit_ai::llm::{ChatModel, ModelError, ScriptedModel};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let busy = ModelError::from_status(503, "overloaded").with_retry_after(std::time::Duration::ZERO);
/// let model = Retrying::new(ScriptedModel::new().error(busy).text("Yes."), ModelRetry::new(3));
/// assert_eq!(model.respond("Is it clear in Oslo?".into()).await?.message.text, "Yes.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct Retrying<M> {
    model: M,
    retry: ModelRetry,
}

impl<M: ChatModel> Retrying<M> {
    /// Adds retries to a model.
    #[must_use]
    pub fn new(model: M, retry: ModelRetry) -> Self {
        Self { model, retry }
    }

    async fn retry<T: Attempt>(&self, request: ModelRequest) -> Result<T, ModelError> {
        let mut attempt = 1;
        let mut failed = Unreported::new(request.account.clone());
        loop {
            let error = match T::ask(&self.model, request.clone()).await {
                Ok(answer) => return Ok(failed.before(answer)),
                Err(error) => error,
            };
            let Some(pause) = self.retry.pause_after(attempt, &error) else {
                return Err(error.after(failed.take()));
            };
            failed.bill += error.billed();
            tokio::time::sleep(pause).await;
            attempt += 1;
        }
    }
}

impl<M: ChatModel> ChatModel for Retrying<M> {
    forward_properties!(self => self.model);

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        self.retry(request).await
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        self.retry(request).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ModelErrorKind;

    #[test]
    fn pauses_grow_and_end() {
        let retry = ModelRetry::new(4).with_pauses(Duration::from_secs(2), Duration::from_secs(5));
        let error = ModelError::from_status(503, "overloaded");
        let pauses: Vec<f64> = (1..4).map(|n| retry.pause_after(n, &error).unwrap().as_secs_f64()).collect();
        for (pause, most) in pauses.into_iter().zip([2.0, 4.0, 5.0]) {
            assert!(pause <= most && pause >= most * 0.75, "{pause} of {most}");
        }
        assert_eq!(retry.pause_after(4, &error), None);
    }

    #[test]
    fn the_pause_of_the_provider_takes_precedence() {
        let retry = ModelRetry::default();
        let busy = |seconds| ModelError::from_status(429, "").with_retry_after(Duration::from_secs(seconds));
        assert_eq!(retry.pause_after(1, &busy(7)), Some(Duration::from_secs(7)));
        assert_eq!(retry.pause_after(1, &busy(3_600)), None);
        let hasty = ModelRetry::new(2).with_pauses(Duration::ZERO, Duration::ZERO);
        assert_eq!(hasty.pause_after(1, &busy(30)), Some(Duration::from_secs(30)));
        assert_eq!(hasty.pause_after(1, &busy(31)), None);
        let patient = ModelRetry::default().with_longest_retry_after(Duration::from_secs(60));
        assert_eq!(patient.pause_after(1, &busy(60)), Some(Duration::from_secs(60)));
        assert_eq!(patient.pause_after(1, &busy(61)), None);
        assert_eq!(retry.pause_after(1, &ModelError::from_status(400, "no")), None);
        assert_eq!(retry.pause_after(1, &ModelError::new(ModelErrorKind::Unauthorized, "no")), None);
    }
}
