//! Agents: the loop between a language model and its tools.
//!
//! ```
//! use toolkit::prelude::*;
//! use toolkit_agent::{Agent, ScriptedModel};
//!
//! /// Get the weather for a city.
//! #[tool]
//! async fn weather(city: String) -> String {
//!     format!("{city}: clear, 21 °C")
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let model = ScriptedModel::new().call("weather", r#"{"city": "Oslo"}"#).text("Clear, 21 °C.");
//! let agent = Agent::builder(model).tools(ToolRegistry::from_tools(tools![weather])?).build()?;
//! let output = agent.run("What is the weather in Oslo?").await?;
//! assert_eq!(output.text, "Clear, 21 °C.");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! # What with what
//!
//! | to | there is |
//! | --- | --- |
//! | reach a model | a client of one of the features; anything that implements [`ChatModel`]; [`wire::Transport`] for another HTTP library |
//! | make an agent | [`Agent::builder`]: instructions, tools, options, limits, callbacks |
//! | have it answer | [`Agent::run`], [`Agent::run_in`] a [`Conversation`], [`Agent::run_with`] options |
//! | watch it | [`Agent::run_stream`] yields [`RunEvent`]s |
//! | get a value of a type | [`Agent::run_as`] |
//! | stop it | [`RunOptions::with_cancellation`], or drop its future; [`Limits`] for how far it goes by itself |
//! | go on later | a [`Conversation`] is JSON at any time; [`Agent::resume`] |
//! | know what it costs | [`RunOutput::usage`], [`AgentBuilder::price`] |
//! | survive a bad day | [`ModelRetry`], for agents; [`Retrying`], for models without one |
//! | test it | [`ScriptedModel`]; [`Recorder`] and [`Replay`] for conversations with real models |
//! | make one of another kind | [`RunAgent`] |
//!
//! # Who reads which error
//!
//! - [`ToolError`](toolkit::ToolError) is for the **model**: it reads what went wrong with a call, and goes on.
//! - [`ModelError`] is for the **loop**, which asks again where that may help.
//! - [`AgentError`] is for the **program**: there is no answer. The conversation can be gone on with all the same.

mod agent;
#[cfg(feature = "_http")]
pub mod clients;
mod conversation;
mod error;
mod event;
mod limits;
mod llm;
mod message;
mod model;
mod record;
mod run;
mod scripted;
mod session;
mod structured;
mod team;
pub mod wire;

pub use agent::{Agent, AgentBuilder, AgentEnd, RunAgent};
pub use conversation::Conversation;
pub use error::{AgentError, Limit};
pub use event::RunEvent;
pub use limits::Limits;
pub use llm::InstructionsView;
pub use message::{AssistantMessage, Message, NativeMessages, ToolMessage, UserMessage};
pub use model::{
    ChatModel, FinishReason, ModelDelta, ModelError, ModelErrorKind, ModelOptions, ModelRequest,
    ModelResponse, ModelRetry, ModelStream, OutputFormat, Price, Retrying, Usage,
};
pub use record::{Recorder, Replay};
pub use run::{Run, RunOptions, RunOutput, RunStream};
pub use scripted::ScriptedModel;
#[cfg(feature = "files")]
pub use session::FileStore;
#[cfg(feature = "sqlite")]
pub use session::SqliteStore;
pub use session::{ConversationInfo, ConversationStore, MemoryStore, Sessions, StateOwner, StoreError};
pub use structured::FormOptions;
pub use team::{AgentTool, HistoryTool, LoopAgent, ParallelAgent, SequentialAgent};

/// The code of the README, compiled with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
