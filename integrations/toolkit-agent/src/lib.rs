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
//! # Tasks
//!
//! | task | items |
//! | --- | --- |
//! | connect a model | a client of a feature below, a [`ChatModel`], or a [`wire::Transport`] for another HTTP library |
//! | build an agent | [`Agent::builder`]: instructions, tools, options, limits, callbacks |
//! | run it | [`Agent::run`], [`Agent::run_in`] a [`Conversation`], [`Agent::run_with`] options |
//! | observe it | [`Agent::run_stream`] yields [`RunEvent`]s |
//! | get typed answers | [`Agent::run_as`] |
//! | stop it | [`RunOptions::with_cancellation`], or drop its future; [`Limits`] bound every run |
//! | save and resume | [`Sessions`] with a store; a [`Conversation`] serializes at any time; [`Agent::resume`] |
//! | count costs | [`RunOutput::usage`], [`AgentBuilder::price`] |
//! | retry | [`ModelRetry`] in agents; [`model::Retrying`] without one |
//! | combine agents | [`AgentBuilder::sub_agent`], [`Agent::to_tool`], [`team`]; [`RunAgent`] for any other kind |
//! | test it | [`ScriptedModel`]; [`record`] and replay real models |
//!
//! # Errors by reader
//!
//! - [`ToolError`](toolkit_core::ToolError) is for the **model**: the result of a failed call.
//! - [`ModelError`] is for the **loop**, which retries where that may help.
//! - [`AgentError`] is for the **program**: there is no answer. The conversation can continue.
//!
//! # Features
//!
//! None is on by default.
//!
//! | feature | adds |
//! | --- | --- |
//! | `openai` | `clients::OpenAi`: Chat Completions and Responses, of OpenAI and compatible servers |
//! | `anthropic` | `clients::Anthropic`: Messages |
//! | `gemini` | `clients::Gemini`: `generateContent` |
//! | `genai` | `clients::GenAi`: all providers of the crate `genai` |
//! | `files` | `session::FileStore`: a file for each conversation |
//! | `sqlite` | `session::SqliteStore`: an SQLite database |

#[macro_use]
mod helpers;

mod agent;
#[cfg(feature = "_http")]
pub mod clients;
mod conversation;
mod error;
mod event;
mod limits;
mod llm;
mod message;
pub mod model;
mod options;
pub mod record;
mod run;
mod scripted;
pub mod session;
pub mod structured;
pub mod team;
pub mod wire;

pub use agent::{Agent, AgentOutput, Run, RunAgent};
pub use conversation::Conversation;
pub use error::{AgentError, Limit};
pub use event::{RunEvent, RunOutput};
pub use limits::Limits;
pub use llm::{AgentBuilder, InstructionsContext};
pub use message::{AssistantMessage, Message, NativeMessages, ToolMessage, UserMessage};
pub use model::{
    ChatModel, FinishReason, ModelDelta, ModelError, ModelErrorKind, ModelOptions, ModelRequest,
    ModelResponse, ModelRetry, ModelStream, Price, Usage,
};
pub use options::RunOptions;
pub use run::RunStream;
pub use scripted::ScriptedModel;
pub use session::Sessions;

/// The code of the README, compiled with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

/// The code of the guide's chapter about agents, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/08-agents.md")]
pub struct Guide;
