//! Agents.

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
mod run;
mod scripted;
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
pub use run::{Run, RunOptions, RunOutput, RunStream};
pub use scripted::ScriptedModel;
