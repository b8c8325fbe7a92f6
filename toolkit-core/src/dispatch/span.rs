//! The tracing span of a call and its measurement, with OpenTelemetry's attribute names, and logged warnings.

use crate::call::CallId;
use crate::definition::ToolDefinition;
use crate::error::{BuildProblem, ErrorKind};
use crate::output::Outcome;
use crate::registry::RegistrySource;
use crate::trace::{Empty, OpenSpan, measure, span};
#[cfg(feature = "tracing")]
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use std::time::Duration;

/// The span of a call, in the span that is current when the call is prepared.
#[derive(Clone)]
pub(super) struct CallSpan(OpenSpan);

impl CallSpan {
    /// Creates the span of a call. `tool` is the name in the call if the tool is unknown.
    #[inline]
    pub(super) fn new(
        definition: Option<&ToolDefinition>,
        name: &str,
        call_id: &CallId,
        arguments: Option<&str>,
    ) -> Self {
        let name = definition.map_or(name, |definition| definition.name.as_str());
        Self(span!(
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
        ))
    }

    /// Records the outcome, with the output if `contents` is set, and measures the call.
    ///
    /// `tool` is `None` for an unknown tool, because models invent too many names.
    #[inline]
    pub(super) fn end(&self, outcome: &Outcome, contents: bool, tool: Option<&str>, duration: Duration) {
        let error = match outcome {
            Ok(output) if contents && !self.0.is_disabled() => {
                self.0.record("gen_ai.tool.call.result", &*output.to_text());
                None
            }
            Ok(_) => None,
            // A pending call has neither ended nor failed.
            Err(error) if error.kind() == ErrorKind::Pending => return,
            Err(error) => Some(error.kind().as_str()),
        };
        if let Some(error) = error {
            self.0.fail(error);
        }
        measure!(
            "histogram.gen_ai.execute_tool.duration" = duration.as_secs_f64(),
            "gen_ai.operation.name" = "execute_tool",
            "gen_ai.tool.name" = tool.unwrap_or("_OTHER"),
            "gen_ai.tool.type" = "function",
            "error.type" = error,
        );
    }

    #[inline]
    pub(super) fn around<F: Future>(self, run: F) -> impl Future<Output = F::Output> + use<F> {
        self.0.around(run)
    }
}

/// The number of the tools with logged warnings, counted from 1 and shared by clones.
#[derive(Clone, Default)]
pub(super) struct Warned(#[cfg(feature = "tracing")] Arc<AtomicU64>);

#[cfg_attr(not(feature = "tracing"), allow(unused_variables, clippy::unused_self))]
impl Warned {
    /// Logs the `warnings`, the first time and after each change of the tools.
    #[inline]
    pub(super) fn log(&self, source: &RegistrySource, warnings: impl FnOnce() -> Vec<BuildProblem>) {
        #[cfg(feature = "tracing")]
        {
            let tools = source.version() + 1;
            if self.0.load(Ordering::Relaxed) != tools && self.0.swap(tools, Ordering::Relaxed) != tools {
                for problem in warnings() {
                    tracing::warn!("{problem}");
                }
            }
        }
    }
}

/// Wraps a closure to run within the current span on any thread.
#[inline]
pub(super) fn in_current<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let span = OpenSpan::current();
    move || span.within(work)
}
