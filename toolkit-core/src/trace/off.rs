//! Spans and measurements that do nothing.

use super::{OpenSpan, Timer};
use std::time::Duration;

/// The value of an attribute to be recorded later.
#[derive(Debug)]
pub struct Empty;

#[allow(clippy::unused_self, reason = "the same methods as with the feature")]
impl OpenSpan {
    /// Returns a span.
    #[must_use]
    pub fn current() -> Self {
        Self()
    }

    /// Returns `true`.
    #[inline]
    #[must_use]
    pub fn is_disabled(&self) -> bool {
        true
    }

    /// Does nothing.
    #[inline]
    pub fn record<V>(&self, _name: &str, _value: V) {}

    /// Returns `work`.
    #[inline]
    pub fn around<F: Future>(self, work: F) -> F {
        work
    }

    /// Runs `work`.
    #[inline]
    pub fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        work()
    }
}

#[allow(clippy::unused_self, reason = "the same methods as with the feature")]
impl Timer {
    /// Starts a timer now.
    #[inline]
    #[must_use]
    pub fn start() -> Self {
        Self()
    }

    /// Returns the time since the start.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}

/// Returns `false`.
#[inline]
#[must_use]
pub const fn is_observed() -> bool {
    false
}

#[doc(hidden)]
#[macro_export]
macro_rules! __span {
    ($name:literal, $($key:literal = $value:expr),+ $(,)?) => {{
        if false {
            $(let _ = &$value;)+
        }
        $crate::__private::trace::OpenSpan()
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __measure {
    ($($key:literal = $value:expr),+ $(,)?) => {
        if false {
            $(let _ = &$value;)+
        }
    };
}
