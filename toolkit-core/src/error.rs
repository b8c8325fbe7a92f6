//! The three error families, one for each reader: the model, the programmer, the wire.

mod build;
mod kind;
mod nearest;
mod tool;
mod violation;
mod wire;

pub use build::{BuildError, BuildProblem, Location};
pub use kind::ErrorKind;
pub use nearest::nearest;
pub use tool::ToolError;
pub(crate) use tool::one_of;
pub use violation::{Violation, ViolationKind};
pub(crate) use violation::{shorten, shorten_to};
pub use wire::WireError;
