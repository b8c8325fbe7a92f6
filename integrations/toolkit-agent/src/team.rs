//! Agents made of other agents, and agents as tools.

mod agent_tool;
mod loop_agent;
mod names;
mod parallel;
mod sequential;
mod transfer;
mod workflow;

pub use loop_agent::LoopAgent;
pub use parallel::ParallelAgent;
pub use sequential::SequentialAgent;

pub(crate) use names::check_names;
pub(crate) use transfer::TransferTool;
