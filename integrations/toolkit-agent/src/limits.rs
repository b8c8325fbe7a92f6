//! How far a run may go.

use crate::error::{AgentError, Limit};
use crate::model::{Price, Usage};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;

const BILLION: f64 = 1e9;

/// How far a run may go, all agents that take part in it together.
///
/// ```
/// use std::time::Duration;
/// use toolkit_agent::Limits;
///
/// let limits = Limits::default().with_max_model_calls(10).with_max_duration(Duration::from_secs(60));
/// assert_eq!(limits.max_model_calls, 10);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// How often models may be asked; 50 if nothing else is said.
    pub max_model_calls: u32,
    /// How many calls of tools are run. Those beyond are answered with an error, so that the model can come to an
    /// end with what it has.
    pub max_tool_calls: Option<u32>,
    /// How many tokens may be read and written.
    pub max_tokens: Option<u64>,
    /// How long the run may take.
    pub max_duration: Option<Duration>,
    /// How long one answer of a model may take.
    pub model_timeout: Option<Duration>,
    /// How often in a row the same call, with the same arguments, may fail before it is no longer run; 3 if nothing
    /// else is said.
    pub max_repeated_failures: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_model_calls: 50,
            max_tool_calls: None,
            max_tokens: None,
            max_duration: None,
            model_timeout: None,
            max_repeated_failures: 3,
        }
    }
}

impl Limits {
    /// Sets how often models may be asked.
    #[must_use]
    pub fn with_max_model_calls(mut self, calls: u32) -> Self {
        self.max_model_calls = calls;
        self
    }

    /// Sets how many calls of tools are run.
    #[must_use]
    pub fn with_max_tool_calls(mut self, calls: u32) -> Self {
        self.max_tool_calls = Some(calls);
        self
    }

    /// Sets how many tokens may be read and written.
    #[must_use]
    pub fn with_max_tokens(mut self, tokens: u64) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Sets how long the run may take.
    #[must_use]
    pub fn with_max_duration(mut self, duration: Duration) -> Self {
        self.max_duration = Some(duration);
        self
    }

    /// Sets how long one answer of a model may take.
    #[must_use]
    pub fn with_model_timeout(mut self, limit: Duration) -> Self {
        self.model_timeout = Some(limit);
        self
    }

    /// Sets how often in a row the same call may fail, at least once.
    #[must_use]
    pub fn with_max_repeated_failures(mut self, times: u32) -> Self {
        self.max_repeated_failures = times.max(1);
        self
    }
}

/// What a run has used up.
#[derive(Debug)]
pub(crate) struct Budget {
    limits: Limits,
    started: Instant,
    model_calls: AtomicU32,
    tool_calls: AtomicU32,
    input_tokens: AtomicU64,
    output_tokens: AtomicU64,
    cached_input_tokens: AtomicU64,
    reasoning_tokens: AtomicU64,
    /// In billionths of the price's unit.
    cost: AtomicU64,
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            started: Instant::now(),
            model_calls: AtomicU32::new(0),
            tool_calls: AtomicU32::new(0),
            input_tokens: AtomicU64::new(0),
            output_tokens: AtomicU64::new(0),
            cached_input_tokens: AtomicU64::new(0),
            reasoning_tokens: AtomicU64::new(0),
            cost: AtomicU64::new(0),
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Counts one more question to a model, if it may be asked.
    pub(crate) fn take_model_call(&self) -> Result<(), AgentError> {
        if let Some(most) = self.limits.max_duration
            && self.started.elapsed() >= most
        {
            return Err(AgentError::Limit(Limit::Duration(most)));
        }
        if let Some(most) = self.limits.max_tokens
            && self.usage().total() >= most
        {
            return Err(AgentError::Limit(Limit::Tokens(most)));
        }
        let most = self.limits.max_model_calls;
        take(&self.model_calls, most).then_some(()).ok_or(AgentError::Limit(Limit::ModelCalls(most)))
    }

    /// Counts one more call of a tool; `false` if there were enough.
    pub(crate) fn take_tool_call(&self) -> bool {
        take(&self.tool_calls, self.limits.max_tool_calls.unwrap_or(u32::MAX))
    }

    pub(crate) fn add_usage(&self, usage: Usage, price: &Price) {
        let add = |sum: &AtomicU64, more: u64| sum.fetch_add(more, Ordering::Relaxed);
        add(&self.input_tokens, usage.input_tokens);
        add(&self.output_tokens, usage.output_tokens);
        add(&self.cached_input_tokens, usage.cached_input_tokens);
        add(&self.reasoning_tokens, usage.reasoning_tokens);
        add(&self.cost, (price.of(usage) * BILLION).round() as u64);
    }

    pub(crate) fn cost(&self) -> f64 {
        self.cost.load(Ordering::Relaxed) as f64 / BILLION
    }

    pub(crate) fn usage(&self) -> Usage {
        let read = |sum: &AtomicU64| sum.load(Ordering::Relaxed);
        Usage::new(read(&self.input_tokens), read(&self.output_tokens))
            .with_cached_input(read(&self.cached_input_tokens))
            .with_reasoning(read(&self.reasoning_tokens))
    }

    pub(crate) fn model_calls(&self) -> u32 {
        self.model_calls.load(Ordering::Relaxed)
    }

    pub(crate) fn tool_calls(&self) -> u32 {
        self.tool_calls.load(Ordering::Relaxed)
    }

    /// What it means that the run has taken as long as it may.
    pub(crate) fn out_of_time(&self) -> AgentError {
        AgentError::Limit(Limit::Duration(self.limits.max_duration.unwrap_or_default()))
    }

    /// How long the run may still take.
    pub(crate) fn run_time_left(&self) -> Option<Duration> {
        self.limits.max_duration.map(|most| most.saturating_sub(self.started.elapsed()))
    }

    /// How long the next answer of a model may take, and what it means if it takes longer.
    pub(crate) fn time_left(&self) -> Option<(Duration, TimeLimit)> {
        match (self.run_time_left(), self.limits.model_timeout) {
            (Some(run), Some(model)) if run < model => Some((run, TimeLimit::Run)),
            (_, Some(model)) => Some((model, TimeLimit::Model)),
            (Some(run), None) => Some((run, TimeLimit::Run)),
            (None, None) => None,
        }
    }
}

/// Whose time is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeLimit {
    Run,
    Model,
}

/// Counts one more, unless there were enough already.
fn take(count: &AtomicU32, most: u32) -> bool {
    let one_more = |count| (count < most).then_some(count + 1);
    count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok()
}
