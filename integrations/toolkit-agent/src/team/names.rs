//! Unique names in a team.

use crate::agent::Agent;
use toolkit_core::BuildError;
use toolkit_core::error::BuildProblem;

/// Checks for unique names of the agents in a team: a name marks the messages of an agent. One agent may appear several
/// times.
pub(crate) fn check_names(name: &str, below: &[Agent]) -> Result<(), BuildError> {
    let mut known: Vec<&Agent> = Vec::new();
    let mut duplicates = Vec::new();
    let mut pending: Vec<&Agent> = below.iter().collect();
    while let Some(agent) = pending.pop() {
        if known.iter().any(|other| other.is(agent)) {
            continue;
        }
        let is_taken = agent.name() == name || known.iter().any(|other| other.name() == agent.name());
        if is_taken && !duplicates.contains(&agent.name()) {
            duplicates.push(agent.name());
        }
        known.push(agent);
        pending.extend(agent.sub_agents());
    }
    duplicates.sort_unstable();
    let problem = |name: &str| BuildProblem::Ambiguous { what: "agent", name: name.to_owned() };
    BuildError::unless_empty(duplicates.into_iter().map(problem).collect())
}
