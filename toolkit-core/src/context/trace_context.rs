//! The trace context of a call, carried between processes.

use serde::{Deserialize, Serialize};

/// The W3C trace context of a call.
///
/// It is an [extension](crate::RunContext::with_extension) of a run or a tool context. A client of another
/// process sends it with each call, to be an extension there, too.
///
/// ```
/// use toolkit_ai::RunContext;
/// use toolkit_ai::context::TraceContext;
///
/// let trace = TraceContext::new("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
/// let run = RunContext::new().with_extension(trace.with_state("vendor=1"));
/// assert!(run.extension::<TraceContext>().is_some());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TraceContext {
    /// The value of `traceparent`: version, trace id, parent span id and flags.
    pub parent: String,
    /// The value of `tracestate`, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The value of `baggage`, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baggage: Option<String>,
}

impl TraceContext {
    /// Creates a trace context from `traceparent`.
    #[must_use]
    pub fn new(parent: impl Into<String>) -> Self {
        Self { parent: parent.into(), state: None, baggage: None }
    }
}

setters! { TraceContext:
    /// Sets `tracestate`.
    with_state(state: impl Into<String>) = Some(state.into());
    /// Sets `baggage`.
    with_baggage(baggage: impl Into<String>) = Some(baggage.into());
}
