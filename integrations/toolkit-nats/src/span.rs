//! The spans of calls, with OpenTelemetry's attribute names. Without the feature `tracing`, they do nothing.

#[cfg(feature = "tracing")]
use tracing::{Instrument as _, Span, field::Empty, info_span};

/// The span of one call, at the caller or at the worker.
#[derive(Clone)]
pub(crate) struct MessageSpan(#[cfg(feature = "tracing")] Span);

#[cfg_attr(not(feature = "tracing"), allow(unused_variables, clippy::unused_self))]
impl MessageSpan {
    /// Creates the span of a call that is sent.
    pub(crate) fn of_caller(tool: &str, call: &str) -> Self {
        Self(
            #[cfg(feature = "tracing")]
            info_span!(
                "send",
                "otel.name" = format_args!("send {tool}"),
                "otel.kind" = "client",
                "otel.status_code" = Empty,
                "messaging.system" = "nats",
                "messaging.operation.type" = "send",
                "messaging.operation.name" = "request",
                "messaging.message.conversation_id" = call,
                "gen_ai.tool.name" = tool,
                "error.type" = Empty,
            ),
        )
    }

    /// Creates the span of a received call. `parent` is the `traceparent` of the caller, if any.
    pub(crate) fn of_worker(tool: &str, call: &str, worker: &str, parent: Option<&str>) -> Self {
        Self(
            #[cfg(feature = "tracing")]
            info_span!(
                "process",
                "otel.name" = format_args!("process {tool}"),
                "otel.kind" = "consumer",
                "otel.status_code" = Empty,
                "messaging.system" = "nats",
                "messaging.operation.type" = "process",
                "messaging.operation.name" = "process",
                "messaging.message.conversation_id" = call,
                "messaging.client.id" = worker,
                "gen_ai.tool.name" = tool,
                "traceparent" = parent,
                "error.type" = Empty,
            ),
        )
    }

    /// Records the failure of a call.
    pub(crate) fn fail(&self, kind: &str) {
        #[cfg(feature = "tracing")]
        {
            self.0.record("error.type", kind);
            self.0.record("otel.status_code", "ERROR");
        }
    }

    pub(crate) fn around<F: Future>(self, run: F) -> impl Future<Output = F::Output> {
        #[cfg(feature = "tracing")]
        let run = run.instrument(self.0);
        run
    }
}
