//! Agents.

mod agent;
mod conversation;
mod error;
mod event;
mod limits;
mod llm;
mod message;
mod model;
mod run;
mod scripted;
mod session;
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
#[cfg(feature = "files")]
pub use session::FileStore;
#[cfg(feature = "sqlite")]
pub use session::SqliteStore;
pub use session::{ConversationInfo, ConversationStore, MemoryStore, Sessions, StateOwner, StoreError};
pub use team::{AgentTool, HistoryTool, LoopAgent, ParallelAgent, SequentialAgent};
