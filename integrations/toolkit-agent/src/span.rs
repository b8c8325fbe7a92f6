//! The tracing spans and measurements of agents, with OpenTelemetry's names; without the feature `tracing`,
//! all functions do nothing.

mod usage;

pub(crate) use usage::SpanUsage;

use crate::error::AgentError;
use toolkit_core::__private::trace::{Empty, OpenSpan, Timer, measure, present, span};

/// The span of one agent's work, within the span that is current when the agent begins.
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

    /// Adds the agent's model to the current span, if it is that of an agent.
    #[inline]
    pub(crate) fn with_model(provider: &str, model: &str) {
        let span = OpenSpan::current();
        span.record("gen_ai.provider.name", present(provider));
        span.record("gen_ai.request.model", model);
    }

    #[inline]
    pub(crate) fn around<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        self.span.clone().around(work)
    }

    /// Returns a counter for the tokens in this span, within that of the enclosing span. `None` if no
    /// subscriber records the span.
    #[inline]
    pub(crate) fn usage(&self, outer: &SpanUsage) -> Option<SpanUsage> {
        (!self.span.is_disabled()).then(|| SpanUsage::within(outer))
    }

    /// Records the tokens within the span, and measures the work of the agent `name`. Also records its
    /// error, unless the run only waits for decisions.
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

/// Returns an error's type for spans and measurements.
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

/// Runs `work` within the current span, even if another task polls it.
#[inline]
pub(crate) fn in_current<F: Future>(work: F) -> impl Future<Output = F::Output> + use<F> {
    OpenSpan::current().around(work)
}
