//! Agents: the loop between a language model and its tools.
//!
//! ```
//! use toolkit_ai::prelude::*;
//! use toolkit_ai::agent::Agent;
//! use toolkit_ai::llm::ScriptedModel;
//!
//! /// Get the weather for a city.
//! #[tool]
//! async fn weather(city: String) -> String {
//!     format!("{city}: clear, 21 °C")
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let model = ScriptedModel::new().call("weather", r#"{"city": "Oslo"}"#).text("Clear, 21 °C.");
//! let agent = Agent::builder(model).tools(tools![weather]).build()?;
//! let output = agent.run("What is the weather in Oslo?").await?;
//! assert_eq!(output.text, "Clear, 21 °C.");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! # Tasks
//!
//! | task | items |
//! | --- | --- |
//! | connect a model | a client from [Features](#features), your own [`ChatModel`] or [`transport::Transport`] |
//! | build an agent | [`Agent::builder`]: instructions, tools, options, limits, callbacks |
//! | run it | [`Agent::run`]; [`Agent::run_in`] an existing [`Conversation`]; [`Agent::run_with`] options |
//! | observe it | [`Agent::run_stream`] yields [`RunEvent`]s, also as JSON; spans with the feature `tracing` |
//! | get typed answers | [`Agent::run_as`] returns a value of your type; [`Agent::run_stream_as`] also yields it as it grows |
//! | check it | [`AgentBuilder::guardrail`]: checks of inputs, model calls, tool calls and answers |
//! | stop it | [`RunOptions::with_cancellation`], or drop the run's future; [`Limits`] apply to every run |
//! | save and resume | [`Sessions`] with a store (`toolkit-agent-stores` has databases); a [`Conversation`] is serializable; [`Agent::resume`] |
//! | stay within a context window | [`AgentBuilder::compaction`] with [`compaction::Compaction`] |
//! | count costs | [`RunOutput::usage`], [`AgentBuilder::price`]; [`RunError::output`] after a failure |
//! | retry | [`ModelRetry`] for agents; [`model::Retrying`] for a model used without an agent |
//! | combine agents | [`AgentBuilder::sub_agent`], [`Agent::to_tool`], [`team`], your own [`RunAgent`] |
//! | test it | [`ScriptedModel`] answers from a script; [`record`] records and replays a real model |
//! | compare models | the crate `toolkit-evals` runs tasks with several models and scores their calls and answers |
//! | choose a model at run time | [`ChatModel::boxed`]; [`model::Fallback`] asks the next model after a failure |
//!
//! # Errors by reader
//!
//! - [`ToolError`](toolkit_core::ToolError) is for the **model**: it is the result of a failed tool call.
//! - [`ModelError`] is for the **agent loop**: a model call failed. The loop retries temporary failures.
//! - [`AgentError`] is for the **program**: the run failed without an answer. The conversation can continue. A
//!   [`RunError`] contains the error together with the tokens, the cost and the messages of the failed run.
//!
//! # Features
//!
//! No feature is enabled by default.
//!
//! | feature | adds |
//! | --- | --- |
//! | `openai` | `clients::OpenAi`: the Chat Completions and Responses APIs of OpenAI and compatible servers |
//! | `anthropic` | `clients::Anthropic`: the Messages API |
//! | `azure` | `clients::AzureOpenAi`: the Chat Completions and Responses APIs at Azure |
//! | `bedrock` | `clients::Bedrock`: the Converse API of Amazon Bedrock |
//! | `cohere` | `clients::Cohere`: the Chat API, version 2 |
//! | `gemini` | `clients::Gemini`: the APIs `generateContent` and Interactions |
//! | `mistral` | `clients::Mistral`: the chat completions of Mistral |
//! | `ollama` | `clients::Ollama`: Ollama's own API |
//! | `vertex` | `clients::Vertex`: models of Google, Anthropic and others at Vertex AI |
//! | `genai` | `clients::GenAi`: all providers of the crate `genai` |
//! | `tracing` | `tracing` spans of agents, model calls and tool calls, with OpenTelemetry's attribute names |

#![cfg_attr(docsrs, feature(doc_cfg))]

#[macro_use]
mod helpers;

mod agent;
mod answer;
pub mod compaction;
mod conversation;
mod error;
mod event;
pub mod guardrail;
mod limits;
mod llm;
mod message;
mod options;
mod output;
mod pending;
mod run;
pub mod session;
mod span;
pub mod structured;
pub mod team;

pub use agent::{Agent, Run, RunAgent};
pub use conversation::Conversation;
pub use error::{AgentError, Limit, RunError};
pub use event::{RunEvent, RunScope};
pub use limits::Limits;
pub use llm::{AgentBuilder, InstructionsContext};
pub use options::RunOptions;
pub use output::{AgentOutput, RunOutput};
pub use pending::{Decision, Decisions, PendingCall};
pub use run::RunStream;
pub use session::Sessions;
pub use toolkit_llm::{
    AssistantMessage, ChatModel, FinishReason, Message, Messages, ModelError, ModelErrorKind, ModelOptions,
    ModelRequest, ModelResponse, ModelRetry, ModelStream, NativeMessages, Price, ScriptedModel, StreamEvent,
    ToolMessage, Usage, UserMessage,
};
pub use toolkit_llm::{model, record, transport};
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
pub use toolkit_llm_http as clients;

/// The examples of the README, compiled as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
