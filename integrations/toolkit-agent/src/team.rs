//! Agents together.

mod agent_tool;
mod history_tool;
mod looping;
mod names;
mod parallel;
mod sequential;
mod transfer;

pub use agent_tool::AgentTool;
pub use history_tool::HistoryTool;
pub use looping::LoopAgent;
pub use parallel::ParallelAgent;
pub use sequential::SequentialAgent;

pub(crate) use names::check_names;
pub(crate) use transfer::TransferTool;
