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
//! | connect a model | a client from [Features](#features), your [`ChatModel`](toolkit_llm::ChatModel) or [`Transport`](toolkit_llm::transport::Transport) |
//! | build an agent | [`Agent::builder`]: instructions, tools, options, limits, callbacks |
//! | run it | [`Agent::run`], [`on`](RunRequest::on) a [`Conversation`]; see [`RunRequest`] |
//! | observe it | [`RunRequest::stream`] yields [`RunEvent`]s, also as JSON; spans with the feature `tracing` |
//! | show its past | [`entries`](session::SavedConversation::entries) of a saved conversation |
//! | get typed answers | [`RunRequest::typed`]; a [stream](structured::AnswerStream) yields it while it grows |
//! | check it | [`AgentBuilder::guardrail`]: inputs, model calls, tool calls and answers |
//! | stop it | [`RunRequest::cancellation`], or drop the run's future; [`Limits`] apply to every run |
//! | save and resume | [`Agent::resume`]; [`Sessions`] with a store (`toolkit-agent-stores` has databases) |
//! | decide calls that wait | [`RunRequest::outcome`], [`ResumeRequest::decide`] |
//! | run them in a service | [`runs`]: inputs while a run works, an inbox of decisions, listeners that come back |
//! | stay within a context window | [`AgentBuilder::compaction`] with [`compaction::Compaction`] |
//! | count costs | [`RunOutput::usage`], [`AgentBuilder::price`]; [`RunError::output`] after a failure |
//! | retry | [`ModelRetry`](toolkit_llm::ModelRetry); [`Retrying`](toolkit_llm::model::Retrying) without an agent |
//! | combine agents | [`AgentBuilder::sub_agent`], [`Agent::to_tool`], [`team`], your [`RunAgent`] |
//! | test it | [`ScriptedModel`](toolkit_llm::ScriptedModel); [`record`](toolkit_llm::record) replays a real model |
//! | compare models | the crate `toolkit-evals` |
//! | choose a model at run time | [`ChatModel::boxed`](toolkit_llm::ChatModel::boxed); [`Fallback`](toolkit_llm::model::Fallback) after a failure |
//!
//! # Errors by reader
//!
//! - [`ToolError`](toolkit_core::ToolError) is for the **model**: the result of a failed tool call.
//! - [`ModelError`](toolkit_llm::ModelError) is for the **agent loop**: a failed model call. Temporary
//!   failures are retried.
//! - [`AgentError`] is for the **program**: the run has no answer, but the conversation can continue. A
//!   [`RunError`] adds the tokens, the cost and the messages of the run.
//!
//! # Features
//!
//! Only `aws-lc-rs` is on by default.
//!
//! | feature | adds |
//! | --- | --- |
//! | `openai` | `toolkit_llm_http::OpenAi`: the Chat Completions and Responses APIs of OpenAI and compatible servers |
//! | `anthropic` | `toolkit_llm_http::Anthropic`: the Messages API |
//! | `azure` | `toolkit_llm_http::AzureOpenAi`: the Chat Completions and Responses APIs at Azure |
//! | `bedrock` | `toolkit_llm_http::Bedrock`: the Converse API of Amazon Bedrock |
//! | `cohere` | `toolkit_llm_http::Cohere`: the Chat API, version 2 |
//! | `gemini` | `toolkit_llm_http::Gemini`: the APIs `generateContent` and Interactions |
//! | `mistral` | `toolkit_llm_http::Mistral`: the chat completions of Mistral |
//! | `ollama` | `toolkit_llm_http::Ollama`: Ollama's own API |
//! | `vertex` | `toolkit_llm_http::Vertex`: models of Google, Anthropic and others at Vertex AI |
//! | `genai` | `toolkit_llm_http::GenAi`: all providers of the crate `genai` |
//! | `tracing` | `tracing` spans of agents, model calls and tool calls, with OpenTelemetry's attribute names |
//! | `aws-lc-rs` | cryptography of connections, as in `rustls` and `reqwest` |
//! | `ring` | cryptography of `ring` instead, which compiles faster |

#![cfg_attr(docsrs, feature(doc_cfg))]

#[macro_use]
mod helpers;

mod agent;
mod answer;
mod call_ids;
pub mod compaction;
mod conversation;
mod conversation_entry;
mod error;
mod event;
pub mod guardrail;
mod limits;
mod llm;
mod message;
mod options;
mod outcome;
mod output;
mod pending;
mod place;
mod request;
mod run;
pub mod runs;
pub mod session;
mod span;
mod status;
mod stream;
pub mod structured;
pub mod team;

pub use agent::{Agent, Run, RunAgent};
pub use conversation::Conversation;
pub use error::{AgentError, Limit, RunError};
pub use event::{RunEvent, RunScope};
pub use limits::Limits;
pub use llm::{AgentBuilder, InstructionsContext};
pub use outcome::{Outcome, Waiting};
pub use output::{AgentOutput, RunOutput, Spent};
pub use pending::{Decision, Decisions, PendingCall};
pub use place::Place;
pub use request::{ResumeRequest, RunAnswer, RunRequest};
pub use session::sessions::Sessions;
pub use stream::RunStream;

/// The examples of the README, compiled as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
