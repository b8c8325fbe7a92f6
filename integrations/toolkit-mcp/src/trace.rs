//! The trace context of a call, carried from process to process.

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

    /// Sets the value of `tracestate`.
    #[must_use]
    pub fn with_state(mut self, state: impl Into<String>) -> Self {
        self.state = Some(state.into());
        self
    }

    /// Sets the value of `baggage`.
    #[must_use]
    pub fn with_baggage(mut self, baggage: impl Into<String>) -> Self {
        self.baggage = Some(baggage.into());
        self
    }
}
