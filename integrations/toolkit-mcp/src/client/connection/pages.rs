//! Lists of a server, page by page.

use super::session::Session;
use super::session_span::Deadline;
use crate::client::settings::McpLimits;
use crate::client::tools::Catalog;
use crate::mcp_error::{McpError, McpErrorKind};
use crate::request_span::RequestTarget;
use rmcp::model::{ClientRequest, ErrorCode, ListToolsRequest, PaginatedRequestParams};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, ServiceError};
use serde_json::Value;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;
use toolkit_core::__private::lock;

pub(crate) type ListedPage<T> = Result<(Vec<T>, Option<String>), ServiceError>;

pub(crate) type PageParams = Option<PaginatedRequestParams>;

impl Session {
    pub(crate) async fn list_tools(&self) -> Result<Catalog, McpError> {
        let has_tools = self.peer.peer_info().is_none_or(|peer| peer.capabilities.tools.is_some());
        let mut catalog = Catalog::default();
        *lock(&self.expiry) = None;
        if !has_tools {
            return Ok(catalog);
        }
        let deadline = Deadline::after(self.handler.settings.connect_timeout);
        let mut pages = PageCursor::new("tools/list", &self.handler.settings.limits);
        loop {
            let next = self.add_tools(&mut catalog, pages.params(), deadline).await?;
            match pages.advance(next) {
                Ok(true) => {}
                Ok(false) => return Ok(catalog),
                Err(reason) => {
                    catalog.cut(&reason);
                    return Ok(catalog);
                }
            }
        }
    }

    /// Adds one page of the tools, and returns the cursor of the next one.
    async fn add_tools(
        &self,
        catalog: &mut Catalog,
        params: PaginatedRequestParams,
        deadline: Deadline,
    ) -> Result<Option<String>, McpError> {
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
        let answer = async { self.send(request, PeerRequestOptions::no_options()).await?.response().await };
        let result = self.answer_until(deadline, "tools/list", RequestTarget::Unnamed, answer).await?;
        // One malformed tool must not hide all others.
        let mut page = serde_json::to_value(result).unwrap_or_default();
        let Some(Value::Array(entries)) = page.get_mut("tools").map(Value::take) else {
            return Err(McpError::new(McpErrorKind::Protocol, "the server's list of tools is not a list"));
        };
        if let Some(ttl) = page.get("ttlMs").and_then(Value::as_u64).filter(|ttl| *ttl > 0) {
            self.fresh_for(Duration::from_millis(ttl));
        }
        if !catalog.extend(entries, &self.handler.settings) {
            return Ok(None);
        }
        Ok(page.get("nextCursor").and_then(Value::as_str).map(str::to_owned))
    }

    /// Requests all pages of a list, and returns at most as many entries as the limit of tools. `page` keeps
    /// of an entry only what has a limit. The list of a server that does not know `method` is empty.
    pub(crate) async fn list_all<T, F>(
        &self,
        method: &str,
        page: impl Fn(Peer<RoleClient>, PageParams) -> F,
    ) -> Result<Vec<T>, McpError>
    where
        F: Future<Output = ListedPage<T>>,
    {
        let limits = &self.handler.settings.limits;
        let deadline = Deadline::after(self.handler.settings.call_timeout);
        let mut pages = PageCursor::new(method, limits);
        let mut entries = Vec::new();
        loop {
            // Boxed, because the future of a request is large, and each future around it would hold it again.
            let request = Box::pin(page(self.peer.clone(), Some(pages.params())));
            let answer = async {
                match request.await {
                    Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                        Ok((Vec::new(), None))
                    }
                    page => page,
                }
            };
            let (more, next) = self.answer_until(deadline, method, RequestTarget::Unnamed, answer).await?;
            entries.extend(more);
            entries.truncate(limits.tools);
            if entries.len() == limits.tools {
                return Ok(entries);
            }
            match pages.advance(next) {
                Ok(true) => {}
                Ok(false) => return Ok(entries),
                Err(reason) => return Err(McpError::new(McpErrorKind::Protocol, reason)),
            }
        }
    }
}

struct PageCursor<'a> {
    method: &'a str,
    limits: &'a McpLimits,
    /// The number of earlier pages.
    turned: usize,
    cursor: Option<String>,
    /// The digests of all cursors, because cursors may be long.
    seen: HashSet<u64>,
    digest: RandomState,
}

impl<'a> PageCursor<'a> {
    fn new(method: &'a str, limits: &'a McpLimits) -> Self {
        Self { method, limits, turned: 0, cursor: None, seen: HashSet::new(), digest: RandomState::new() }
    }

    fn params(&mut self) -> PaginatedRequestParams {
        PaginatedRequestParams::default().with_cursor(self.cursor.take())
    }

    /// Goes to the next page. Returns `false` after the last page, or the reason if a limit is reached before
    /// it.
    fn advance(&mut self, next: Option<String>) -> Result<bool, String> {
        let Some(next) = next else { return Ok(false) };
        let Self { method, limits, .. } = *self;
        if next.len() > limits.cursor_bytes {
            return Err(format!("`{method}` has a cursor of more than {} bytes", limits.cursor_bytes));
        }
        // A server that returns to an earlier page has no more entries.
        if !self.seen.insert(self.digest.hash_one(&next)) {
            return Ok(false);
        }
        self.turned += 1;
        if self.turned >= limits.pages {
            return Err(format!("`{method}` has more than {} pages", limits.pages));
        }
        self.cursor = Some(next);
        Ok(true)
    }
}
