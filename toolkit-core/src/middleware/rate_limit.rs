//! How often tools may be called.

use super::pattern::fits;
use super::{Middleware, Next, Outcome, ToolRequest};
use crate::error::ToolError;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// A longer time means the same, and the clock does not reach that far.
const LONGEST: Duration = Duration::from_secs(86_400 * 365 * 30);

/// Limits how often tools are called: each for itself, and all together.
///
/// A limit of 60 calls a minute lets 60 come at once, and then one each second. A call that comes too early waits
/// for its time, in the order in which calls come, and meanwhile holds no place among those that run. If
/// it would have to wait for longer than the [patience](Self::with_patience) of the limit, the model reads at once in how many
/// seconds it may call again, and nothing is used up. A call that is cancelled while it waits has used its turn.
///
/// The limits hold for all batches of a dispatcher and its clones. Inside of [`Retry`](super::Retry), each
/// attempt counts.
///
/// ```
/// use std::time::Duration;
/// use toolkit::{Dispatcher, ToolRegistry};
/// use toolkit::middleware::RateLimit;
///
/// let minute = Duration::from_secs(60);
/// let limit = RateLimit::new().for_all(600, minute).for_tool("search-*", 30, minute);
/// let dispatcher = Dispatcher::new(ToolRegistry::new())?.with_middleware(limit);
/// # Ok::<(), toolkit::BuildError>(())
/// ```
#[derive(Debug)]
pub struct RateLimit {
    all: Option<Rate>,
    /// By pattern; the first that fits is the tool's.
    tools: Vec<(String, Rate)>,
    patience: Duration,
    schedule: Mutex<Schedule>,
}

impl Default for RateLimit {
    fn default() -> Self {
        let patience = Duration::from_secs(30);
        Self { all: None, tools: Vec::new(), patience, schedule: Mutex::default() }
    }
}

impl RateLimit {
    /// No limits yet. A call waits for 30 seconds at most.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits the calls of all tools together to so many in that time, at least one.
    #[must_use]
    pub fn for_all(mut self, calls: u32, time: Duration) -> Self {
        self.all = Some(Rate::new(calls, time));
        self
    }

    /// Limits the calls of each tool whose name fits the pattern, where `*` is any text, to so many in that time,
    /// at least one. The first pattern that fits holds.
    #[must_use]
    pub fn for_tool(mut self, pattern: impl Into<String>, calls: u32, time: Duration) -> Self {
        self.tools.push((pattern.into(), Rate::new(calls, time)));
        self
    }

    /// Sets how long a call waits at most. With none, a call that comes too early is refused at once.
    #[must_use]
    pub fn with_patience(mut self, limit: Duration) -> Self {
        self.patience = limit;
        self
    }

    /// When the call may go on, which is then its turn.
    ///
    /// # Errors
    /// How long it would have to wait, if it may not.
    fn turn(&self, name: &str) -> Result<Instant, Duration> {
        let of_tool = self.tools.iter().find(|(pattern, _)| fits(name, pattern)).map(|(_, rate)| *rate);
        let mut schedule = self.schedule.lock().unwrap_or_else(PoisonError::into_inner);
        let Schedule { all, tools } = &mut *schedule;
        let limits = [
            of_tool.map(|rate| (rate, tools.entry(name.to_owned()).or_default())),
            self.all.map(|rate| (rate, all)),
        ];
        let now = Instant::now();
        let earliest = limits.iter().flatten().map(|(rate, used)| rate.earliest(**used, now));
        let start = earliest.fold(now, Instant::max);
        let wait = start - now;
        if wait > self.patience {
            return Err(wait);
        }
        for (rate, used) in limits.into_iter().flatten() {
            *used = Some(used.map_or(start, |used| used.max(start)) + rate.each);
        }
        Ok(start)
    }
}

impl Middleware for RateLimit {
    async fn handle(&self, request: ToolRequest, next: Next) -> Outcome {
        match self.turn(request.definition().name.as_str()) {
            Ok(start) if start <= Instant::now() => {}
            Ok(start) => sleep_until(start).await,
            Err(wait) => return Err(ToolError::rate_limited(request.context().known_name(), wait)),
        }
        next.run(request).await
    }
}

/// Until when the turns are used up that were given: of all tools together, and of each.
#[derive(Debug, Default)]
struct Schedule {
    all: Option<Instant>,
    tools: HashMap<String, Option<Instant>>,
}

/// How often something may happen.
#[derive(Debug, Clone, Copy)]
struct Rate {
    /// How much time one call uses up.
    each: Duration,
    /// How far the calls that are made may be ahead of time, when one more comes.
    ahead: Duration,
}

impl Rate {
    fn new(calls: u32, time: Duration) -> Self {
        let time = time.min(LONGEST);
        let each = time / calls.max(1);
        Self { each, ahead: time.saturating_sub(each) }
    }

    /// When the next call may come. `used` is until when those before it have used up the time.
    fn earliest(self, used: Option<Instant>, now: Instant) -> Instant {
        let wait = used.map_or(Duration::ZERO, |used| used.saturating_duration_since(now));
        now + wait.saturating_sub(self.ahead)
    }
}
