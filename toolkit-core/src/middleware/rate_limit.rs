//! Rate limits for calls.

use super::{Middleware, Next, Outcome, ToolRequest};
use crate::error::{BuildError, ToolError};
use crate::pattern::PerTool;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// The maximum period of a rate. Longer periods could exceed the range of the clock.
const LONGEST: Duration = Duration::from_secs(86_400 * 365 * 30);

/// Limits the rate of calls, per tool and for all tools together.
///
/// A limit of 60 calls a minute allows a burst of 60 calls, and then one call per second. A call over the limit
/// reserves the next free time and waits for it. Calls wait in the order of arrival, and a waiting call holds no permit
/// of the dispatcher. If a waiting call is cancelled, its reserved time stays unused.
///
/// If the wait would be longer than the [patience](Self::with_patience), the call is refused at once without
/// a reservation. The error tells the model when to call again.
///
/// The limits apply to all batches of a dispatcher and its clones. If this middleware is inside of
/// [`Retry`](super::Retry), each attempt counts.
///
/// ```
/// use std::time::Duration;
/// use toolkit::{Dispatcher, ToolRegistry};
/// use toolkit::middleware::RateLimit;
///
/// let minute = Duration::from_secs(60);
/// let limit = RateLimit::new().for_all(600, minute).for_tool("search-*", 30, minute)?;
/// let dispatcher = Dispatcher::new(ToolRegistry::new())?.with_middleware(limit);
/// # Ok::<(), toolkit::BuildError>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct RateLimit {
    all: Option<Rate>,
    tools: PerTool<Rate>,
    patience: Duration,
    schedule: Mutex<Schedule>,
}

impl Default for RateLimit {
    fn default() -> Self {
        let patience = Duration::from_secs(30);
        Self { all: None, tools: PerTool::default(), patience, schedule: Mutex::default() }
    }
}

impl RateLimit {
    /// Creates middleware without limits, with a patience of 30 seconds.
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits all tools together to `calls` in each period of `time`. A limit of zero calls counts as one.
    pub fn for_all(mut self, calls: u32, time: Duration) -> Self {
        self.all = Some(Rate::new(calls, time));
        self
    }

    /// Limits each tool with a name matching `pattern` to `calls` in each period of `time`. A limit of zero
    /// calls counts as one. In the pattern, `*` matches any string and `?` any character. The first matching
    /// pattern applies.
    ///
    /// # Errors
    /// [`BuildError`] if no legal name can match the pattern.
    pub fn for_tool(
        mut self,
        pattern: impl Into<String>,
        calls: u32,
        time: Duration,
    ) -> Result<Self, BuildError> {
        self.tools.add(pattern, Rate::new(calls, time))?;
        Ok(self)
    }

    /// Sets the maximum wait of a call. If the maximum is zero, every call over the limit is refused at once.
    pub fn with_patience(mut self, limit: Duration) -> Self {
        self.patience = limit;
        self
    }

    /// Reserves the earliest time for a call of the tool called `name` and returns this time.
    ///
    /// # Errors
    /// The necessary wait, if it exceeds the patience.
    fn reserve(&self, name: &str) -> Result<Instant, Duration> {
        let of_tool = self.tools.get(name).copied();
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
        match self.reserve(request.definition().name.as_str()) {
            Ok(start) if start <= Instant::now() => {}
            Ok(start) => sleep_until(start).await,
            Err(wait) => return Err(ToolError::rate_limited(request.context().known_name(), wait)),
        }
        next.run(request).await
    }
}

/// The end of all current reservations: one time for all tools together, and one for each tool.
#[derive(Debug, Default)]
struct Schedule {
    all: Option<Instant>,
    tools: HashMap<String, Option<Instant>>,
}

/// A limit for the rate of calls.
#[derive(Debug, Clone, Copy)]
struct Rate {
    /// The time that one call reserves: one second at a rate of 60 calls a minute.
    each: Duration,
    /// The maximum time from now to the end of the reservations at which the next call still runs at once. This allows
    /// bursts.
    ahead: Duration,
}

impl Rate {
    fn new(calls: u32, time: Duration) -> Self {
        let time = time.min(LONGEST);
        let each = time / calls.max(1);
        Self { each, ahead: time.saturating_sub(each) }
    }

    /// Returns the earliest time for the next call. `used` is the time at which the current reservations end.
    fn earliest(self, used: Option<Instant>, now: Instant) -> Instant {
        let wait = used.map_or(Duration::ZERO, |used| used.saturating_duration_since(now));
        now + wait.saturating_sub(self.ahead)
    }
}
