//! Spans and measurements with the crate `tracing`.

use super::{OpenSpan, Timer};
use std::time::{Duration, Instant};
pub use tracing::field::Empty;
use tracing::instrument::Instrument as _;
use tracing::{Span, Value};

impl OpenSpan {
    /// Returns the current span.
    #[must_use]
    pub fn current() -> Self {
        Self(Span::current())
    }

    /// Returns whether no subscriber records the span.
    #[inline]
    #[must_use]
    pub fn is_disabled(&self) -> bool {
        self.0.is_disabled()
    }

    /// Sets an attribute of the span.
    #[inline]
    pub fn record(&self, name: &str, value: impl Value) {
        self.0.record(name, value);
    }

    /// Polls the future `work` within the span.
    #[inline]
    pub fn around<F: Future>(self, work: F) -> impl Future<Output = F::Output> + use<F> {
        work.instrument(self.0)
    }

    /// Runs `work` within the span.
    #[inline]
    pub fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        self.0.in_scope(work)
    }
}

impl Timer {
    /// Starts a timer now.
    #[inline]
    #[must_use]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Returns the time since the start.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// The target of the `tracing` events that carry measurements, such as the duration of a call.
///
/// The `MetricsLayer` of `tracing-opentelemetry` makes metrics of them. They have the level `TRACE`, so a
/// filter in front of all layers must let this target pass.
pub const METRICS_TARGET: &str = "toolkit::metrics";

/// Returns whether the program has a subscriber.
#[inline]
#[must_use]
pub fn is_observed() -> bool {
    tracing::dispatcher::has_been_set()
}

/// Opens a span with attributes, which are `Empty` if recorded later.
#[doc(hidden)]
#[macro_export]
macro_rules! __span {
    ($name:literal, $($key:literal = $value:expr),+ $(,)?) => {
        $crate::__private::trace::OpenSpan(
            $crate::__private::trace::tracing::info_span!($name, $($key = $value),+)
        )
    };
}

/// Emits measurements as an event that belongs to no span, without those that are `None`.
#[doc(hidden)]
#[macro_export]
macro_rules! __measure {
    ($($key:literal = $value:expr),+ $(,)?) => {
        $crate::__private::trace::tracing::event!(
            target: $crate::__private::trace::METRICS_TARGET,
            parent: None,
            $crate::__private::trace::tracing::Level::TRACE,
            $($key = $value),+
        )
    };
}
