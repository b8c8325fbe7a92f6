//! Agents with a model: the loop between the model and its tools.

mod agent;
mod answer;
mod builder;
mod callbacks;
mod context;
mod guards;
mod scope;
mod settings;
mod tools;
mod turn;

pub use builder::AgentBuilder;
pub use settings::InstructionsContext;
