//! The pauses between listings of the tools.

use std::time::Duration;
use tokio::time::Instant;

const SHORTEST_PAUSE: Duration = Duration::from_millis(100);

/// The longest pause between two listings, so that a server cannot make the client list continuously.
///
/// After this time without a listing, the next pause is shorter again.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Each listing doubles the pause after it, and quiet times halve it.
#[derive(Debug)]
pub(crate) struct ListingPace {
    last: Instant,
    doublings: u32,
}

impl ListingPace {
    pub(crate) fn new() -> Self {
        Self { last: Instant::now(), doublings: 0 }
    }

    pub(crate) fn earliest(&self) -> Instant {
        let pause = SHORTEST_PAUSE.saturating_mul(2_u32.saturating_pow(self.doublings));
        self.last + pause.min(LONGEST_PAUSE)
    }

    pub(crate) fn lists(&mut self) {
        let pauses = self.last.elapsed().as_secs() / LONGEST_PAUSE.as_secs();
        let quiet = u32::try_from(pauses).unwrap_or(u32::MAX);
        // More doublings than for the longest pause would outlast the announcements.
        self.doublings = (self.doublings.saturating_sub(quiet) + 1).min(7);
        self.last = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{advance, sleep_until};

    /// Returns the pause in milliseconds.
    async fn pause_after(pace: &mut ListingPace, quiet: Duration) -> u128 {
        advance(quiet).await;
        sleep_until(pace.earliest()).await;
        pace.lists();
        (pace.earliest() - Instant::now()).as_millis()
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_to_ten_seconds_and_shrink_after_quiet_times() {
        let mut pace = ListingPace::new();
        let [none, short, long] = [0, 9, 10].map(Duration::from_secs);
        for pause in [200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000] {
            assert_eq!(pause_after(&mut pace, none).await, pause);
        }
        assert_eq!(pause_after(&mut pace, long * 4).await, 1_600);
        assert_eq!(pause_after(&mut pace, short).await, 3_200);
        assert_eq!(pause_after(&mut pace, long).await, 3_200);
        assert_eq!(pause_after(&mut pace, long * 100).await, 200);
    }
}
