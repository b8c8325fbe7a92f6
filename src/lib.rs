//! Turns plain functions into tools for any LLM.
//!
//! ```
//! use toolkit_ai::prelude::*;
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
//! # Life of a call
//!
//! | step | with |
//! | --- | --- |
//! | Define tools | [`#[tool]`](macro@tool) on functions, [`#[toolset]`](macro@toolset) on methods, [`ClosureTool`] for closures, `DynamicTool` (feature `jsonschema`) for schemas known at run time, or any type with [`Tool`] |
//! | Collect them | [`ToolRegistry::discover`], or [`ToolRegistry::from_tools`] with [`tools!`]; [`LiveRegistry`] changes at run time |
//! | Integrate foreign tools | [`ToolProvider`] for the tools of a server; [`AdaptedTool`] and [`RegistryView`] for other names and arguments |
//! | Publish them | [`ToolRegistry::definitions`] renders the `tools` of a request for an [`ApiFormat`]; [`ToolRegistry::with_tool_search`] lets the model search for deferred tools |
//! | Parse calls | [`ApiFormat::parse_calls`] reads [`ToolCall`]s from a response |
//! | Run them | [`Dispatcher::dispatch`] returns one [`ToolResult`] per call, in order; [`middleware`] adds permissions, retries, limits and caching |
//! | Answer the model | [`ApiFormat::assistant_messages`] and [`ApiFormat::encode_results`] write the messages |
//!
//! # Errors
//!
//! - [`ToolError`] is for the **model**: the failed result of a call, with advice.
//! - [`BuildError`] is for the **programmer**: duplicate names, missing state and similar problems, found
//!   before the program serves calls.
//! - [`WireError`] is for the **program**: a provider's payload that violates its format.
//!
//! # Features
//!
//! The APIs of OpenAI, Anthropic and Gemini are on by default. To link only the APIs that a program speaks, turn off the
//! default features.
//!
//! | feature | adds |
//! | --- | --- |
//! | `anthropic` | `ApiFormat::Anthropic`: the Messages API; on by default |
//! | `bedrock` | `ApiFormat::Bedrock`: the Converse API of Amazon Bedrock |
//! | `cohere` | `ApiFormat::Cohere`: the Chat API, version 2 |
//! | `gemini` | `ApiFormat::Gemini`: `generateContent`; on by default |
//! | `gemini-interactions` | `ApiFormat::GeminiInteractions`: Gemini's Interactions API |
//! | `ollama` | `ApiFormat::Ollama`: Ollama's own API |
//! | `openai-chat` | `ApiFormat::OpenAiChat`: Chat Completions, of OpenAI and compatible servers; on by default |
//! | `openai-responses` | `ApiFormat::OpenAiResponses`: OpenAI's Responses API; on by default |
//! | `jsonschema` | `DynamicTool`: tools with a schema known only at run time; patterns with look-around and `\p{…}` |
//! | `cache` | `middleware::Cache`: answers repeated calls from memory |
//! | `tower` | module `tower`: dispatchers as services, layers as middleware |
//! | `tracing` | `tracing` spans and measurements of calls, models, agents and MCP, with OpenTelemetry's names |
//! | `aws-lc-rs` | cryptography of encrypted connections of clients, as `rustls` and `reqwest` have it; on by default |
//! | `ring` | cryptography of `ring` in place of it, which compiles faster |
//! | `bytes` | `Bytes` as parameters and results; with this and the next five, the crate's own feature `serde` must be on, too |
//! | `chrono` | dates and times of the crate `chrono` |
//! | `jiff` | dates and times of the crate `jiff` |
//! | `rust_decimal` | `Decimal` |
//! | `url` | `Url` |
//! | `uuid` | `Uuid` |
//! | `model` | `wire::ChatModel` and what belongs to it: models, their requests and answers |
//! | `agent` | module `agent`: the loop between a model and its tools |
//! | `clients` | module `clients`: clients over HTTP of the APIs whose features are on |
//! | `openai` | `clients::OpenAi`: OpenAI and compatible servers |
//! | `azure` | `clients::AzureOpenAi` |
//! | `mistral` | `clients::Mistral` |
//! | `vertex` | `clients::Vertex`: models of Google, Anthropic and others at Vertex AI |
//! | `genai` | `clients::GenAi`: all providers of the crate `genai` |
//! | `mcp` | module `mcp`: the Model Context Protocol, both ways, over standard input and output |
//! | `mcp-http` | `mcp` over HTTP |
//! | `mcp-auth` | logins to MCP servers with OAuth |
//! | `mcp-jwt` | MCP servers over HTTP that check JSON Web Tokens |
//! | `openapi` | module `openapi`: the operations of a service are tools, a registry is a service |
//! | `translate` | module `wire::translate`: reads requests of providers, and converts the tools of other systems |

#![cfg_attr(docsrs, feature(doc_cfg))]

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
pub use toolkit_llm::{ApiFormat, DefinitionOptions, WireError};

/// Agents: the loop between a model and its tools. All of [`toolkit_agent`].
#[cfg(feature = "agent")]
pub mod agent {
    #[doc(inline)]
    pub use toolkit_agent::*;
}
#[cfg(feature = "tower")]
pub use toolkit_core::tower;
pub use toolkit_core::{
    call, constraints, context, dispatch, error, format, middleware, name, redaction, registry, search,
};
pub use toolkit_core::{event as events, tool as definition};
/// Messages and APIs of language models. All of [`toolkit_llm`].
pub mod wire {
    #[doc(inline)]
    pub use toolkit_llm::*;
}
/// Clients of models over HTTP. All of [`toolkit_llm_http`].
#[cfg(feature = "clients")]
pub mod clients {
    // Without an API there is no client.
    #[allow(unused_imports, unreachable_pub)]
    #[doc(inline)]
    pub use toolkit_llm_http::*;
}
/// The Model Context Protocol, both ways. All of [`toolkit_mcp`].
#[cfg(feature = "mcp")]
pub mod mcp {
    #[doc(inline)]
    pub use toolkit_mcp::*;
}
/// OpenAPI, both ways. All of [`toolkit_openapi`].
#[cfg(feature = "openapi")]
pub mod openapi {
    #[doc(inline)]
    pub use toolkit_openapi::*;
}
/// JSON Schema for tools. All of [`toolkit_schema`].
pub mod schema {
    #[doc(inline)]
    pub use toolkit_schema::*;
}
pub use {toolkit_core::schemars, toolkit_core::serde, toolkit_core::serde_json};

/// Tool output: content, truncation, and sinks for full results.
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

/// The imports that most programs with tools need.
pub mod prelude {
    pub use crate::{
        ApiFormat, BuildError, Dispatcher, Tool, ToolCall, ToolContext, ToolError, ToolOutput, ToolParams,
        ToolRegistry, ToolResult, Toolset, tool, tools, toolset,
    };
    #[cfg(feature = "model")]
    pub use toolkit_llm::ChatModel;
}
