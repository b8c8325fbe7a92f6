//! Turns plain functions into tools that any LLM can call.
//!
//! ```
//! use toolkit::prelude::*;
//!
//! /// Add two integers.
//! ///
//! /// :param a: The first number
//! /// :param b: The second number
//! #[tool]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let registry = ToolRegistry::from_tools(tools![add])?;
//! let output = registry.call("add", r#"{"a": 17, "b": "25"}"#).await?;
//! assert_eq!(output.to_text(), "42");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! # The way of a call
//!
//! | step | with |
//! | --- | --- |
//! | a function becomes a tool | [`#[tool]`](macro@tool) makes a [`FunctionTool`], [`ClosureTool::new`] takes a closure, `DynamicTool` (feature `jsonschema`) a schema known only at run time; anything else that implements [`Tool`] is one too |
//! | tools are collected | [`ToolRegistry::discover`], or [`ToolRegistry::from_tools`] with [`tools!`] |
//! | tools of others join | a [`ToolProvider`] answers calls of tools that something else has; [`AdaptedTool`] and [`RegistryView`] show tools under other names and with other arguments |
//! | the model is told | [`ToolRegistry::definitions`] renders the `tools` of a request for an [`ApiFormat`] |
//! | it need not be told of all | [`ToolRegistry::with_tool_search`] leaves tools marked `defer` out, and has the model search for them |
//! | the model asks | [`ApiFormat::parse_calls`] reads [`ToolCall`]s out of its response |
//! | the calls run | [`Dispatcher::dispatch`] gives one [`ToolResult`] for each, in their order; [`Middleware`] stands in between: [`Permissions`], [`Retry`], [`Deduplicate`], [`RateLimit`], [`AttemptLimit`], [`Callbacks`], `Cache` (feature `cache`), layers of `tower` (feature `tower`), closures |
//! | the model is answered | [`ApiFormat::assistant_messages`] and [`ApiFormat::encode_results`] make the messages |
//!
//! # Who reads which error
//!
//! - [`ToolError`] is for the **model**: the result of a call that failed, with a text that says what to do.
//! - [`BuildError`] is for the **programmer**: two tools of one name, a name that is not legal. It comes before
//!   the program serves.
//! - [`WireError`] is for the **program**: a provider's payload that is not what its format says.

mod directory;
pub mod testing;

#[cfg(feature = "jsonschema")]
pub use toolkit_core::DynamicTool;
pub use toolkit_core::{
    AdaptedTool, ArgumentTransform, Batch, BuildError, CallId, CancellationToken, ClosureTool, Content,
    Dispatcher, ErrorKind, FunctionTool, IntoToolOutput, Json, LiveRegistry, Media, RawArguments,
    RegistryView, RunContext, Session, State, Tool, ToolCall, ToolChoice, ToolConfig, ToolContext,
    ToolDefinition, ToolError, ToolFilter, ToolFuture, ToolMetadata, ToolName, ToolOutput, ToolParams,
    ToolProvider, ToolRegistry, ToolResult, ToolTag, Toolset, tools,
};
pub use toolkit_wire::{ApiFormat, DefinitionOptions, WireError};

#[cfg(feature = "tower")]
pub use toolkit_core::tower;
pub use toolkit_core::{
    call, constraints, context, dispatch, error, format, middleware, name, registry, search,
};
pub use toolkit_core::{event as events, tool as definition};
pub use toolkit_schema as schema;
pub use toolkit_wire as wire;
pub use {toolkit_core::schemars, toolkit_core::serde, toolkit_core::serde_json};

/// What tools give back: content, long results, and where they are kept.
pub mod output {
    pub use crate::directory::DirectorySink;
    pub use toolkit_core::output::*;
}

#[doc = include_str!("docs/tool.md")]
pub use toolkit_macros::tool;

#[doc = include_str!("docs/tool_params.md")]
pub use toolkit_macros::ToolParams;

#[doc = include_str!("docs/toolset.md")]
pub use toolkit_macros::toolset;

#[doc(hidden)]
pub use toolkit_core::__private;

/// What nearly every program with tools needs.
pub mod prelude {
    pub use crate::{
        ApiFormat, BuildError, Dispatcher, Tool, ToolCall, ToolContext, ToolError, ToolOutput, ToolParams,
        ToolRegistry, ToolResult, Toolset, tool, tools, toolset,
    };
}

/// The code of the README, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
