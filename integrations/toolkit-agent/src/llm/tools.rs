//! The tools of an agent, with the one that hands over to its sub-agents.

use crate::agent::Agent;
use crate::team::TransferTool;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use toolkit_core::{BuildError, Dispatcher, ToolRegistry};

/// The tools of an agent.
pub(crate) struct Tools {
    dispatcher: Dispatcher,
    transfer: Option<Arc<TransferTool>>,
    /// For tools as they were, the same with the one that hands over.
    extended: Mutex<Option<(Arc<ToolRegistry>, Dispatcher)>>,
}

impl Tools {
    /// `others` are agents that the agent may hand over to beside its own, with what they are for.
    pub(crate) fn new(
        dispatcher: Dispatcher,
        sub_agents: &[Agent],
        others: &[(String, String)],
    ) -> Result<Self, BuildError> {
        let transfer = match (sub_agents, others) {
            ([], []) => None,
            (agents, others) => Some(Arc::new(TransferTool::new(agents, others)?)),
        };
        let tools = Self { dispatcher, transfer, extended: Mutex::new(None) };
        tools.now()?;
        Ok(tools)
    }

    /// What runs the tools that are there now.
    pub(super) fn now(&self) -> Result<Dispatcher, BuildError> {
        let Some(transfer) = &self.transfer else { return Ok(self.dispatcher.clone()) };
        let mut extended = self.extended.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.dispatcher.registry();
        if let Some((of, dispatcher)) = &*extended
            && Arc::ptr_eq(of, &now)
        {
            return Ok(dispatcher.clone());
        }
        let mut registry = (*now).clone();
        registry.register(transfer.clone())?;
        let dispatcher = self.dispatcher.clone().with_registry(registry)?;
        *extended = Some((now, dispatcher.clone()));
        Ok(dispatcher)
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tools").field("dispatcher", &self.dispatcher).finish_non_exhaustive()
    }
}
