//! The limits of a run, and the amounts used.

use crate::error::{AgentError, Limit};
use crate::helpers::lock;
use crate::output::Spent;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tokio::time::Instant;
use toolkit_llm::__private::Bill;
use toolkit_llm::{Price, Usage};

/// The limits of a run, shared by all its agents unless a field says otherwise.
///
/// `None` means no limit. All attempts of a run count together: a [resumed](crate::Agent::resume) run ends
/// at once if a limit is reached, unless it gets higher limits.
///
/// An agent that is called as a tool or is a member of a team also has its own limits, unless these are the
/// defaults. If an agent called as a tool reaches its own limit, the calling model reads an error, and the
/// run continues. A parallel agent that reaches its own limit fails alone. After a transfer of the
/// conversation, an agent's own limits no longer apply.
///
/// ```
/// use std::time::Duration;
/// use toolkit_ai::agent::Limits;
///
/// let limits = Limits::default().with_max_model_calls(10).with_max_duration(Duration::from_secs(60));
/// assert_eq!(limits.max_model_calls, 10);
/// ```
#[doc(alias("max_turns", "max_iterations", "UsageLimits", "recursion_limit"))]
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// The maximum number of model calls, including those for [summaries](crate::compaction::Compaction).
    ///
    /// An answer that broke off counts, because providers bill it; an attempt without any answer does not.
    /// Default: 50.
    pub max_model_calls: u32,
    /// The maximum number of tool calls.
    ///
    /// Further ones get an error result, so that the model can still answer. Default: 500.
    pub max_tool_calls: Option<u32>,
    /// The maximum of input and output tokens together, checked before each model call. The last call may
    /// exceed it.
    pub max_tokens: Option<u64>,
    /// The maximum cost of all model calls, in the currency of the [price](crate::AgentBuilder::price),
    /// checked before each.
    ///
    /// The last call may exceed it.
    ///
    /// If the cost of an answer is unknown, the run fails before the next model call: neither the agent nor
    /// its [model](toolkit_llm::model::Priced) has a price, or the server reported no tokens. A free model
    /// is a `Priced` one with the default price.
    pub max_cost: Option<f64>,
    /// The maximum duration of the run.
    ///
    /// Earlier attempts count with their working time in whole seconds, up to the last save. A
    /// [save](crate::Place) in progress at the end gets five more seconds.
    pub max_duration: Option<Duration>,
    /// The timeout of a model call.
    pub model_timeout: Option<Duration>,
    /// The maximum number of attempts at the run whose process has died. Default: 5.
    ///
    /// Otherwise a run that kills its process would do so at each start, where it is
    /// [taken over](crate::runs::LocalRuns::take_over). Checked before the next attempt begins to work. Only the limit
    /// of the run counts, not that of a called agent.
    pub max_lost_attempts: u32,
    /// The maximum number of failures of a tool with the same arguments, without a success in between.
    /// Default: 3.
    ///
    /// Each further call with these arguments is refused with an error result. Each agent counts its own calls.
    pub max_repeated_failures: u32,
    /// The maximum number of consecutive calls of a tool with the same arguments and output. Default: 5.
    ///
    /// Each further equal call is refused, and the model is told to use the output. Each agent counts its own
    /// calls.
    pub max_repeated_calls: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_model_calls: 50,
            max_tool_calls: Some(500),
            max_tokens: None,
            max_cost: None,
            max_duration: None,
            model_timeout: None,
            max_lost_attempts: 5,
            max_repeated_failures: 3,
            max_repeated_calls: 5,
        }
    }
}

setters! { Limits:
    /// Sets the maximum number of model calls.
    with_max_model_calls(max_model_calls: u32) = max_model_calls;
    /// Sets the maximum number of tool calls.
    with_max_tool_calls(max_tool_calls: u32) = Some(max_tool_calls);
    /// Sets the maximum of input and output tokens together.
    with_max_tokens(max_tokens: u64) = Some(max_tokens);
    /// Sets the maximum cost of all model calls.
    with_max_cost(max_cost: f64) = Some(max_cost);
    /// Sets the maximum duration of the run.
    with_max_duration(max_duration: Duration) = Some(max_duration);
    /// Sets the timeout of a model call.
    with_model_timeout(model_timeout: Duration) = Some(model_timeout);
    /// Sets the maximum number of attempts whose process has died, at least 1.
    with_max_lost_attempts(max_lost_attempts: u32) = max_lost_attempts.max(1);
    /// Sets the maximum number of failures of a tool with the same arguments, at least 1.
    with_max_repeated_failures(max_repeated_failures: u32) = max_repeated_failures.max(1);
    /// Sets the maximum number of consecutive equal calls of a tool, at least 1.
    with_max_repeated_calls(max_repeated_calls: u32) = max_repeated_calls.max(1);
}

const UNKNOWN_COST: &str = "the cost of the run is limited, but that of an answer is unknown: its model has no price, or \
    its server has reported no tokens; set the price of the agent, wrap the model in `model::Priced`, or limit the calls";

/// The limits of a run or of an agent, with the amounts used.
#[derive(Debug)]
pub(crate) struct Budget {
    pub(crate) limits: Limits,
    /// The enclosing budget, which also applies. `None` for that of a run.
    outer: Option<Arc<Self>>,
    started: Instant,
    /// What earlier attempts have used, which counts for the limits.
    earlier: OnceLock<Spent>,
    model_calls: AtomicU32,
    tool_calls: AtomicU32,
    counted: Mutex<CountedUsage>,
    /// The limits reached in this budget itself.
    exceeded: Mutex<Vec<Limit>>,
}

#[derive(Debug)]
struct CountedUsage {
    usage: Usage,
    cost: f64,
    /// Whether the cost of all answers is known.
    is_known: bool,
}

impl CountedUsage {
    fn replace(&mut self, before: Usage, now: Bill, price: &Price) {
        self.usage -= before;
        self.usage += now.usage;
        self.cost += now.cost(price) - price.cost(before);
    }
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            outer: None,
            started: Instant::now(),
            earlier: OnceLock::new(),
            model_calls: AtomicU32::new(0),
            tool_calls: AtomicU32::new(0),
            counted: Mutex::new(CountedUsage { usage: Usage::default(), cost: 0.0, is_known: true }),
            exceeded: Mutex::default(),
        }
    }

    /// Creates the budget of an agent with its own limits, within `outer`.
    pub(crate) fn within(outer: Arc<Self>, mut limits: Limits) -> Self {
        let timeouts = [limits.model_timeout, outer.limits.model_timeout];
        limits.model_timeout = timeouts.into_iter().flatten().min();
        Self { outer: Some(outer), ..Self::new(limits) }
    }

    pub(crate) fn outer(&self) -> Option<&Arc<Self>> {
        self.outer.as_ref()
    }

    /// Counts a model call, or returns an error if a limit is reached.
    pub(crate) fn take_model_call(&self) -> Result<(), AgentError> {
        if self.is_out_of_time() {
            return Err(self.out_of_time());
        }
        let earlier = self.earlier();
        if let Some(max) = self.limits.max_tokens
            && earlier.usage.total().saturating_add(lock(&self.counted).usage.total()) >= max
        {
            return Err(self.exceed(Limit::Tokens(max)));
        }
        if let Some(max) = self.limits.max_cost {
            let CountedUsage { cost, is_known, .. } = *lock(&self.counted);
            if earlier.cost + cost >= max {
                return Err(self.exceed(Limit::Cost(max)));
            }
            if !is_known {
                return Err(AgentError::Other(UNKNOWN_COST.to_owned()));
            }
        }
        let max = self.limits.max_model_calls;
        if !take(&self.model_calls, max.saturating_sub(earlier.model_calls)) {
            return Err(self.exceed(Limit::ModelCalls(max)));
        }
        let outer = self.outer.as_ref().map_or(Ok(()), |outer| outer.take_model_call());
        if outer.is_err() {
            self.model_calls.fetch_sub(1, Ordering::Relaxed);
        }
        outer
    }

    /// Counts a tool call. Returns `false` without counting if a limit is reached.
    pub(crate) fn take_tool_call(&self) -> bool {
        let max = self.limits.max_tool_calls.unwrap_or(u32::MAX);
        if !take(&self.tool_calls, max.saturating_sub(self.earlier().tool_calls)) {
            return false;
        }
        let is_free = self.outer.as_ref().is_none_or(|outer| outer.take_tool_call());
        if !is_free {
            self.tool_calls.fetch_sub(1, Ordering::Relaxed);
        }
        is_free
    }

    /// Counts the tokens reported by a running model call, in place of those reported `before`.
    pub(crate) fn report(&self, before: Usage, now: Usage, price: &Price) {
        if let Some(outer) = &self.outer {
            outer.report(before, now, price);
        }
        lock(&self.counted).replace(before, now.into(), price);
    }

    /// Counts the tokens of an ended model call, in place of those that it had `reported`. `price` applies
    /// to tokens without a known cost.
    pub(crate) fn add_bill(&self, reported: Usage, bill: Bill, price: &Price) {
        if let Some(outer) = &self.outer {
            outer.add_bill(reported, bill, price);
        }
        let mut counted = lock(&self.counted);
        counted.replace(reported, bill, price);
        counted.is_known &= bill.is_priced(price);
    }

    /// Notes that an answer came without token counts.
    pub(crate) fn miss_usage(&self) {
        if let Some(outer) = &self.outer {
            outer.miss_usage();
        }
        lock(&self.counted).is_known = false;
    }

    /// Begins after what earlier attempts have used. Only the first call has an effect.
    pub(crate) fn resume(&self, earlier: Spent) {
        let _ = self.earlier.set(earlier);
    }

    /// Returns an error if too many attempts at the run have ended with their process.
    pub(crate) fn check_lost_attempts(&self) -> Result<(), AgentError> {
        let max = self.limits.max_lost_attempts;
        if self.earlier().lost_attempts >= max {
            return Err(self.exceed(Limit::LostAttempts(max)));
        }
        Ok(())
    }

    fn earlier(&self) -> Spent {
        self.earlier.get().copied().unwrap_or_default()
    }

    /// Returns what this attempt has used.
    pub(crate) fn sum(&self) -> Spent {
        let [model_calls, tool_calls] =
            [&self.model_calls, &self.tool_calls].map(|count| count.load(Ordering::Relaxed));
        let seconds = self.started.elapsed().as_secs();
        let counted = lock(&self.counted);
        let (usage, cost) = (counted.usage, counted.cost);
        Spent { usage, cost, model_calls, tool_calls, seconds, lost_attempts: 0 }
    }

    fn elapsed(&self) -> Duration {
        // The seconds come from a store.
        Duration::from_secs(self.earlier().seconds).saturating_add(self.started.elapsed())
    }

    /// Returns what this attempt at the whole run has used.
    pub(crate) fn sum_of_run(&self) -> Spent {
        self.outer.as_ref().map_or_else(|| self.sum(), |outer| outer.sum_of_run())
    }

    pub(crate) fn out_of_time(&self) -> AgentError {
        if let Some(outer) = &self.outer
            && outer.is_out_of_time()
        {
            return outer.out_of_time();
        }
        self.exceed(Limit::Duration(self.limits.max_duration.unwrap_or_default()))
    }

    /// Records that `limit` is reached, and returns the error.
    fn exceed(&self, limit: Limit) -> AgentError {
        let mut exceeded = lock(&self.exceeded);
        if !exceeded.contains(&limit) {
            exceeded.push(limit);
        }
        AgentError::Limit(limit)
    }

    /// Returns whether `limit` was reached in this budget or in an enclosing one.
    pub(crate) fn has_exceeded(&self, limit: &Limit) -> bool {
        if lock(&self.exceeded).contains(limit) {
            return true;
        }
        self.outer.as_ref().is_some_and(|outer| outer.has_exceeded(limit))
    }

    pub(crate) fn is_out_of_time(&self) -> bool {
        self.limits.max_duration.is_some_and(|max| self.elapsed() >= max)
            || self.outer.as_ref().is_some_and(|outer| outer.is_out_of_time())
    }

    /// Returns the time left for the run or the agent. `None` means no limit.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        let own = self.limits.max_duration.map(|max| max.saturating_sub(self.elapsed()));
        let outer = self.outer.as_ref().and_then(|outer| outer.time_left());
        own.into_iter().chain(outer).min()
    }
}

/// Increments `count` below `max`, and returns whether it did.
fn take(count: &AtomicU32, max: u32) -> bool {
    let relaxed = Ordering::Relaxed;
    count.fetch_update(relaxed, relaxed, |count| (count < max).then_some(count + 1)).is_ok()
}
