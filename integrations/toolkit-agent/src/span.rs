//! The tracing spans of agents and their measurements, with OpenTelemetry's names. Without the feature `tracing`, all
//! functions here do nothing.

mod usage;

pub(crate) use usage::SpanUsage;

use crate::error::AgentError;
#[cfg(feature = "tracing")]
use std::time::Instant;
#[cfg(feature = "tracing")]
use tracing::{Span, field::Empty, info_span, instrument::Instrument};

/// The tracing span of one agent's work. Its parent is the span that is current when the agent begins.
pub(crate) struct AgentSpan {
    #[cfg(feature = "tracing")]
    span: Span,
    #[cfg(feature = "tracing")]
    started: Instant,
}

#[cfg_attr(not(feature = "tracing"), allow(unused_variables, clippy::unused_self))]
impl AgentSpan {
    #[inline]
    pub(crate) fn new(name: &str, description: &str, conversation: &str) -> Self {
        Self {
            #[cfg(feature = "tracing")]
            started: Instant::now(),
            #[cfg(feature = "tracing")]
            span: info_span!(
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
        #[cfg(feature = "tracing")]
        {
            let span = Span::current();
            span.record("gen_ai.provider.name", present(provider));
            span.record("gen_ai.request.model", model);
        }
    }

    /// Runs the future `work` within the span.
    #[inline]
    pub(crate) fn around<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        #[cfg(feature = "tracing")]
        let work = work.instrument(self.span.clone());
        work
    }

    /// Returns a counter for the tokens in this span. `outer` is the counter of the enclosing span. Returns
    /// `None` if no subscriber records the span.
    #[inline]
    pub(crate) fn usage(&self, outer: &SpanUsage) -> Option<SpanUsage> {
        #[cfg(feature = "tracing")]
        return (!self.span.is_disabled()).then(|| SpanUsage::within(outer));
        #[cfg(not(feature = "tracing"))]
        None
    }

    /// Records the tokens of all model calls within the span, and measures the work of the agent `name`. Also records the
    /// error of the agent, unless the run only waits for decisions.
    #[inline]
    pub(crate) fn end<T>(&self, name: &str, ended: &Result<T, AgentError>, usage: &SpanUsage) {
        #[cfg(feature = "tracing")]
        {
            usage.record(&self.span);
            let failed = ended.as_ref().err();
            let failed = failed.filter(|error| !matches!(error, AgentError::Interrupted { .. }));
            let error = failed.map(error_type);
            if let Some(error) = error {
                self.span.record("error.type", error);
                self.span.record("otel.status_code", "ERROR");
            }
            tracing::event!(
                target: toolkit_core::events::METRICS_TARGET,
                parent: None,
                tracing::Level::TRACE,
                "histogram.gen_ai.invoke_agent.duration" = self.started.elapsed().as_secs_f64(),
                "gen_ai.operation.name" = "invoke_agent",
                "gen_ai.agent.name" = name,
                "error.type" = error,
            );
        }
    }
}

/// Returns the text, or `None` if it is empty. The span leaves out an attribute that is `None`.
#[cfg(feature = "tracing")]
fn present(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
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
    #[cfg(feature = "tracing")]
    let work = work.instrument(Span::current());
    work
}
