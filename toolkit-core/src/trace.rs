//! Spans and measurements of operations, for all crates. Without the feature `tracing`, they do nothing
//! and have no size.
//!
//! An operation writes its [`span!`](crate::__span) and its [`measure!`](crate::__measure) with
//! OpenTelemetry's names. The macros are here, so that no other crate asks for the feature.

#[cfg(not(feature = "tracing"))]
mod off;
#[cfg(feature = "tracing")]
mod on;

pub use crate::{__measure as measure, __span as span};
#[cfg(not(feature = "tracing"))]
pub use off::{Empty, is_observed};
#[cfg(feature = "tracing")]
pub use on::{Empty, METRICS_TARGET, is_observed};
#[cfg(feature = "tracing")]
pub use tracing;

/// The span of an operation. Clones are the same span.
#[derive(Debug, Clone)]
pub struct OpenSpan(#[cfg(feature = "tracing")] pub tracing::Span);

/// The time at which an operation began.
#[derive(Debug, Clone, Copy)]
pub struct Timer(#[cfg(feature = "tracing")] std::time::Instant);

impl OpenSpan {
    /// Records that the operation has failed with an error of the kind `error`.
    #[inline]
    pub fn fail(&self, error: &str) {
        self.record("error.type", error);
        self.record("otel.status_code", "ERROR");
    }
}

/// Returns the text, or `None` if it is empty, for attributes to be left out.
#[inline]
#[must_use]
pub fn present(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}
