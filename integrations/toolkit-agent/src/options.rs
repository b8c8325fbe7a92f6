//! The options of a run.

use crate::limits::Limits;
use crate::pending::Decisions;
use toolkit_core::registry::RegistrySource;
use toolkit_core::{CancellationToken, RunContext};

/// The options that a request for a run has collected.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunOptions {
    /// `None` stands for the limits of the agent.
    pub(crate) limits: Option<Limits>,
    pub(crate) cancellation: CancellationToken,
    /// `None` stands for a new id.
    pub(crate) invocation_id: Option<String>,
    /// Whether tracing spans contain the messages of model calls.
    pub(crate) traced_messages: bool,
    pub(crate) decisions: Decisions,
    pub(crate) context: RunContext,
    /// Tools beside those of the agents.
    pub(crate) tools: Vec<RegistrySource>,
}
