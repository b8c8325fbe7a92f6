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
//! | Define tools | [`#[tool]`](macro@tool) on functions, [`#[toolset]`](macro@toolset) on methods, [`ClosureTool`] for closures, `DynamicTool` (feature `jsonschema`) for schemas known at run time, or [`Tool`] |
//! | Collect them | [`ToolRegistry::discover`], or [`ToolRegistry::from_tools`] with [`tools!`]; [`LiveRegistry`] changes at run time |
//! | Integrate foreign tools | [`ToolProvider`] for the tools of a server; [`AdaptedTool`] and [`RegistryView`] for other names and arguments |
//! | Publish them | [`ToolRegistry::definitions`] renders the `tools` of a request for an [`ApiFormat`](llm::ApiFormat); [`ToolRegistry::with_tool_search`] lets the model search for deferred tools |
//! | Parse calls | [`ApiFormat::parse_calls`](llm::ApiFormat::parse_calls) reads [`ToolCall`]s from a response |
//! | Run them | [`Dispatcher::dispatch`] returns one [`ToolResult`] per call, in order; [`middleware`] adds permissions, retries, limits and caching |
//! | Answer the model | [`ApiFormat::assistant_messages`](llm::ApiFormat::assistant_messages) and [`ApiFormat::encode_results`](llm::ApiFormat::encode_results) write the messages |
//!
//! # Errors
//!
//! - [`ToolError`] is for the **model**: the failed result of a call, with advice.
//! - [`BuildError`] is for the **programmer**: duplicate names, missing state and the like, found before the
//!   first call.
//! - [`WireError`](llm::WireError) is for the **program**: a provider's payload that violates its format.
//!
//! # Crates
//!
//! The modules [`agent`], [`llm`], [`llm_http`], [`mcp`], [`openapi`] and [`schema`] are the crates of these
//! names, such as `toolkit-agent`. Four more crates are used beside this one: `toolkit-agent-stores` (saved
//! conversations in files, SQLite and PostgreSQL), `toolkit-evals` (measured agents), `toolkit-cli` (a
//! command line for the tools of a program) and `toolkit-nats` (tools on many machines; it needs Rust 1.89).
//!
//! # Features
//!
//! The APIs of OpenAI, Anthropic and Gemini, and `aws-lc-rs`, are on by default.
//!
//! | feature | adds |
//! | --- | --- |
//! | `api-anthropic` | `ApiFormat::Anthropic`: the Messages API |
//! | `api-bedrock` | `ApiFormat::Bedrock`: the Converse API of Amazon Bedrock |
//! | `api-cohere` | `ApiFormat::Cohere`: the Chat API, version 2 |
//! | `api-gemini` | `ApiFormat::Gemini`: `generateContent` |
//! | `api-gemini-interactions` | `ApiFormat::GeminiInteractions`: Gemini's Interactions API |
//! | `api-ollama` | `ApiFormat::Ollama`: Ollama's own API |
//! | `api-openai-chat` | `ApiFormat::OpenAiChat`: Chat Completions, of OpenAI and compatible servers |
//! | `api-openai-responses` | `ApiFormat::OpenAiResponses`: OpenAI's Responses API |
//! | `jsonschema` | `DynamicTool`: tools with a schema known only at run time; patterns with look-around and `\p{…}` |
//! | `cache` | `middleware::Cache`: answers repeated calls from memory |
//! | `tower` | module `tower`: dispatchers as services, layers as middleware |
//! | `tracing` | `tracing` spans and measurements of calls, models, agents and MCP, with OpenTelemetry's names |
//! | `aws-lc-rs` | cryptography of clients' encrypted connections, for `rustls` and `reqwest` |
//! | `ring` | cryptography of `ring` in place of it, which compiles faster |
//! | `bytes` | `Bytes` as parameters and results; this and the next five need the crate's own feature `serde` |
//! | `chrono` | dates and times of `chrono` |
//! | `jiff` | dates and times of `jiff` |
//! | `rust_decimal` | `Decimal` |
//! | `url` | `Url` |
//! | `uuid` | `Uuid` |
//! | `model` | `llm::ChatModel`: models, their requests and answers |
//! | `agent` | module `agent`: the loop between a model and its tools |
//! | `anthropic` | `llm_http::Anthropic`; this and the next nine are clients over HTTP, with the APIs that they speak |
//! | `azure` | `llm_http::AzureOpenAi` |
//! | `bedrock` | `llm_http::Bedrock`: Amazon Bedrock, with API keys or signed requests |
//! | `cohere` | `llm_http::Cohere` |
//! | `gemini` | `llm_http::Gemini` |
//! | `genai` | `llm_http::GenAi`: all providers of the crate `genai` |
//! | `mistral` | `llm_http::Mistral` |
//! | `ollama` | `llm_http::Ollama`: Ollama's own API |
//! | `openai` | `llm_http::OpenAi`: OpenAI and compatible servers |
//! | `vertex` | `llm_http::Vertex`: models of Google, Anthropic and others at Vertex AI |
//! | `mcp` | module `mcp`: the Model Context Protocol, both ways, over standard input and output |
//! | `mcp-http` | `mcp` over HTTP |
//! | `client-http` | the same, as compiler messages name it for clients |
//! | `server-http` | the same, as compiler messages name it for servers |
//! | `mcp-auth` | logins to MCP servers with OAuth; compiles `reqwest` |
//! | `auth` | the same |
//! | `mcp-jwt` | MCP servers over HTTP that check JSON Web Tokens |
//! | `jwt` | the same |
//! | `openapi` | module `openapi`: the operations of a service are tools, a registry is a service |
//! | `axum-08` | `into_router` of the servers of `mcp-http` and `openapi`: routers of axum 0.8 |
//! | `translate` | module `llm::translate`: reads requests of providers |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod core_modules;
mod directory;
pub mod testing;

pub use core_modules::{
    call, constraints, context, definition, error, events, format, middleware, name, output, redaction,
    registry, search,
};
// Words of other libraries: rustdoc drops those of a definition that is exported twice.
#[doc(alias("rename", "preset", "hide"))]
pub use toolkit_core::AdaptedTool;
#[doc(alias("StructuredTool", "from_fn"))]
pub use toolkit_core::ClosureTool;
#[cfg(feature = "jsonschema")]
#[doc(alias("raw_schema", "RawTool"))]
pub use toolkit_core::DynamicTool;
#[doc(alias("list_changed", "reload"))]
pub use toolkit_core::LiveRegistry;
#[doc(alias("image", "audio", "Blob"))]
pub use toolkit_core::Media;
#[cfg(feature = "tower")]
pub use toolkit_core::tower;
pub use toolkit_core::{
    ArgumentTransform, Batch, BuildError, CallId, CancellationToken, Content, Dispatcher, ErrorKind,
    FunctionTool, IntoToolOutput, Json, RawArguments, RegistryView, RunContext, Session, State, Tool,
    ToolCall, ToolChoice, ToolConfig, ToolContext, ToolDefinition, ToolError, ToolFilter, ToolFuture,
    ToolMetadata, ToolName, ToolOutput, ToolParams, ToolProvider, ToolRegistry, ToolResult, ToolTag, Toolset,
    tools,
};
pub use {toolkit_core::schemars, toolkit_core::serde, toolkit_core::serde_json};

#[cfg(feature = "agent")]
#[doc(inline)]
pub use toolkit_agent as agent;
#[doc(inline)]
pub use toolkit_llm as llm;
#[cfg(any(
    feature = "anthropic",
    feature = "azure",
    feature = "bedrock",
    feature = "cohere",
    feature = "gemini",
    feature = "genai",
    feature = "mistral",
    feature = "ollama",
    feature = "openai",
    feature = "vertex"
))]
#[doc(inline)]
pub use toolkit_llm_http as llm_http;
#[cfg(feature = "mcp")]
#[doc(inline)]
pub use toolkit_mcp as mcp;
#[cfg(feature = "openapi")]
#[doc(inline)]
pub use toolkit_openapi as openapi;
#[doc(inline)]
pub use toolkit_schema as schema;

#[doc = include_str!("docs/tool.md")]
pub use toolkit_macros::tool;

#[doc = include_str!("docs/tool_params.md")]
pub use toolkit_macros::ToolParams;

#[doc = include_str!("docs/toolset.md")]
pub use toolkit_macros::toolset;

#[doc(hidden)]
pub use {toolkit_core::__private, toolkit_macros::__tool_items};

/// The imports that most programs with tools need.
pub mod prelude {
    pub use crate::{
        BuildError, Dispatcher, Tool, ToolCall, ToolContext, ToolError, ToolOutput, ToolParams, ToolRegistry,
        ToolResult, Toolset, tool, tools, toolset,
    };
    pub use toolkit_llm::ApiFormat;
    #[cfg(feature = "model")]
    pub use toolkit_llm::ChatModel;
}
