//! The tools of an agent, including the tool `transfer_to_agent`.

use crate::agent::{Agent, Caller};
use crate::conversation::{Conversation, Owner};
use crate::event::RunEvent;
use crate::helpers::lock;
use crate::team::TransferTool;
use std::sync::{Arc, Mutex};
use toolkit_core::middleware::DecidedApprovals;
use toolkit_core::{BuildError, Dispatcher, ToolRegistry};

/// The tools of an agent, including the transfer tool.
pub(super) struct Tools {
    dispatcher: Dispatcher,
    transfer: Option<Arc<TransferTool>>,
    /// A dispatcher for the agent's tools and the transfer tool, with the registry that it was built from. It
    /// is rebuilt when a live registry changes.
    extended: Mutex<Option<(Arc<ToolRegistry>, Dispatcher)>>,
}

impl Tools {
    /// Creates the tools of an agent. The model can transfer the conversation to the sub-agents and to
    /// `targets`, which contains pairs of a name and a description.
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
        // With the transfer tool, which rules may select.
        tools.current()?.check()?;
        Ok(tools)
    }

    /// Returns a dispatcher for the current tools of the agent, including the transfer tool.
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
        let dispatcher = self.dispatcher.clone().with_snapshot(registry)?;
        *extended = Some((current, dispatcher.clone()));
        Ok(dispatcher)
    }

    /// Returns a dispatcher for the tools of `current`. Its calls belong to the run of `caller`. `last` is the dispatcher
    /// of the last turn; it is returned if the tools are still the same.
    pub(super) fn of_run(
        current: Dispatcher,
        agent: &str,
        conversation: &Conversation,
        caller: &Arc<Caller>,
        approvals: Option<&DecidedApprovals>,
        last: Option<Dispatcher>,
    ) -> Dispatcher {
        if let Some(last) = last.filter(|last| Arc::ptr_eq(&last.registry(), &current.registry())) {
            return last;
        }
        let run = &caller.run;
        let stopping = caller.clone();
        let mut context = run
            .0
            .shared
            .context
            .clone()
            .with_agent_name(agent)
            .with_session(conversation.session())
            .with_shared_extension(caller.clone())
            .with_stop(move || stopping.has_stopped());
        // The context of the program may be the context of a run for another user.
        if !conversation.user_id().is_empty() || context.extension::<Owner>().is_some() {
            context = context.with_extension(Owner(conversation.user_id().to_owned()));
        }
        if let Some(approvals) = approvals {
            context = context.with_extension(approvals.clone());
        }
        let dispatcher = current.with_run(context);
        if !run.has_listener() {
            return dispatcher;
        }
        let run = run.clone();
        let agent = agent.to_owned();
        dispatcher.with_listener(move |event| {
            run.emit(|| RunEvent::Tool {
                agent: agent.clone(),
                event: Box::new(event.clone()),
                within: run.within(),
            });
        })
    }
}
