//! Limits for the duration and size of an answer.

use crate::macros::setters;
use std::time::Duration;
use tokio::time::Instant;

/// Limits for the duration and size of a server's answer.
///
/// A request that exceeds a time limit fails, and may be retried.
///
/// ```
/// use std::time::Duration;
/// use toolkit_http::client::HttpLimits;
///
/// let limits = HttpLimits::default().with_idle(Duration::from_secs(20));
/// assert_eq!(limits.connect, Duration::from_secs(10));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpLimits {
    /// The time limit for connecting; 10 s by default.
    pub connect: Duration,
    /// The time limit for the complete answer; 30 min by default.
    pub total: Duration,
    /// The maximum time without new data, 2 min by default. It applies before the first part of a stream, and
    /// between two parts of any answer. Before another answer, the server may be silent for up to
    /// [`total`](Self::total).
    pub idle: Duration,
    /// The maximum size of an answer, in bytes; 64 MiB by default.
    pub max_bytes: usize,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            total: Duration::from_secs(30 * 60),
            idle: Duration::from_secs(2 * 60),
            max_bytes: 64 << 20,
        }
    }
}

setters! { HttpLimits:
    /// Sets the time limit for connecting.
    with_connect(connect: Duration) = connect;
    /// Sets the time limit for the complete answer.
    with_total(total: Duration) = total;
    /// Sets the maximum time without new data.
    with_idle(idle: Duration) = idle;
    /// Sets the maximum size of an answer, in bytes.
    with_max_bytes(max_bytes: usize) = max_bytes;
}

/// Returns the instant after `limit`, at most one year.
#[must_use]
pub fn deadline(limit: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    Instant::now() + limit.min(YEAR)
}
