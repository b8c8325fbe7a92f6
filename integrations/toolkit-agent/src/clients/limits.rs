//! How long a server may take, and how much it may say.

use std::time::Duration;
use tokio::time::Instant;

/// How long a server may take, and how much it may say.
///
/// A request that takes longer ends with [`TimedOut`](crate::ModelErrorKind::TimedOut), and may be retried.
///
/// ```
/// use std::time::Duration;
/// use toolkit_agent::clients::HttpLimits;
///
/// let limits = HttpLimits::default().with_idle(Duration::from_secs(20));
/// assert_eq!(limits.connect, Duration::from_secs(10));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpLimits {
    /// How long a connection may take to be made; 10 s if nothing else is said.
    pub connect: Duration,
    /// How long the whole answer may take; 30 min if nothing else is said.
    pub total: Duration,
    /// How long the server may be silent between two pieces of an answer, and before the first of a stream; 2 min if
    /// nothing else is said. Before an answer that comes whole, it may be silent until [`total`](Self::total).
    pub idle: Duration,
    /// How many bytes an answer may have; 64 MiB if nothing else is said.
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

impl HttpLimits {
    /// Sets how long a connection may take to be made.
    #[must_use]
    pub fn with_connect(mut self, limit: Duration) -> Self {
        self.connect = limit;
        self
    }

    /// Sets how long the whole answer may take.
    #[must_use]
    pub fn with_total(mut self, limit: Duration) -> Self {
        self.total = limit;
        self
    }

    /// Sets how long the server may be silent between two pieces of an answer.
    #[must_use]
    pub fn with_idle(mut self, limit: Duration) -> Self {
        self.idle = limit;
        self
    }

    /// Sets how many bytes an answer may have.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }
}

/// Returns the instant after a duration; in a year if clocks cannot count it.
pub(super) fn after(time: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    Instant::now() + time.min(YEAR)
}
