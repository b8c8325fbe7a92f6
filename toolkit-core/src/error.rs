//! Errors: [`ToolError`] for the model, [`BuildError`] for the programmer.

mod build_error;
mod build_problem;
mod details;
mod flat;
mod kind;
mod listing;
mod pending;
mod tool_error;

pub use build_error::BuildError;
pub use build_problem::{BuildProblem, Location, ToolFault};
pub(crate) use flat::{flat_error, read_flat_error};
pub use kind::ErrorKind;
pub(crate) use listing::one_of;
pub use pending::Pending;
pub use tool_error::ToolError;
pub(crate) use toolkit_schema::__private::{shorten, shorten_to};
pub use toolkit_schema::{Violation, ViolationKind, nearest};
