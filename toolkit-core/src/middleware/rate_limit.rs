//! Rate limits for calls.

use super::{Middleware, Next, Outcome, ToolRequest};
use crate::error::{BuildError, ToolError};
use crate::guard::lock;
use crate::name::ToolName;
use crate::pattern::PerTool;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// The maximum period, because longer ones could exceed the range of the clock.
const LONGEST: Duration = Duration::from_secs(86_400 * 365 * 30);

/// Limits the rate of calls, per tool and for all tools together.
///
/// A limit of 60 calls a minute allows a burst of 60 calls, and then one call per second. A call over the
/// limit reserves the next free time and waits for it, first for the limit of its tool. Calls wait in the
/// order of arrival, without a permit of the dispatcher, and do not delay calls of other tools. A
/// cancelled call does not give its reservation back.
///
/// If the wait for a limit would be longer than the [patience](Self::with_patience), the call is refused
/// at once. It may also be refused after the wait for its tool, if other tools have used up the common
/// limit. The error tells the model when to call again.
///
/// Clones of the middleware share the limits. Inside of [`Retry`](super::Retry), each attempt counts.
///
/// ```
/// use std::time::Duration;
/// use toolkit_ai::{Dispatcher, ToolRegistry};
/// use toolkit_ai::middleware::RateLimit;
///
/// let minute = Duration::from_secs(60);
/// let limit = RateLimit::new().for_all(600, minute).for_tool("search-*", 30, minute)?;
/// let dispatcher = Dispatcher::new(ToolRegistry::new())?.with_middleware(limit);
/// # Ok::<(), toolkit_ai::BuildError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct RateLimit {
    all: Option<Rate>,
    tools: PerTool<Rate>,
    patience: Duration,
    schedule: Arc<Mutex<Schedule>>,
}

impl Default for RateLimit {
    fn default() -> Self {
        let patience = Duration::from_secs(30);
        Self { all: None, tools: PerTool::default(), patience, schedule: Arc::default() }
    }
}

impl RateLimit {
    /// Creates middleware without limits, with a patience of 30 seconds.
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits all tools together to `calls` per `time`. Zero calls count as one.
    pub fn for_all(mut self, calls: u32, time: Duration) -> Self {
        self.all = Some(Rate::new(calls, time));
        self
    }

    /// Limits each tool with a name matching `pattern` to `calls` per `time`. Zero calls count as one.
    ///
    /// Names match with or without their namespace, where `*` matches any string and `?` any character.
    /// The first matching pattern applies.
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

    /// Sets the maximum wait of a call for both limits.
    ///
    /// With zero, every call over the limit is refused at once.
    pub fn with_patience(mut self, limit: Duration) -> Self {
        self.patience = limit;
        self
    }

    /// Reserves the earliest time for a tool, or returns the necessary wait if it exceeds the patience.
    fn reserve_for_tool(&self, name: &ToolName) -> Result<Instant, Duration> {
        let now = Instant::now();
        let mut schedule = lock(&self.schedule);
        let of_all = self.all.map_or(now, |rate| rate.earliest(schedule.all, now));
        if of_all - now > self.patience {
            return Err(of_all - now);
        }
        match self.tools.restriction(name) {
            Some(rate) => {
                rate.reserve(schedule.tools.entry(name.to_string()).or_default(), now, self.patience)
            }
            None => Ok(now),
        }
    }

    /// Reserves the earliest time in the common limit, or returns the necessary wait.
    fn reserve_for_all(&self, patience: Duration) -> Result<Instant, Duration> {
        let now = Instant::now();
        self.all.map_or(Ok(now), |rate| rate.reserve(&mut lock(&self.schedule).all, now, patience))
    }

    /// Waits until both limits allow the call, or returns the necessary wait if it exceeds the patience.
    async fn wait(&self, name: &ToolName) -> Result<(), Duration> {
        let arrival = Instant::now();
        sleep_to(self.reserve_for_tool(name)?).await;
        // Reserved before, the common time would delay calls of other tools.
        let patience = self.patience.saturating_sub(arrival.elapsed());
        sleep_to(self.reserve_for_all(patience)?).await;
        Ok(())
    }
}

async fn sleep_to(start: Instant) {
    if start > Instant::now() {
        sleep_until(start).await;
    }
}

impl Middleware for RateLimit {
    fn tool_patterns(&self) -> Vec<&str> {
        self.tools.patterns()
    }

    async fn handle(&self, request: ToolRequest, next: Next) -> Outcome {
        if let Err(wait) = self.wait(&request.definition().name).await {
            return Err(ToolError::rate_limited(request.context().known_name(), wait));
        }
        next.run(request).await
    }
}

/// The end of all reservations, for all tools together and for each tool.
#[derive(Debug, Default)]
struct Schedule {
    all: Option<Instant>,
    tools: HashMap<String, Option<Instant>>,
}

#[derive(Debug, Clone, Copy)]
struct Rate {
    /// The time of one call: one second at a rate of 60 calls a minute.
    each: Duration,
    /// How far ahead of now reservations may end while the next call still runs at once, as a burst.
    ahead: Duration,
}

impl Rate {
    fn new(calls: u32, time: Duration) -> Self {
        let time = time.min(LONGEST);
        let each = time / calls.max(1);
        Self { each, ahead: time.saturating_sub(each) }
    }

    /// Reserves the earliest time for a call, or returns the necessary wait if it exceeds `patience`.
    fn reserve(
        self,
        used: &mut Option<Instant>,
        now: Instant,
        patience: Duration,
    ) -> Result<Instant, Duration> {
        let start = self.earliest(*used, now);
        if start - now > patience {
            return Err(start - now);
        }
        *used = Some(used.map_or(start, |used| used.max(start)) + self.each);
        Ok(start)
    }

    /// Returns the earliest time for the next call, where time up to `used` is reserved.
    fn earliest(self, used: Option<Instant>, now: Instant) -> Instant {
        let wait = used.map_or(Duration::ZERO, |used| used.saturating_duration_since(now));
        now + wait.saturating_sub(self.ahead)
    }
}
