//! Agents made of other agents, and agents as tools.

mod agent_tool;
mod names;
mod parallel;
mod transfer;
mod workflow;

pub use parallel::ParallelAgent;
pub use workflow::{LoopAgent, SequentialAgent};

pub(crate) use names::check_names;
pub(crate) use transfer::TransferTool;
