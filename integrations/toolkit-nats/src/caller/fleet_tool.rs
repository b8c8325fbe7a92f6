//! A tool of a fleet.

use super::FleetTools;
use super::outgoing_call::OutgoingCall;
use crate::definitions::ForeignTool;
use std::sync::Arc;
use toolkit_core::{Tool, ToolContext, ToolDefinition, ToolFuture};

/// Calls a tool of a fleet, only on workers with exactly its definition for the model.
#[derive(Clone)]
pub struct FleetTool {
    fleet: FleetTools,
    pub(super) tool: Arc<ForeignTool>,
}

impl FleetTool {
    pub(super) fn new(fleet: FleetTools, tool: Arc<ForeignTool>) -> Self {
        Self { fleet, tool }
    }
}

impl Tool for FleetTool {
    fn definition(&self) -> &ToolDefinition {
        &self.tool.definition
    }

    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        let call = OutgoingCall::new(&self.fleet.state, &self.tool, arguments, context);
        ToolFuture::new(call.run())
    }
}
