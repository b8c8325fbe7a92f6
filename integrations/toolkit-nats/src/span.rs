//! The spans of calls, with OpenTelemetry's attribute names. Without the feature `tracing`, they do nothing.

#[cfg(feature = "tracing")]
use tracing::{Instrument as _, Span, field::Empty, info_span};

/// The span of one call, at the caller or at the worker.
#[derive(Clone)]
pub(crate) struct MessageSpan(#[cfg(feature = "tracing")] Span);

#[cfg_attr(not(feature = "tracing"), allow(unused_variables, clippy::unused_self))]
impl MessageSpan {
    /// Creates the span of a call that is sent (`send`, `client`) or received (`process`, `consumer`). `parent` is the
    /// `traceparent` of the caller, if any.
    pub(crate) fn new(operation: &str, kind: &str, tool: &str, call: &str, parent: Option<&str>) -> Self {
        Self(
            #[cfg(feature = "tracing")]
            info_span!(
                "fleet_call",
                "otel.name" = format_args!("{operation} {tool}"),
                "otel.kind" = kind,
                "otel.status_code" = Empty,
                "messaging.system" = "nats",
                "messaging.operation.type" = operation,
                "messaging.operation.name" = operation,
                "messaging.message.conversation_id" = call,
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
