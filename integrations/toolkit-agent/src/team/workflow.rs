//! The common part of sequential, parallel and looping agents.

use super::check_names;
use crate::agent::{Agent, AgentOutput, Run};
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::limits::Limits;

/// The agents of a workflow and its settings.
#[derive(Debug, Clone)]
pub(super) struct Workflow {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) agents: Vec<Agent>,
    pub(super) limits: Limits,
}

impl Workflow {
    pub(super) fn new(name: impl Into<String>, agents: impl IntoIterator<Item = Agent>) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            agents: agents.into_iter().collect(),
            limits: Limits::default(),
        }
    }

    /// Checks the names of the agents and runs the workflow between its events.
    pub(super) async fn run(
        &self,
        run: &Run,
        work: impl Future<Output = Result<AgentOutput, AgentError>>,
    ) -> Result<AgentOutput, AgentError> {
        check_names(&self.name, &self.agents)?;
        run.emit(|| RunEvent::AgentStarted { agent: self.name.clone() });
        let output = work.await;
        run.emit(|| RunEvent::AgentEnded { agent: self.name.clone() });
        output
    }
}

/// Implements the settings and `RunAgent` for a type with a field `workflow` and a method `work`.
macro_rules! workflow_agent {
    ($agent:ident) => {
        impl $agent {
            /// Sets the description for the models of other agents.
            #[must_use]
            pub fn with_description(mut self, description: impl Into<String>) -> Self {
                self.workflow.description = description.into();
                self
            }

            /// Sets the limits of a run, for all its agents together.
            #[must_use]
            pub fn with_limits(mut self, limits: Limits) -> Self {
                self.workflow.limits = limits;
                self
            }
        }

        impl RunAgent for $agent {
            fn name(&self) -> &str {
                &self.workflow.name
            }

            fn description(&self) -> &str {
                &self.workflow.description
            }

            fn sub_agents(&self) -> &[Agent] {
                &self.workflow.agents
            }

            fn limits(&self) -> Limits {
                self.workflow.limits.clone()
            }

            async fn run(
                &self,
                conversation: &mut Conversation,
                run: &Run,
            ) -> Result<AgentOutput, AgentError> {
                self.workflow.run(run, self.work(conversation, run)).await
            }
        }
    };
}

pub(super) use workflow_agent;
