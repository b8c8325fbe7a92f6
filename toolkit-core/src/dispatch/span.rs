//! The tracing span of a call and its measurement, with OpenTelemetry's attribute names, and logged warnings. Without the feature
//! `tracing`, both do nothing.

use crate::call::CallId;
use crate::definition::ToolDefinition;
use crate::error::BuildProblem;
use crate::output::Outcome;
use crate::registry::RegistrySource;
#[cfg(feature = "tracing")]
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use std::time::Duration;
#[cfg(feature = "tracing")]
use tracing::{Span, field::Empty, info_span, instrument::Instrument};

/// The span of a call. Its parent is the span that is current when the call is prepared.
#[derive(Clone)]
pub(super) struct CallSpan(#[cfg(feature = "tracing")] Span);

#[cfg_attr(not(feature = "tracing"), allow(unused_variables, clippy::unused_self))]
impl CallSpan {
    /// Creates the span of a call. The span of an unknown tool gets the tool name from the call.
    #[inline]
    pub(super) fn new(
        definition: Option<&ToolDefinition>,
        name: &str,
        call_id: &CallId,
        arguments: Option<&str>,
    ) -> Self {
        #[cfg(feature = "tracing")]
        let name = definition.map_or(name, |definition| definition.name.as_str());
        Self(
            #[cfg(feature = "tracing")]
            info_span!(
                "execute_tool",
                "otel.name" = format_args!("execute_tool {name}"),
                "otel.kind" = "internal",
                "otel.status_code" = Empty,
                "gen_ai.operation.name" = "execute_tool",
                "gen_ai.tool.name" = name,
                "gen_ai.tool.call.id" = call_id.as_str(),
                "gen_ai.tool.description" = definition.map(|definition| definition.description.as_str()),
                "gen_ai.tool.type" = "function",
                "gen_ai.tool.call.arguments" = arguments,
                "gen_ai.tool.call.result" = Empty,
                "error.type" = Empty,
            ),
        )
    }

    /// Records the outcome, and measures the call. If `contents` is `true`, the output is recorded too. `tool` is the
    /// name of the tool, if it is known: the names that models invent would be too many.
    #[inline]
    pub(super) fn end(&self, outcome: &Outcome, contents: bool, tool: Option<&str>, duration: Duration) {
        #[cfg(feature = "tracing")]
        let error = match outcome {
            Ok(output) if contents && !self.0.is_disabled() => {
                self.0.record("gen_ai.tool.call.result", &*output.to_text());
                None
            }
            Ok(_) => None,
            // A pending call has neither ended nor failed.
            Err(error) if error.kind() == crate::error::ErrorKind::Pending => return,
            Err(error) => Some(error.kind().as_str()),
        };
        #[cfg(feature = "tracing")]
        if let Some(error) = error {
            self.0.record("error.type", error);
            self.0.record("otel.status_code", "ERROR");
        }
        #[cfg(feature = "tracing")]
        tracing::event!(
            target: crate::events::METRICS_TARGET,
            parent: None,
            tracing::Level::TRACE,
            "histogram.gen_ai.execute_tool.duration" = duration.as_secs_f64(),
            "gen_ai.operation.name" = "execute_tool",
            "gen_ai.tool.name" = tool.unwrap_or("_OTHER"),
            "gen_ai.tool.type" = "function",
            "error.type" = error,
        );
    }

    #[inline]
    pub(super) fn around<F: Future>(self, run: F) -> impl Future<Output = F::Output> {
        #[cfg(feature = "tracing")]
        let run = run.instrument(self.0);
        run
    }
}

/// The number of the tools whose warnings have been logged, counted from 1. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Warned(#[cfg(feature = "tracing")] Arc<AtomicU64>);

#[cfg_attr(not(feature = "tracing"), allow(unused_variables, clippy::unused_self))]
impl Warned {
    /// Logs the problems returned by `warnings`, the first time and after each change of the tools.
    #[inline]
    pub(super) fn log(&self, source: &RegistrySource, warnings: impl FnOnce() -> Vec<BuildProblem>) {
        #[cfg(feature = "tracing")]
        {
            let tools = source.version() + 1;
            if self.0.load(Ordering::Relaxed) != tools && self.0.swap(tools, Ordering::Relaxed) != tools {
                warnings().iter().for_each(|problem| tracing::warn!("{problem}"));
            }
        }
    }
}

/// Wraps a closure so that it runs within the current span on any thread.
#[inline]
pub(super) fn in_current<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    #[cfg(feature = "tracing")]
    let work = {
        let span = Span::current();
        move || span.in_scope(work)
    };
    work
}
