//! The service that the operations of a document belong to.

use super::OpenApiError;
use super::document::Document;
use super::operation::Operation;
use std::sync::Arc;
use toolkit_core::{ToolContext, ToolError, ToolFuture};

#[derive(Debug, Default)]
pub(super) struct RequestSettings {}

pub(super) struct Service {
    document: Arc<Document>,
}

impl Service {
    pub(super) fn new(document: Arc<Document>, _: RequestSettings) -> Result<Self, OpenApiError> {
        Ok(Self { document })
    }

    pub(super) fn call<'a>(
        &'a self,
        operation: &'a Operation,
        _: &'a str,
        _: &'a ToolContext,
    ) -> ToolFuture<'a> {
        let server = self.document.server();
        ToolFuture::ready(Err(ToolError::failed(format!("{} at {server:?}", operation.id))))
    }
}
