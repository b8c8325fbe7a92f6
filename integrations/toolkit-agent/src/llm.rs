//! Agents with a model: the loop between the model and its tools.

mod agent;
mod answer;
mod ask;
mod beside;
mod builder;
mod callbacks;
mod calls;
mod compact;
mod guards;
mod held;
mod history;
mod meter;
mod pieces;
mod plan;
mod reduce;
mod refusal;
mod repetitions;
mod request;
mod restart;
mod settings;
mod situation;
mod started;
mod step;
mod summaries;
mod tools;
mod turns;
mod work;

pub use builder::AgentBuilder;
pub use settings::InstructionsContext;
