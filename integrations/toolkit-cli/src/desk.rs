//! What the commands work with: the tools, the screen and the input of the program.

use crate::exit::Failure;
use crate::input::Input;
use crate::screen::Screen;
use std::sync::Arc;
use toolkit_core::definition::Tool;
use toolkit_core::{Dispatcher, ToolError};

/// The tools of a program or of a server, and its user.
pub(crate) struct Desk {
    /// The words before a command, as in `weather` or `toolkit`.
    pub(crate) program: String,
    pub(crate) dispatcher: Dispatcher,
    pub(crate) screen: Screen,
    pub(crate) input: Input,
}

impl Desk {
    /// Returns a tool, also a disabled one.
    pub(crate) fn tool(&self, name: &str) -> Result<Arc<dyn Tool>, Failure> {
        let registry = self.dispatcher.registry();
        if let Some(tool) = registry.get_any(name) {
            return Ok(tool.clone());
        }
        let error = ToolError::not_found(name, registry.names());
        let hint = format!("{}\nsee `{} list`", error.message(), self.program);
        Err(Failure::usage(hint))
    }
}
