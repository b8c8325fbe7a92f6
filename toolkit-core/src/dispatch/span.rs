//! The span of a call, with OpenTelemetry's names; empty without the feature `tracing`.

pub(super) use imp::{CallSpan, in_current};

#[cfg(feature = "tracing")]
mod imp {
    use crate::call::CallId;
    use crate::error::ToolError;
    use crate::output::ToolOutput;
    use crate::tool::ToolDefinition;
    use tracing::field::Empty;
    use tracing::instrument::{Instrument, Instrumented};
    use tracing::{Span, info_span};

    /// The span of a call, inside of the span current at its preparation.
    #[derive(Clone)]
    pub(in super::super) struct CallSpan(Span);

    impl CallSpan {
        /// Creates the span. An unknown tool has the name that the model called.
        pub(in super::super) fn new(
            definition: Option<&ToolDefinition>,
            name: &str,
            call_id: &CallId,
            arguments: Option<&str>,
        ) -> Self {
            let name = definition.map_or(name, |definition| definition.name.as_str());
            let description = definition.map(|definition| definition.description.as_str());
            Self(info_span!(
                "execute_tool",
                "otel.name" = format_args!("execute_tool {name}"),
                "otel.kind" = "internal",
                "otel.status_code" = Empty,
                "gen_ai.operation.name" = "execute_tool",
                "gen_ai.tool.name" = name,
                "gen_ai.tool.call.id" = call_id.as_str(),
                "gen_ai.tool.description" = description,
                "gen_ai.tool.type" = "function",
                "gen_ai.tool.call.arguments" = arguments,
                "gen_ai.tool.call.result" = Empty,
                "error.type" = Empty,
            ))
        }

        /// Records the outcome, and on demand the text of the output.
        pub(in super::super) fn end(&self, outcome: &Result<ToolOutput, ToolError>, contents: bool) {
            match outcome {
                Ok(output) if contents && !self.0.is_disabled() => {
                    self.0.record("gen_ai.tool.call.result", &*output.to_text());
                }
                Ok(_) => {}
                Err(error) => {
                    self.0.record("error.type", error.kind().as_str());
                    self.0.record("otel.status_code", "ERROR");
                }
            }
        }

        pub(in super::super) fn around<F: Future>(self, run: F) -> Instrumented<F> {
            run.instrument(self.0)
        }
    }

    /// Binds work to the current span, on any thread.
    pub(in super::super) fn in_current<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
        let span = Span::current();
        move || span.in_scope(work)
    }
}

#[cfg(not(feature = "tracing"))]
mod imp {
    use crate::call::CallId;
    use crate::error::ToolError;
    use crate::output::ToolOutput;
    use crate::tool::ToolDefinition;

    #[derive(Clone)]
    pub(in super::super) struct CallSpan;

    impl CallSpan {
        #[inline]
        pub(in super::super) fn new(
            _: Option<&ToolDefinition>,
            _: &str,
            _: &CallId,
            _: Option<&str>,
        ) -> Self {
            Self
        }

        #[inline]
        pub(in super::super) fn end(&self, _: &Result<ToolOutput, ToolError>, _: bool) {}

        #[inline]
        pub(in super::super) fn around<F: Future>(self, run: F) -> F {
            run
        }
    }

    #[inline]
    pub(in super::super) fn in_current<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
        work
    }
}
