//! The modules of [`toolkit_core`], without what is at the root of this crate: each item has one path.

pub use toolkit_core::{redaction, search};

/// What a provider adds to a [`ToolCall`](crate::ToolCall).
pub mod call {
    pub use toolkit_core::call::ProviderExtras;
}

/// Marker traits for the JSON form of a type: number, string, array or object.
///
/// As bounds in generated code, they make the compiler refuse, for instance, a `range` on a string parameter.
/// Implement the matching trait for your own type if its JSON form is a number or a string.
pub mod constraints {
    pub use toolkit_core::constraints::{
        Countable, Items, Number, Text, has_items, is_countable, is_number, is_parameter, is_text,
    };
}

/// The context of a call, beside [`ToolContext`](crate::ToolContext): session, progress, cancellation.
pub mod context {
    pub use toolkit_core::context::{
        ActionsHandle, Progress, RunControl, SessionDelta, SessionHandle, SessionMap, StateNeed, ToolActions,
        TraceContext,
    };
}

/// The parts of a [`Tool`](crate::Tool)'s definition, and of generated code: errors of the compiler name it.
pub mod definition {
    pub use toolkit_core::definition::{
        BlockTools, CallFn, Function, Invocation, MoreTools, ProvidedTool, TextFormat, ToolCell, ToolIcon,
        ToolKind, ToolSource, ToolsetWithoutExtends, UnknownArguments, parameter_names,
    };
}

/// The parts of [`ToolError`](crate::ToolError) and [`BuildError`](crate::BuildError).
pub mod error {
    pub use toolkit_core::error::{BuildProblem, Location, Pending, ToolFault};
}

/// Events of calls: streams, listeners, a log, and statistics.
pub mod events {
    #[cfg(feature = "tracing")]
    pub use toolkit_core::events::METRICS_TARGET;
    pub use toolkit_core::events::{
        CallEnd, CallStatus, EventCall, EventReceiver, ExecutionLog, Lagged, LogEntry, LogFilter,
        LogStatistics, RuleDecision, RuleEffect, ToolEvent, ToolEventKind, ToolEvents, ToolStatistics,
        WaitResource,
    };
}

/// Tool formats: tool definitions rendered for a provider or a protocol.
pub mod format {
    pub use toolkit_core::format::{Publication, ToolFormat};
}

/// Middleware: policies between calls and tools.
pub mod middleware {
    #[cfg(feature = "cache")]
    pub use toolkit_core::middleware::Cache;
    #[doc(alias("approval", "HumanInTheLoop", "can_use_tool"))]
    pub use toolkit_core::middleware::Permissions;
    pub use toolkit_core::middleware::{
        Approval, ApprovalRequest, AttemptLimit, BoxMiddleware, Callbacks, DecidedApprovals, Deduplicate,
        Middleware, Next, Permission, PermissionRule, RateLimit, Retry, ToolRequest,
    };
}

/// What a [`ToolName`](crate::ToolName) may be: legal characters, namespaces, normalisation, and spellings
/// for providers.
pub mod name {
    pub use toolkit_core::name::{
        MAX_NAME_LENGTH, NameError, NameRule, Separator, WireNames, check_name, fnv1a, is_in_namespace,
        namespace_prefix, normalize, strip_namespace,
    };
}

/// The parts of a [`ToolRegistry`](crate::ToolRegistry).
pub mod registry {
    pub use toolkit_core::registry::{
        CheckOutcome, Collision, Discovery, IntoArguments, IntoRegistrySource, NameClash, RegistryChange,
        RegistryEvent, RegistryEvents, RegistrySource, SyncedTools, TagMatch,
    };
}

/// The parts of a [`ToolOutput`](crate::ToolOutput): truncation, and sinks for full results.
pub mod output {
    pub use crate::directory::DirectorySink;
    pub use toolkit_core::output::{
        Base64, FullOutput, JsonText, MediaData, OutputForm, OutputSink, Resource, Truncation,
        TruncationStrategy,
    };
}
