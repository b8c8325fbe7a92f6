//! The trace context of a call, carried from process to process.

use crate::macros::setters;

/// The W3C trace context of a call.
///
/// To send the trace context to MCP servers, add this value as an
/// [extension](toolkit_core::ToolContext::with_extension) to a tool context or to a run. The client then
/// writes the trace context into the `_meta` of each call.
///
/// ```
/// use toolkit_core::RunContext;
/// use toolkit_mcp::TraceContext;
///
/// let trace = TraceContext::new("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
/// let run = RunContext::new().with_extension(trace.with_state("vendor=1"));
/// assert!(run.extension::<TraceContext>().is_some());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceContext {
    /// The value of `traceparent`: the version, the trace id, the id of the parent span and the flags.
    pub parent: String,
    /// The value of `tracestate`, if any.
    pub state: Option<String>,
    /// The value of `baggage`, if any.
    pub baggage: Option<String>,
}

impl TraceContext {
    /// Creates a trace context from the value of `traceparent`.
    #[must_use]
    pub fn new(parent: impl Into<String>) -> Self {
        Self { parent: parent.into(), state: None, baggage: None }
    }
}

setters! { TraceContext:
    /// Sets the value of `tracestate`.
    with_state(state: impl Into<String>) = Some(state.into());
    /// Sets the value of `baggage`.
    with_baggage(baggage: impl Into<String>) = Some(baggage.into());
}
