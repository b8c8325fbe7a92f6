//! The resources of a server.

mod resource_tools;
mod subscription;

pub use resource_tools::McpResourceTools;
pub use subscription::McpSubscription;

use super::connection::{ListedPage, PageParams};
use super::content::{embedded, resource_text};
use super::mcp_client::McpClient;
use crate::mcp_error::{McpError, McpErrorKind};
use crate::request_span::RequestTarget;
use rmcp::RoleClient;
use rmcp::model::{ReadResourceRequestParams, ReadResourceResponse, Resource};
use rmcp::service::Peer;
use toolkit_core::Content;

/// A listed resource, or a template of resources.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpResource {
    /// The URI; that of a template has variables such as `{path}` (RFC 6570).
    pub uri: String,
    /// The name for programs.
    pub name: String,
    /// The name for humans.
    pub title: Option<String>,
    /// What the resource is.
    pub description: Option<String>,
    /// Such as `text/plain`.
    pub media_type: Option<String>,
    /// The size in bytes, if known.
    pub size: Option<u64>,
}

/// # Resources and prompts
///
/// Texts of resources and prompts have no characters that can carry hidden text.
impl McpClient {
    /// Lists the resources, at most [as many as tools](super::McpLimits::tools).
    ///
    /// # Errors
    /// [`McpError`] if the client is not connected, or if the server refuses the list.
    pub async fn resources(&self) -> Result<Vec<McpResource>, McpError> {
        let resources = async {
            let session = self.session()?;
            session.list_all("resources/list", |peer, page| self.resource_page(peer, page)).await
        };
        self.named(resources).await
    }

    /// Lists the templates of resources, at most [as many as tools](super::McpLimits::tools).
    ///
    /// # Errors
    /// [`McpError`] if the client is not connected, or if the server refuses the list.
    pub async fn resource_templates(&self) -> Result<Vec<McpResource>, McpError> {
        let templates = async {
            let session = self.session()?;
            session.list_all("resources/templates/list", |peer, page| self.template_page(peer, page)).await
        };
        self.named(templates).await
    }

    /// Reads a resource, such as one that a link in a result names.
    ///
    /// # Errors
    /// [`McpError`] if the client is not connected, or if the server refuses the URI.
    pub async fn read_resource(&self, uri: &str) -> Result<Vec<Content>, McpError> {
        let read = async {
            let session = self.session()?;
            let request = session.peer.read_resource_once(ReadResourceRequestParams::new(uri));
            match session.answer("resources/read", RequestTarget::Resource(uri), request).await? {
                ReadResourceResponse::Complete(result) => Ok(result.contents),
                _ => Err(question("resources/read")),
            }
        };
        let mut contents = self.named(read).await?;
        if contents.len() == 1 {
            return Ok(contents.pop().map(resource_text).into_iter().collect());
        }
        Ok(contents.into_iter().map(embedded).collect())
    }

    async fn resource_page(&self, peer: Peer<RoleClient>, params: PageParams) -> ListedPage<McpResource> {
        let page = peer.list_resources(params).await?;
        let resources = page.resources.into_iter().map(|resource| self.resource(resource)).collect();
        Ok((resources, page.next_cursor))
    }

    async fn template_page(&self, peer: Peer<RoleClient>, params: PageParams) -> ListedPage<McpResource> {
        let page = peer.list_resource_templates(params).await?;
        let mut templates = Vec::new();
        for template in page.resource_templates {
            let mut resource = Resource::new(template.uri_template, template.name);
            resource.title = template.title;
            resource.description = template.description;
            resource.mime_type = template.mime_type;
            templates.push(self.resource(resource));
        }
        Ok((templates, page.next_cursor))
    }

    fn resource(&self, resource: Resource) -> McpResource {
        McpResource {
            uri: self.short_text(&resource.uri),
            name: self.short_text(&resource.name),
            title: resource.title.map(|title| self.short_text(&title)),
            description: resource.description.map(|description| self.short_text(&description)),
            media_type: resource.mime_type.map(|media_type| self.short_text(&media_type)),
            size: resource.size,
        }
    }
}

/// Creates the error for a server that asks the user: only calls of tools answer questions.
pub(super) fn question(method: &str) -> McpError {
    let text = format!("the server asks a question before it answers `{method}`, which is not supported");
    McpError::new(McpErrorKind::Protocol, text)
}
