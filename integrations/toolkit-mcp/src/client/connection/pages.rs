//! Lists of a server, page by page.

use super::session::Session;
use super::session_span::Deadline;
use crate::client::tools::Catalog;
use crate::mcp_error::{McpError, McpErrorKind};
use crate::request_span::RequestTarget;
use rmcp::model::{ClientRequest, ErrorCode, ListToolsRequest, PaginatedRequestParams};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, ServiceError};
use serde_json::Value;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use toolkit_core::__private::lock;

impl Session {
    /// Requests all tools.
    pub(crate) async fn list_tools(&self) -> Result<Catalog, McpError> {
        let has_tools = self.peer.peer_info().is_none_or(|peer| peer.capabilities.tools.is_some());
        let catalog = Mutex::new(Catalog::default());
        *lock(&self.expiry) = None;
        if has_tools {
            let deadline = Deadline::after(self.handler.settings.connect_timeout);
            let cut = self.pages("tools/list", |params| self.add_tools(&catalog, params, deadline)).await?;
            if let Some(reason) = cut {
                lock(&catalog).cut(&reason);
            }
        }
        Ok(std::mem::take(&mut *lock(&catalog)))
    }

    /// Adds one page of the tools, and returns the cursor of the next page.
    async fn add_tools(
        &self,
        catalog: &Mutex<Catalog>,
        params: PaginatedRequestParams,
        deadline: Deadline,
    ) -> Result<Option<String>, McpError> {
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
        let result = async { self.send(request, PeerRequestOptions::no_options()).await?.response().await };
        let result = self.answer_until(deadline, "tools/list", RequestTarget::Unnamed, result).await?;
        // Each entry is parsed on its own, so that one malformed tool does not hide all others.
        let mut page = serde_json::to_value(result).unwrap_or_default();
        let Some(Value::Array(entries)) = page.get_mut("tools").map(Value::take) else {
            return Err(McpError::new(McpErrorKind::Protocol, "the server's list of tools is not a list"));
        };
        if let Some(ttl) = page.get("ttlMs").and_then(Value::as_u64).filter(|ttl| *ttl > 0) {
            self.fresh_for(Duration::from_millis(ttl));
        }
        let has_room = lock(catalog).extend(entries, &self.handler.settings);
        Ok(page.get("nextCursor").and_then(Value::as_str).filter(|_| has_room).map(str::to_owned))
    }

    /// Requests all pages of a list, and returns at most as many entries as the limit of tools. `page` keeps of an entry only
    /// what has a limit. The list of a server that does not know `method` is empty.
    pub(crate) async fn list_all<T, F>(
        &self,
        method: &str,
        page: impl Fn(Peer<RoleClient>, Option<PaginatedRequestParams>) -> F,
    ) -> Result<Vec<T>, McpError>
    where
        F: Future<Output = Result<(Vec<T>, Option<String>), ServiceError>>,
    {
        let most = self.handler.settings.limits.tools;
        let deadline = Deadline::after(self.handler.settings.call_timeout);
        let entries = Mutex::new(Vec::new());
        let add = async |params| {
            // Boxed, because the future of a request is large, and each future around it would hold it again.
            let request = Box::pin(page(self.peer.clone(), Some(params)));
            let page = async {
                match request.await {
                    Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                        Ok((Vec::new(), None))
                    }
                    page => page,
                }
            };
            let (more, next) = self.answer_until(deadline, method, RequestTarget::Unnamed, page).await?;
            let mut entries = lock(&entries);
            entries.extend(more);
            entries.truncate(most);
            Ok(next.filter(|_| entries.len() < most))
        };
        match self.pages(method, add).await? {
            Some(reason) => Err(McpError::new(McpErrorKind::Protocol, reason)),
            None => Ok(entries.into_inner().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    /// Requests pages one after the other. `page` gets one page, and returns the cursor of the next one. Returns the reason
    /// if a limit was reached before the last page.
    async fn pages<F>(
        &self,
        method: &str,
        page: impl Fn(PaginatedRequestParams) -> F,
    ) -> Result<Option<String>, McpError>
    where
        F: Future<Output = Result<Option<String>, McpError>>,
    {
        let limits = &self.handler.settings.limits;
        let mut cursor = None;
        // Digests, because cursors may be long.
        let mut seen = HashSet::new();
        let digest = RandomState::new();
        for _ in 0..limits.pages.max(1) {
            let params = PaginatedRequestParams::default().with_cursor(cursor.take());
            let Some(next) = page(params).await? else { return Ok(None) };
            if next.len() > limits.cursor_bytes {
                return Ok(Some(format!(
                    "`{method}` has a cursor of more than {} bytes",
                    limits.cursor_bytes
                )));
            }
            // A server that returns to an earlier page has no more entries.
            if !seen.insert(digest.hash_one(&next)) {
                return Ok(None);
            }
            cursor = Some(next);
        }
        Ok(Some(format!("`{method}` has more than {} pages", limits.pages)))
    }
}
