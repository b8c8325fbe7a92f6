//! The settings of a client.

use super::elicitation::DynElicitationHandler;
use super::limits::McpLimits;
use crate::macros::setters;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

/// The default number of tools above which they are deferred.
const SEARCH_ABOVE: usize = 40;

/// The protocol versions to speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum McpProtocol {
    /// The newest version that both sides support.
    #[default]
    Auto,
    /// Version 2026-07-28 only: no handshake, no session.
    Stateless,
    /// Version 2025-11-25 or older: a handshake with `initialize`.
    Handshake,
}

/// The pauses between attempts to connect.
///
/// Each pause is twice as long as the one before, up to the maximum, and extended by a random part of up to
/// 20 %.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct McpBackoff {
    /// The pause before the first attempt; 0.5 s by default.
    pub first: Duration,
    /// The maximum pause before the random extension; 30 s by default.
    pub longest: Duration,
    /// The maximum number of attempts in a row; `None` for no limit, the default.
    pub attempts: Option<u32>,
}

impl Default for McpBackoff {
    fn default() -> Self {
        Self { first: Duration::from_millis(500), longest: Duration::from_secs(30), attempts: None }
    }
}

impl McpBackoff {
    /// Returns the pause before an attempt, counted from 1.
    pub(crate) fn pause(&self, attempt: u32) -> Duration {
        let factor = 2_u32.saturating_pow(attempt.saturating_sub(1).min(16));
        let pause = self.first.saturating_mul(factor).min(self.longest);
        // A fresh `RandomState` hashes to a random number.
        let random = u32::try_from(RandomState::new().hash_one(attempt) % 21).unwrap_or_default();
        pause.saturating_add(pause.saturating_mul(random) / 100)
    }
}

setters! { McpBackoff:
    /// Sets the pause before the first attempt.
    with_first(first: Duration) = first;
    /// Sets the maximum pause before the random extension.
    with_longest(longest: Duration) = longest;
    /// Sets the maximum number of attempts in a row. With zero, a lost connection stays lost.
    with_attempts(attempts: u32) = Some(attempts);
}

pub(super) type Permits = dyn Fn(&str) -> bool + Send + Sync;

#[derive(Clone)]
pub(crate) struct ClientSettings {
    /// The name of the server in messages.
    pub(crate) name: String,
    pub(crate) namespace: Option<String>,
    pub(crate) limits: McpLimits,
    pub(crate) connect_timeout: Duration,
    pub(crate) call_timeout: Duration,
    pub(crate) max_call_time: Duration,
    pub(crate) retries: u32,
    pub(crate) backoff: McpBackoff,
    pub(crate) protocol: McpProtocol,
    pub(crate) trust_annotations: bool,
    pub(crate) check_results: bool,
    /// The approved fingerprints; `None` if no tool needs approval.
    pub(crate) approved: Option<BTreeMap<String, String>>,
    pub(crate) block_changes: bool,
    pub(crate) elicitation: Option<Arc<dyn DynElicitationHandler>>,
    /// Whether the program uses a tool, by its name on the server.
    pub(crate) permits: Option<Arc<Permits>>,
    pub(crate) client_name: String,
    pub(crate) client_version: String,
    /// The number of tools above which they are deferred.
    pub(crate) search_above: usize,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self {
            name: "mcp".to_owned(),
            namespace: None,
            limits: McpLimits::default(),
            connect_timeout: Duration::from_secs(90),
            call_timeout: Duration::from_secs(60),
            max_call_time: Duration::from_secs(3_600),
            retries: 0,
            backoff: McpBackoff::default(),
            protocol: McpProtocol::default(),
            trust_annotations: true,
            check_results: true,
            approved: None,
            block_changes: false,
            elicitation: None,
            permits: None,
            client_name: "toolkit-mcp".to_owned(),
            client_version: env!("CARGO_PKG_VERSION").to_owned(),
            search_above: SEARCH_ABOVE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let backoff = McpBackoff::default().with_longest(Duration::from_secs(3));
        for (attempt, base) in [(1, 500), (2, 1_000), (3, 2_000), (4, 3_000), (5, 3_000), (u32::MAX, 3_000)] {
            let pause = backoff.pause(attempt);
            let base = Duration::from_millis(base);
            assert!(base <= pause && pause <= base * 6 / 5, "{attempt}: {pause:?}");
        }
        let endless = McpBackoff::default().with_first(Duration::MAX).with_longest(Duration::MAX);
        assert!((1..100).all(|attempt| endless.pause(attempt) == Duration::MAX));
    }
}
