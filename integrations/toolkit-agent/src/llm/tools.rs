//! The tools of an agent, including the tool `transfer_to_agent`.

use crate::agent::{Agent, Caller, Run};
use crate::conversation::{Conversation, Owner};
use crate::event::RunEvent;
use crate::helpers::lock;
use crate::team::TransferTool;
use std::sync::{Arc, Mutex};
use toolkit_core::middleware::DecidedApprovals;
use toolkit_core::registry::{Collision, RegistrySource};
use toolkit_core::{BuildError, Dispatcher, ToolRegistry};

pub(super) struct Tools {
    dispatcher: Dispatcher,
    /// The tools beside those of the dispatcher.
    sources: Vec<RegistrySource>,
    transfer: Option<Arc<TransferTool>>,
    extended: Mutex<Extended>,
}

/// A dispatcher with added tools, and the registries behind it. It is made again when a live registry
/// changes.
#[derive(Default)]
pub(super) struct Extended {
    parts: Vec<Arc<ToolRegistry>>,
    dispatcher: Option<Dispatcher>,
}

impl Extended {
    /// Returns `dispatcher` with the tools of `sources` and the transfer tool. The first tool keeps a name.
    fn current(
        &mut self,
        dispatcher: &Dispatcher,
        sources: &[RegistrySource],
        transfer: Option<&Arc<TransferTool>>,
    ) -> Result<Dispatcher, BuildError> {
        if sources.is_empty() && transfer.is_none() {
            return Ok(dispatcher.clone());
        }
        let mut parts = vec![dispatcher.registry()];
        parts.extend(sources.iter().map(RegistrySource::snapshot));
        let are_same = self.parts.iter().map(Arc::as_ptr).eq(parts.iter().map(Arc::as_ptr));
        if let Some(dispatcher) = self.dispatcher.as_ref().filter(|_| are_same) {
            return Ok(dispatcher.clone());
        }
        let registry = merged(&parts, transfer, Collision::Keep)?;
        let extended = dispatcher.clone().with_snapshot(registry)?;
        *self = Self { parts, dispatcher: Some(extended.clone()) };
        Ok(extended)
    }
}

fn merged(
    parts: &[Arc<ToolRegistry>],
    transfer: Option<&Arc<TransferTool>>,
    collision: Collision,
) -> Result<ToolRegistry, BuildError> {
    let mut registry = ToolRegistry::new();
    for (index, part) in parts.iter().enumerate() {
        match index {
            0 => registry = (**part).clone(),
            _ => registry.merge_with((**part).clone(), collision)?,
        }
    }
    if let Some(transfer) = transfer {
        registry.register(transfer.clone())?;
    }
    Ok(registry)
}

impl Tools {
    /// Creates the tools of an agent. `targets` has the names and descriptions of further transfer targets.
    pub(super) fn new(
        mut dispatcher: Dispatcher,
        mut sources: Vec<RegistrySource>,
        sub_agents: &[Agent],
        targets: &[(String, String)],
    ) -> Result<Self, BuildError> {
        let transfer = match (sub_agents, targets) {
            ([], []) => None,
            _ => Some(Arc::new(TransferTool::new(sub_agents, targets)?)),
        };
        let own = dispatcher.registry();
        if own.is_empty() && sources.len() == 1 {
            dispatcher = dispatcher.with_registry(sources.remove(0))?;
        } else {
            let mut parts = vec![own];
            parts.extend(sources.iter().map(RegistrySource::snapshot));
            merged(&parts, transfer.as_ref(), Collision::Refuse)?;
        }
        let tools = Self { dispatcher, sources, transfer, extended: Mutex::default() };
        // With the transfer tool, which rules may select.
        tools.of_agent()?.check()?;
        Ok(tools)
    }

    fn of_agent(&self) -> Result<Dispatcher, BuildError> {
        lock(&self.extended).current(&self.dispatcher, &self.sources, self.transfer.as_ref())
    }

    /// Returns a dispatcher for the current tools of the agent and of `run`. `extended` keeps it between
    /// turns.
    pub(super) fn current(&self, run: &Run, extended: &mut Extended) -> Result<Dispatcher, BuildError> {
        let of_agent = self.of_agent()?;
        match &run.0.tools {
            None => Ok(of_agent),
            Some(tools) => extended.current(&of_agent, tools, None),
        }
    }

    /// Returns a dispatcher for the tools of `current`, whose calls belong to the run of `caller`. It is
    /// the `last` one if the tools are the same.
    pub(super) fn of_run(
        current: Dispatcher,
        agent: &str,
        conversation: &Conversation,
        caller: &Arc<Caller>,
        approvals: Option<DecidedApprovals>,
        last: Option<Dispatcher>,
    ) -> Dispatcher {
        if let Some(last) = last.filter(|last| Arc::ptr_eq(&last.registry(), &current.registry())) {
            return last;
        }
        let run = &caller.run;
        let mut context = run
            .0
            .shared
            .context
            .clone()
            .with_agent_name(agent)
            .with_session(conversation.session())
            .with_shared_extension(caller.clone())
            .with_control(caller.clone());
        // The program's context may be that of a run for another user.
        if !conversation.user_id().is_empty() || context.extension::<Owner>().is_some() {
            context = context.with_extension(Owner(conversation.user_id().to_owned()));
        }
        if let Some(approvals) = approvals {
            context = context.with_extension(approvals);
        }
        let dispatcher = current.with_run(context);
        if !run.has_listener() {
            return dispatcher;
        }
        let caller = caller.clone();
        let agent = agent.to_owned();
        dispatcher.with_listener(move |event| {
            caller.run.emit(|| RunEvent::Tool {
                agent: agent.clone(),
                key: caller.called.key(&event.call.call_id),
                event: Box::new(event.clone()),
                within: caller.run.within(),
            });
        })
    }
}
