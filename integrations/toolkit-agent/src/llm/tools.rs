//! The tools of an agent, including the tool `transfer_to_agent`.

use crate::agent::Agent;
use crate::helpers::lock;
use crate::team::TransferTool;
use std::sync::{Arc, Mutex};
use toolkit_core::{BuildError, Dispatcher, ToolRegistry};

/// The tools of an agent.
pub(super) struct Tools {
    dispatcher: Dispatcher,
    transfer: Option<Arc<TransferTool>>,
    /// The dispatcher for the tools and the transfer tool, together with the registry snapshot of the tools.
    /// Both are replaced after a change of a live registry.
    extended: Mutex<Option<(Arc<ToolRegistry>, Dispatcher)>>,
}

impl Tools {
    /// Creates the tools. `targets` are further agents to transfer to, in addition to the sub-agents, as
    /// pairs of name and description.
    pub(super) fn new(
        dispatcher: Dispatcher,
        sub_agents: &[Agent],
        targets: &[(String, String)],
    ) -> Result<Self, BuildError> {
        let transfer = match (sub_agents, targets) {
            ([], []) => None,
            _ => Some(Arc::new(TransferTool::new(sub_agents, targets)?)),
        };
        let tools = Self { dispatcher, transfer, extended: Mutex::new(None) };
        tools.current().map(drop)?;
        Ok(tools)
    }

    /// Returns a dispatcher for the current tools and the transfer tool.
    pub(super) fn current(&self) -> Result<Dispatcher, BuildError> {
        let Some(transfer) = &self.transfer else { return Ok(self.dispatcher.clone()) };
        let mut extended = lock(&self.extended);
        let current = self.dispatcher.registry();
        if let Some((snapshot, dispatcher)) = &*extended
            && Arc::ptr_eq(snapshot, &current)
        {
            return Ok(dispatcher.clone());
        }
        let mut registry = (*current).clone();
        registry.register(transfer.clone())?;
        let dispatcher = self.dispatcher.clone().with_registry(registry)?;
        *extended = Some((current, dispatcher.clone()));
        Ok(dispatcher)
    }
}
