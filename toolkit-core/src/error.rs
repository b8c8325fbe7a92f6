//! The three error families, one for each reader: the model, the programmer, the wire.

mod build;
mod kind;
mod tool;
mod wire;

pub use build::{BuildError, BuildProblem, Location};
pub use kind::ErrorKind;
pub use tool::ToolError;
pub(crate) use tool::one_of;
pub(crate) use toolkit_schema::__private::{shorten, shorten_to};
pub use toolkit_schema::{Violation, ViolationKind, nearest};
pub use wire::WireError;
