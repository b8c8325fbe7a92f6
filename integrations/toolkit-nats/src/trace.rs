//! The trace context of a call, carried from machine to machine.

use serde::{Deserialize, Serialize};

/// The W3C trace context of a call.
///
/// Add this value as an [extension](toolkit_core::RunContext::with_extension) to the run or to the tool context of a
/// call: it reaches the worker, where tools and middleware find it as an extension, too.
///
/// ```
/// use toolkit::RunContext;
/// use toolkit_nats::TraceContext;
///
/// let trace = TraceContext::new("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
/// let run = RunContext::new().with_extension(trace.with_state("vendor=1"));
/// assert!(run.extension::<TraceContext>().is_some());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TraceContext {
    /// The value of `traceparent`: the version, the trace id, the id of the parent span and the flags.
    pub parent: String,
    /// The value of `tracestate`, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}

impl TraceContext {
    /// Creates a trace context from the value of `traceparent`.
    #[must_use]
    pub fn new(parent: impl Into<String>) -> Self {
        Self { parent: parent.into(), state: None }
    }

    /// Sets the value of `tracestate`.
    #[must_use]
    pub fn with_state(mut self, state: impl Into<String>) -> Self {
        self.state = Some(state.into());
        self
    }
}
