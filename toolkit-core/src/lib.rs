//! The run-time half of `toolkit-ai`: tools, the registry, provider formats, the dispatcher.
//!
//! It does no IO and knows no provider SDK. Programs use it through `toolkit-ai`, which adds the
//! `#[tool]` macro; crates that integrate the framework elsewhere depend on this one alone.
//!
//! The modules in reading order: [`ToolName`] and the errors are the ground floor; a [`ToolCall`]
//! comes in, a [`ToolResult`] goes out; a [`Tool`] has a [`ToolDefinition`]; a [`ToolRegistry`] holds
//! tools; the [`Dispatcher`] runs calls.

mod args;
mod call;
mod context;
mod dispatch;
mod error;
mod event;
mod middleware;
mod name;
mod output;
mod registry;
mod result;
pub mod testing;
mod tool;
mod wire;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

pub use args::{ToolParams, kinds};
pub use call::{CallId, ProviderExtras, RawArguments, ToolCall, ToolChoice, ToolConfig};
pub use context::{
    ActionsHandle, Progress, RunContext, Session, SessionDelta, SessionHandle, SessionMap, State, StateNeed,
    ToolActions, ToolContext,
};
pub use dispatch::{BatchHandle, Dispatcher, OpenBatch, PendingResult, ToolResultStream};
#[cfg(feature = "tower")]
pub use dispatch::{DispatchFuture, DispatchService};
pub use error::{
    BuildError, BuildProblem, ErrorKind, Location, ToolError, Violation, ViolationKind, WireError, nearest,
};
pub use event::{
    CallEnd, CallStatus, EventCall, ExecutionLog, Lagged, LogEntry, LogFilter, LogStatistics, ToolEvent,
    ToolEventKind, ToolEvents, ToolStatistics,
};
#[cfg(feature = "cache")]
pub use middleware::Cache;
pub use middleware::{
    Approval, ApprovalRequest, AttemptLimit, Callbacks, Deduplicate, Middleware, Next, Permission,
    PermissionRule, Permissions, RateLimit, Retry, ToolRequest,
};
#[cfg(feature = "tower")]
pub use middleware::{NextService, ServiceRequest, TowerMiddleware};
pub use name::{
    MAX_NAME_LENGTH, NameError, NameRule, Separator, ToolName, WireNames, check_name, is_in_namespace,
    namespace_prefix, normalize, strip_namespace,
};
pub use output::{
    Base64, Content, ErrorText, FullOutput, IntoOutcome, IntoToolOutput, Json, JsonText, Media, MediaData,
    OutputSink, Resource, ToolOutput, ToolReturn, Truncation, TruncationStrategy, stored,
};
pub use registry::{
    Admission, Collision, LiveRegistry, LiveView, RegistryChange, RegistryEvent, RegistryEvents,
    RegistrySource, RegistryView, SearchOptions, SearchWeights, TagMatch, ToolFilter, ToolMatch,
    ToolRegistry,
};
pub use result::ToolResult;
pub use schema::{
    Compatibility, Constraints, ConvertedSchema, SchemaChange, SchemaChangeKind, SchemaDialect, SchemaDiff,
    SchemaLoss, schema_hash, schema_of, tidy,
};
#[cfg(feature = "jsonschema")]
pub use tool::DynamicTool;
pub use tool::{
    AdaptedTool, ArgumentTransform, ClosureTool, Deferred, FunctionTool, Immediate, Locality, ProvidedTool,
    TextFormat, Tool, ToolAnswer, ToolDefinition, ToolFuture, ToolKind, ToolMetadata, ToolProvider,
    ToolSource, ToolTag, Toolset, UnknownArguments,
};
pub use wire::openjiuwen;
pub use wire::{
    ApiFormat, DefinitionLoss, DefinitionOptions, DefinitionReport, Definitions, EncodedToolConfig,
    HistoryWriter, LimitExceeded, NotStrict, StreamAccumulator, StreamEnd, StreamEvent, StrictTools,
    UnknownApiFormat,
};

pub use tokio_util::sync::CancellationToken;
pub use toolkit_schema as schema;
pub use {schemars, serde, serde_json};
