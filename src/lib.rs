//! Facade.

pub use toolkit_core::*;
pub use toolkit_macros::tool;

#[doc(hidden)]
pub use toolkit_core::__private;

/// What nearly every program with tools needs.
pub mod prelude {
    pub use crate::{
        ApiFormat, Dispatcher, Tool, ToolCall, ToolContext, ToolError, ToolOutput, ToolRegistry, ToolResult,
        tool, tools,
    };
}
