//! The tracing spans of agents and model calls, with OpenTelemetry's attribute names. Without the feature
//! `tracing`, all functions here do nothing.

#[cfg(feature = "tracing")]
mod contents;
mod usage;

pub(crate) use usage::SpanUsage;

use crate::error::AgentError;
use toolkit_llm::model::{ModelRequest, ModelResponse};
#[cfg(feature = "tracing")]
use tracing::{Span, field::Empty, info_span, instrument::Instrument};

/// The tracing span of one agent's work. Its parent is the span that is current when the agent begins.
pub(crate) struct AgentSpan(#[cfg(feature = "tracing")] Span);

#[cfg_attr(not(feature = "tracing"), allow(unused_variables, clippy::unused_self))]
impl AgentSpan {
    #[inline]
    pub(crate) fn new(name: &str, description: &str, conversation: &str) -> Self {
        Self(
            #[cfg(feature = "tracing")]
            info_span!(
                "invoke_agent",
                "otel.name" = format_args!("invoke_agent {name}"),
                "otel.kind" = "internal",
                "otel.status_code" = Empty,
                "gen_ai.operation.name" = "invoke_agent",
                "gen_ai.provider.name" = Empty,
                "gen_ai.request.model" = Empty,
                "gen_ai.agent.name" = name,
                "gen_ai.agent.description" = contents::present(description),
                "gen_ai.conversation.id" = contents::present(conversation),
                "gen_ai.usage.input_tokens" = Empty,
                "gen_ai.usage.output_tokens" = Empty,
                "error.type" = Empty,
            ),
        )
    }

    /// Adds the model of an agent to the current span. Does nothing if the current span is not the span of an
    /// agent.
    #[inline]
    pub(crate) fn with_model(provider: &str, model: &str) {
        #[cfg(feature = "tracing")]
        {
            let span = Span::current();
            span.record("gen_ai.provider.name", contents::present(provider));
            span.record("gen_ai.request.model", model);
        }
    }

    /// Runs the future `work` within the span.
    #[inline]
    pub(crate) fn around<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        #[cfg(feature = "tracing")]
        let work = work.instrument(self.0.clone());
        work
    }

    /// Returns a counter for the tokens in this span. `outer` is the counter of the enclosing span. Returns
    /// `None` if no subscriber records the span.
    #[inline]
    pub(crate) fn usage(&self, outer: &SpanUsage) -> Option<SpanUsage> {
        #[cfg(feature = "tracing")]
        return (!self.0.is_disabled()).then(|| SpanUsage::within(outer));
        #[cfg(not(feature = "tracing"))]
        None
    }

    /// Records the tokens of all model calls within the span. Also records the error of the agent, unless the
    /// run only waits for decisions.
    #[inline]
    pub(crate) fn end<T>(&self, ended: &Result<T, AgentError>, usage: &SpanUsage) {
        #[cfg(feature = "tracing")]
        usage.record(&self.0);
        #[cfg(feature = "tracing")]
        if let Err(error) = ended
            && !matches!(error, AgentError::Interrupted { .. })
        {
            contents::record_error(&self.0, error);
        }
    }
}

/// The tracing span of one request to a model. Its parent is the span of the agent.
pub(crate) struct ModelSpan {
    #[cfg(feature = "tracing")]
    span: Span,
    /// Whether the span contains the messages of the request and the response.
    #[cfg(feature = "tracing")]
    has_response: bool,
}

/// The messages in the span of a model call.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(feature = "tracing"), allow(dead_code, reason = "only spans contain them"))]
pub(crate) struct TracedContents {
    pub(crate) request: bool,
    pub(crate) response: bool,
}

/// The names that the span of a model call contains.
#[cfg_attr(not(feature = "tracing"), allow(dead_code, reason = "only spans contain them"))]
pub(crate) struct ModelCall<'a> {
    pub(crate) agent: &'a str,
    pub(crate) provider: &'a str,
    pub(crate) model: &'a str,
    pub(crate) conversation: &'a str,
}

#[cfg_attr(not(feature = "tracing"), allow(unused_variables, clippy::unused_self))]
impl ModelSpan {
    #[inline]
    pub(crate) fn new(call: &ModelCall<'_>, request: &ModelRequest, contents: TracedContents) -> Self {
        #[cfg(not(feature = "tracing"))]
        {
            Self {}
        }
        #[cfg(feature = "tracing")]
        {
            let ModelCall { agent, provider, model, conversation } = call;
            let options = &request.options;
            let span = info_span!(
                "chat",
                "otel.name" = format_args!("chat {model}"),
                "otel.kind" = "client",
                "otel.status_code" = Empty,
                "gen_ai.operation.name" = "chat",
                "gen_ai.provider.name" = contents::present(provider),
                "gen_ai.request.model" = model,
                "gen_ai.agent.name" = agent,
                "gen_ai.conversation.id" = contents::present(conversation),
                "gen_ai.request.temperature" = options.temperature,
                "gen_ai.request.top_p" = options.top_p,
                "gen_ai.request.max_tokens" = options.max_output_tokens,
                "gen_ai.request.seed" = options.seed,
                "gen_ai.request.stop_sequences" = contents::list(&options.stop),
                "gen_ai.system_instructions" = Empty,
                "gen_ai.input.messages" = Empty,
                "gen_ai.output.messages" = Empty,
                "gen_ai.response.model" = Empty,
                "gen_ai.response.finish_reasons" = Empty,
                "gen_ai.usage.input_tokens" = Empty,
                "gen_ai.usage.output_tokens" = Empty,
                "gen_ai.usage.cache_read.input_tokens" = Empty,
                "gen_ai.usage.cache_creation.input_tokens" = Empty,
                "error.type" = Empty,
            );
            if contents.request && !span.is_disabled() {
                contents::record_request(&span, request);
            }
            Self { span, has_response: contents.response }
        }
    }

    /// Runs the future `work`, which sends the request, within the span.
    #[inline]
    pub(crate) fn around<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        #[cfg(feature = "tracing")]
        let work = work.instrument(self.span.clone());
        work
    }

    /// Polls a streamed response within the span. The tool calls in the response run outside of the span.
    #[inline]
    pub(crate) fn in_scope<T>(&self, poll: impl FnOnce() -> T) -> T {
        #[cfg(feature = "tracing")]
        let _entered = self.span.enter();
        poll()
    }

    /// Records the response. After an error, records the error and the part of the response that has arrived.
    #[inline]
    pub(crate) fn end(&self, ended: &Result<ModelResponse, AgentError>) {
        #[cfg(feature = "tracing")]
        {
            let response = match ended {
                Ok(response) => Some(response),
                Err(AgentError::Model(error)) => error.partial.as_deref(),
                Err(_) => None,
            };
            if let Some(response) = response {
                contents::record_response(
                    &self.span,
                    response,
                    self.has_response && !self.span.is_disabled(),
                );
            }
            if let Err(error) = ended {
                contents::record_error(&self.span, error);
            }
        }
    }
}

/// Runs `work` within the current span, even when another task polls `work`.
#[inline]
pub(crate) fn in_current<F: Future>(work: F) -> impl Future<Output = F::Output> + use<F> {
    #[cfg(feature = "tracing")]
    let work = work.instrument(Span::current());
    work
}
