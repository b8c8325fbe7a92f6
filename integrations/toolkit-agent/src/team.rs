//! Agents that consist of other agents, and agents as tools.

mod concurrent;
mod parallel;
mod tools;
mod workflow;

pub use parallel::ParallelAgent;
pub use workflow::{LoopAgent, SequentialAgent};

pub(crate) use tools::{TransferTool, check_names};
