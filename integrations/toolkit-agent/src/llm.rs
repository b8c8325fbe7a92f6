//! Agents with a model: the loop between the model and its tools.

mod agent;
mod answer;
mod ask;
mod builder;
mod callbacks;
mod calls;
mod guards;
mod held;
mod history;
mod repetitions;
mod restart;
mod tools;

pub use agent::InstructionsContext;
pub use builder::AgentBuilder;
