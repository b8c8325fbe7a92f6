//! The spans of calls, with OpenTelemetry's attribute names. Without the feature `tracing`, they do nothing.

use toolkit_core::__private::trace::{Empty, OpenSpan, span};

#[derive(Clone)]
pub(crate) struct MessageSpan(OpenSpan);

impl MessageSpan {
    /// Creates the span of a call that is sent (`send`, `client`) or received (`process`, `consumer`).
    /// `parent` is the caller's `traceparent`.
    pub(crate) fn new(operation: &str, kind: &str, tool: &str, call: &str, parent: Option<&str>) -> Self {
        Self(span!(
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
        ))
    }

    pub(crate) fn fail(&self, kind: &str) {
        self.0.fail(kind);
    }

    pub(crate) fn around<F: Future>(self, run: F) -> impl Future<Output = F::Output> + use<F> {
        self.0.around(run)
    }
}
