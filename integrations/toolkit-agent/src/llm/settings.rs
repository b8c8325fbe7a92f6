//! The settings of an agent with a model.

use super::callbacks::ModelCallbacks;
use super::guards::Guards;
use crate::agent::Agent;
use crate::compaction::Compaction;
use crate::limits::Limits;
use std::sync::Arc;
use toolkit_core::{Session, ToolConfig};
use toolkit_llm::model::BoxModel;
use toolkit_llm::{ModelOptions, ModelRetry, Price};

/// The argument of an [`instructions_with`](crate::AgentBuilder::instructions_with) function.
#[derive(Debug)]
#[non_exhaustive]
pub struct InstructionsContext<'a> {
    /// The name of the agent.
    pub agent: &'a str,
    /// The session of the conversation.
    pub session: &'a Session,
}

pub(super) type MakeInstructions = dyn Fn(&InstructionsContext<'_>) -> String + Send + Sync;

/// The settings of an agent with a model, without tools.
pub(super) struct Settings {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) model: BoxModel,
    pub(super) instructions: Box<MakeInstructions>,
    pub(super) callbacks: ModelCallbacks,
    pub(super) sub_agents: Vec<Agent>,
    pub(super) tool_config: ToolConfig,
    pub(super) options: Arc<ModelOptions>,
    pub(super) limits: Limits,
    pub(super) retry: ModelRetry,
    pub(super) price: Price,
    pub(super) output_key: Option<String>,
    pub(super) history_limit: Option<usize>,
    pub(super) compaction: Option<Compaction>,
    pub(super) streaming: bool,
    pub(super) guards: Guards,
    /// Whether text events wait for checks. `None` lets the agent's guardrails decide.
    pub(super) hold_text: Option<bool>,
}
