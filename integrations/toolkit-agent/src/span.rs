//! The tracing spans of agents and their measurements, with OpenTelemetry's names. Without the feature `tracing`, all
//! functions here do nothing.

mod usage;

pub(crate) use usage::SpanUsage;

use crate::error::AgentError;
use toolkit_core::__private::trace::{Empty, OpenSpan, Timer, measure, present, span};

/// The tracing span of one agent's work. Its parent is the span that is current when the agent begins.
pub(crate) struct AgentSpan {
    span: OpenSpan,
    started: Timer,
}

impl AgentSpan {
    #[inline]
    pub(crate) fn new(name: &str, description: &str, conversation: &str) -> Self {
        Self {
            started: Timer::start(),
            span: span!(
                "invoke_agent",
                "otel.name" = format_args!("invoke_agent {name}"),
                "otel.kind" = "internal",
                "otel.status_code" = Empty,
                "gen_ai.operation.name" = "invoke_agent",
                "gen_ai.provider.name" = Empty,
                "gen_ai.request.model" = Empty,
                "gen_ai.agent.name" = name,
                "gen_ai.agent.description" = present(description),
                "gen_ai.conversation.id" = present(conversation),
                "gen_ai.usage.input_tokens" = Empty,
                "gen_ai.usage.output_tokens" = Empty,
                "error.type" = Empty,
            ),
        }
    }

    /// Adds the model of an agent to the current span. Does nothing if the current span is not the span of an
    /// agent.
    #[inline]
    pub(crate) fn with_model(provider: &str, model: &str) {
        let span = OpenSpan::current();
        span.record("gen_ai.provider.name", present(provider));
        span.record("gen_ai.request.model", model);
    }

    /// Runs the future `work` within the span.
    #[inline]
    pub(crate) fn around<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        self.span.clone().around(work)
    }

    /// Returns a counter for the tokens in this span. `outer` is the counter of the enclosing span. Returns
    /// `None` if no subscriber records the span.
    #[inline]
    pub(crate) fn usage(&self, outer: &SpanUsage) -> Option<SpanUsage> {
        (!self.span.is_disabled()).then(|| SpanUsage::within(outer))
    }

    /// Records the tokens of all model calls within the span, and measures the work of the agent `name`. Also records the
    /// error of the agent, unless the run only waits for decisions.
    #[inline]
    pub(crate) fn end<T>(&self, name: &str, ended: &Result<T, AgentError>, usage: &SpanUsage) {
        usage.record(&self.span);
        let error = match ended {
            Ok(_) | Err(AgentError::Interrupted { .. }) => None,
            Err(error) => Some(error_type(error)),
        };
        if let Some(error) = error {
            self.span.fail(error);
        }
        measure!(
            "histogram.gen_ai.invoke_agent.duration" = self.started.elapsed().as_secs_f64(),
            "gen_ai.operation.name" = "invoke_agent",
            "gen_ai.agent.name" = name,
            "error.type" = error,
        );
    }
}

/// Returns the type of an error, for spans and measurements.
pub(crate) const fn error_type(error: &AgentError) -> &'static str {
    match error {
        AgentError::Model(error) => error.kind().as_str(),
        AgentError::Limit(_) => "limit",
        AgentError::Cancelled => "cancelled",
        AgentError::Interrupted { .. } => "interrupted",
        AgentError::InvalidDecision(_) => "invalid_decision",
        AgentError::Build(_) => "invalid_tools",
        AgentError::InvalidOutput(_) => "invalid_output",
        AgentError::UnknownAgent(_) => "unknown_agent",
        AgentError::Branches(_) => "branches",
        AgentError::Store(_) => "store",
        _ => "_OTHER",
    }
}

/// Runs `work` within the current span, even when another task polls `work`.
#[inline]
pub(crate) fn in_current<F: Future>(work: F) -> impl Future<Output = F::Output> + use<F> {
    OpenSpan::current().around(work)
}
