//! The time for which a tool list is fresh.

use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;

/// The shortest and the longest time for which a tool list counts as fresh. The lower bound keeps a server
/// from making the client list the tools continuously.
const LIMITS: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(24 * 3_600));

/// The time for which a tool list is fresh: the shortest `ttlMs` of its pages.
///
/// A `ttlMs` of zero is ignored. Without a time, as with servers of earlier protocol versions, the client relies on
/// announced changes. The field `cacheScope` says which clients may share a list. This client shares its list with no
/// other client, so both scopes are respected.
#[derive(Debug, Default)]
pub(super) struct Freshness(Option<Duration>);

impl Freshness {
    /// Adds the `ttlMs` of one page of the tool list.
    pub(super) fn add(&mut self, page: &Value) {
        let ttl = page.get("ttlMs").and_then(Value::as_u64).filter(|ttl| *ttl > 0);
        if let Some(ttl) = ttl.map(Duration::from_millis) {
            self.0 = Some(self.0.map_or(ttl, |shortest| shortest.min(ttl)));
        }
    }

    /// Returns the time at which the list becomes stale, counted from now.
    pub(super) fn expiry(&self) -> Option<Instant> {
        self.0.map(|ttl| Instant::now() + ttl.clamp(LIMITS.0, LIMITS.1))
    }
}
