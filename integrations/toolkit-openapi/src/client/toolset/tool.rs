//! An operation as a tool.

use crate::client::operation::Operation;
use crate::client::service::Service;
use std::sync::Arc;
use toolkit_core::{Tool, ToolContext, ToolDefinition, ToolFuture};

/// The tool of one operation. All tools of a document share one service.
pub(super) struct OpenApiTool {
    pub(super) definition: ToolDefinition,
    pub(super) operation: Operation,
    pub(super) service: Arc<Service>,
}

impl Tool for OpenApiTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        self.service.call(&self.operation, arguments, context)
    }
}
