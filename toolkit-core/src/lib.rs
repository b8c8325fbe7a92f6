//! The run-time half of `toolkit-ai`: tools, registry, middleware and dispatcher, without IO and without providers.
//!
//! Programs use this crate through `toolkit-ai`, with the `#[tool]` macro and the formats of providers. Integrations
//! depend on it directly, and on `toolkit-wire` if they talk to a provider.
//!
//! Everyday types stand at the root, all others in modules, in reading order:
//!
//! | module | contents |
//! | --- | --- |
//! | [`name`] | tool names, namespaces, spellings for providers |
//! | [`error`] | errors for the model and for the programmer |
//! | [`call`], [`output`] | calls of the model, output of tools |
//! | [`context`] | state, session and progress of a call |
//! | [`event`] | events of calls, and a log of them |
//! | [`tool`], [`format`](mod@format) | tools, their definitions, and the trait that renders these |
//! | [`search`], [`registry`] | tool search, and tools by name |
//! | [`middleware`], [`dispatch`] | policies around calls, and the dispatcher that runs them |
//! | [`testing`] | snapshots of a program's tools |
//!
//! # Features
//!
//! All are off by default.
//!
//! | feature | adds |
//! | --- | --- |
//! | `jsonschema` | `DynamicTool`: tools with a schema known only at run time |
//! | `cache` | `middleware::Cache`: answers repeated calls from memory |
//! | `tower` | module `tower`: dispatchers as services, layers as middleware |
//! | `tracing` | a `tracing` span per call, with OpenTelemetry's attribute names |

#[macro_use]
mod macros;

mod args;
pub mod call;
pub mod context;
mod depth;
pub mod dispatch;
pub mod error;
pub mod event;
pub mod format;
mod guard;
pub mod middleware;
pub mod name;
pub mod output;
mod pattern;
pub mod registry;
mod result;
pub mod search;
pub mod testing;
pub mod tool;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

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

/// Compiles the code of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
