//! The runtime of `toolkit-ai`: tools, registry, middleware and dispatcher. This crate does no IO and
//! knows no provider.
//!
//! Programs depend on `toolkit-ai`, which re-exports this crate together with the `#[tool]` macro and the
//! provider formats. Integration crates depend on `toolkit-core`, and on `toolkit-llm` to talk to a
//! provider.
//!
//! ```
//! use toolkit_ai::{ClosureTool, Dispatcher, ToolCall, ToolRegistry};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Add { a: i64, b: i64 }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let add = ClosureTool::new("add", "Adds two numbers.", |args: Add| args.a + args.b)?;
//! let dispatcher = Dispatcher::new(ToolRegistry::from_tools([add])?)?;
//! let results = dispatcher.dispatch([ToolCall::new("call_1", "add", r#"{"a": 17, "b": "25"}"#)]).await;
//! assert_eq!(results[0].to_text(), "42");
//! # Ok::<(), toolkit_ai::BuildError>(())
//! # }).unwrap();
//! ```
//!
//! The everyday types are at the crate root, all others in modules, in reading order:
//!
//! | module | contents |
//! | --- | --- |
//! | [`name`] | tool names, namespaces, and spellings of names for providers |
//! | [`error`] | errors for the model and for the programmer |
//! | [`call`], [`output`] | tool calls and outputs |
//! | [`context`] | state, session and progress of a tool call |
//! | [`events`] | events of tool calls, and a log |
//! | [`definition`], [`format`](mod@format) | tools, and the rendering of their definitions |
//! | [`search`], [`registry`] | tool search, and the registry of tools |
//! | [`middleware`], [`dispatch`] | middleware around calls, and the dispatcher |
//! | `foreign` | checks of tool definitions from elsewhere |
//! | [`redaction`] | secrets of the program, removed from foreign texts |
//! | [`testing`] | snapshot tests for a program's tools |
//!
//! # Features
//!
//! All features are off by default.
//!
//! | feature | adds |
//! | --- | --- |
//! | `jsonschema` | `DynamicTool`: tools with a schema known only at run time; patterns with look-around and `\p{…}` |
//! | `cache` | `middleware::Cache`: answers repeated calls from memory |
//! | `tower` | module `tower`: dispatchers as services, and layers as middleware |
//! | `foreign` | module `foreign` |
//! | `tracing` | a `tracing` span for each call, with OpenTelemetry's attribute names |

#![cfg_attr(docsrs, feature(doc_cfg))]

#[macro_use]
mod macros;

mod args;
pub mod call;
pub mod context;
pub mod definition;
mod depth;
pub mod dispatch;
pub mod error;
pub mod events;
#[cfg(feature = "foreign")]
pub mod foreign;
pub mod format;
mod guard;
pub mod middleware;
pub mod name;
pub mod output;
mod pattern;
pub mod redaction;
pub mod registry;
mod result;
pub mod search;
mod serve;
pub mod testing;
mod trace;

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
#[cfg(feature = "jsonschema")]
pub use definition::DynamicTool;
pub use definition::{
    AdaptedTool, ArgumentTransform, ClosureTool, FunctionTool, Tool, ToolDefinition, ToolFuture,
    ToolMetadata, ToolProvider, ToolTag, Toolset,
};
pub use dispatch::{Batch, Dispatcher};
pub use error::{BuildError, ErrorKind, ToolError};
pub use name::ToolName;
pub use output::{Content, IntoToolOutput, Json, Media, ToolOutput};
pub use registry::{LiveRegistry, RegistryView, ToolFilter, ToolRegistry};
pub use result::ToolResult;

pub use tokio_util::sync::CancellationToken;
pub use toolkit_schema as schema;
pub use {schemars, serde, serde_json};

/// Compiles the code blocks of the README as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
