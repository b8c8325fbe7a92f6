//! The options of a run.

use crate::limits::Limits;
use crate::pending::Decisions;
use toolkit_core::registry::RegistrySource;
use toolkit_core::{CancellationToken, RunContext};

/// The collected options of a run.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunOptions {
    /// `None` means the agent's limits.
    pub(crate) limits: Option<Limits>,
    pub(crate) cancellation: CancellationToken,
    /// `None` means a new id.
    pub(crate) invocation_id: Option<String>,
    /// The id that the client gave to the input.
    pub(crate) message_id: String,
    /// Whether spans contain the messages of model calls.
    pub(crate) traced_messages: bool,
    pub(crate) decisions: Decisions,
    pub(crate) context: RunContext,
    pub(crate) tools: Vec<RegistrySource>,
}
