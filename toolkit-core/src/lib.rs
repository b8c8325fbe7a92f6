//! The run-time half of `toolkit-ai`: tools, the registry, middleware, the dispatcher.
//!
//! This crate does no IO and names no provider. Programs use it through `toolkit-ai`, which adds the `#[tool]`
//! macro and the formats of providers; crates that integrate the framework elsewhere depend on this one, and on
//! `toolkit-wire` if they talk to a provider.
//!
//! The everyday types stand at the root, all others in the modules, in reading order:
//!
//! | module | holds |
//! | --- | --- |
//! | [`name`] | tool names, namespaces, the spellings that providers accept |
//! | [`error`] | errors for the model and for the programmer |
//! | [`call`], [`output`] | what comes from the model, what goes back |
//! | [`context`] | what a tool learns about its call: state, session, progress |
//! | [`event`] | events of calls, and a log of them |
//! | [`tool`], [`format`] | tools and their definitions, and the trait that writes them for a provider |
//! | [`registry`], [`search`] | tools by name, and how models find them |
//! | [`middleware`], [`dispatch`] | policies around calls, and the dispatcher that runs them |
//! | [`testing`] | snapshots of a program's tools |

mod args;
pub mod call;
pub mod context;
pub mod dispatch;
pub mod error;
pub mod event;
pub mod format;
pub mod middleware;
pub mod name;
pub mod output;
pub mod registry;
mod result;
pub mod testing;
pub mod tool;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

/// Tool search: options and matches of [`ToolRegistry::search`].
pub mod search {
    pub use crate::registry::{SearchOptions, SearchWeights, ToolMatch};
}

/// Dispatchers as `tower` services, and `tower` layers as middleware.
#[cfg(feature = "tower")]
pub mod tower {
    pub use crate::dispatch::{DispatchFuture, DispatchService};
    pub use crate::middleware::{NextService, ServiceRequest, TowerMiddleware};
}

pub use args::{ToolParams, constraints};
pub use call::{CallId, RawArguments, ToolCall, ToolChoice, ToolConfig};
pub use context::{RunContext, Session, State, ToolContext};
pub use dispatch::{Batch, Dispatcher};
pub use error::{BuildError, ErrorKind, ToolError};
pub use name::ToolName;
pub use output::{Content, IntoToolOutput, Json, Media, ToolOutput};
pub use registry::{LiveRegistry, RegistryView, ToolFilter, ToolRegistry};
pub use result::ToolResult;
#[cfg(feature = "jsonschema")]
pub use tool::DynamicTool;
pub use tool::{
    AdaptedTool, ArgumentTransform, ClosureTool, FunctionTool, Tool, ToolDefinition, ToolFuture,
    ToolMetadata, ToolProvider, ToolTag, Toolset,
};

pub use tokio_util::sync::CancellationToken;
pub use toolkit_schema as schema;
pub use {schemars, serde, serde_json};
