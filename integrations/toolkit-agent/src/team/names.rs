//! The names of a team.

use crate::agent::Agent;
use toolkit_core::BuildError;
use toolkit_core::error::BuildProblem;

/// Two agents of a team must not have one name: what one has said would be taken for the other's. One agent may be
/// in several places.
pub(crate) fn check_names(name: &str, below: &[Agent]) -> Result<(), BuildError> {
    let mut known: Vec<&Agent> = Vec::new();
    let mut twice = Vec::new();
    let mut waiting: Vec<&Agent> = below.iter().collect();
    while let Some(agent) = waiting.pop() {
        if known.iter().any(|other| other.is(agent)) {
            continue;
        }
        let is_taken = agent.name() == name || known.iter().any(|other| other.name() == agent.name());
        if is_taken && !twice.contains(&agent.name()) {
            twice.push(agent.name());
        }
        known.push(agent);
        waiting.extend(agent.sub_agents());
    }
    twice.sort_unstable();
    let problem = |name: &str| BuildProblem::Ambiguous { what: "agent", name: name.to_owned() };
    BuildError::unless_empty(twice.into_iter().map(problem).collect())
}
