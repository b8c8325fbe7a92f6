//! All that generated code may name. Not part of the public interface: it may change in any release.

#![allow(missing_docs)]

pub use crate::args::{
    DefaultValue, DefaultValueBySerialize, Fill, Param, ParamDefault, Probe, ProbePlain, Slot, ToolParam,
    Unwritable,
};
pub use crate::context::ToolContext;
pub use crate::error::{Location, ToolError};
pub use crate::output::{ByConversion, ByDisplay, BySerialize, Failure, Infallible, Output, Unconvertible};
pub use crate::registry::Registration;
pub use crate::tool::{CallFn, FunctionTool, Invocation, StaticTool, ToolFuture};
pub use inventory;
