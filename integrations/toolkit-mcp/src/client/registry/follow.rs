//! Live registries that follow the tools of a server.

use crate::client::event::McpEvent;
use crate::client::mcp_client::McpClient;
use crate::client::tools::Catalog;
use std::sync::Arc;
use tokio::sync::watch;
use tokio_util::sync::DropGuard;
use toolkit_core::definition::ProvidedTool;
use toolkit_core::registry::SyncedTools;
use toolkit_core::search::SearchOptions;
use toolkit_core::{BuildError, CancellationToken, LiveRegistry, Tool, ToolRegistry};

const DISCOVER_TOOLS: &str = "discover_tools";

/// Keeps a live registry up to date with a server until it is dropped. The tools then stay registered.
#[derive(Debug)]
#[must_use = "the registry no longer follows the server once this value is dropped; see `detach`"]
pub struct Following {
    guard: DropGuard,
    registered: watch::Receiver<RegisteredTools>,
}

#[derive(Debug, Clone)]
struct RegisteredTools {
    catalog: Arc<Catalog>,
    are_deferred: bool,
}

impl RegisteredTools {
    fn are_current(&self, client: &McpClient) -> bool {
        Arc::ptr_eq(&self.catalog, &client.0.catalog.borrow()) && self.are_deferred == client.0.defers()
    }
}

impl Following {
    /// Follows the server until the client is closed or dropped.
    pub fn detach(self) {
        drop(self.guard.disarm());
    }

    pub(crate) async fn registered(&self, client: &McpClient) {
        let mut registered = self.registered.clone();
        let _ = registered.wait_for(|tools| tools.are_current(client)).await;
    }
}

impl McpClient {
    /// Registers the tools in a live registry, and changes it whenever the tools of the server change.
    ///
    /// [Many tools](crate::client::McpClientBuilder::tool_search_above) are deferred: turn on tool search in
    /// the registry, so that a model finds them when it needs them.
    ///
    /// Listeners of the registry receive an event for each added, removed and replaced tool. Overrides and
    /// rules for disabling tools stay. If the registry refuses a later tool, for instance because its name is
    /// taken, the client emits [`McpEvent::Refused`].
    ///
    /// # Errors
    /// Returns a [`BuildError`] if the registry refuses the current tools. It is then unchanged.
    pub fn follow(&self, registry: &LiveRegistry) -> Result<Following, BuildError> {
        self.start_following(registry, false)
    }

    /// Also turns on tool search when the tools are deferred.
    pub(crate) fn follow_with_search(&self, registry: &LiveRegistry) -> Result<Following, BuildError> {
        self.start_following(registry, true)
    }

    fn start_following(
        &self,
        registry: &LiveRegistry,
        turns_search_on: bool,
    ) -> Result<Following, BuildError> {
        let mut catalogs = self.0.catalog.subscribe();
        let mut totals = self.0.count.subscribe();
        let first =
            RegisteredTools { catalog: catalogs.borrow_and_update().clone(), are_deferred: self.0.defers() };
        let mut tools = SyncedTools::new(registry, self.provided(&first.catalog))?;
        if first.are_deferred && turns_search_on {
            turn_search_on(registry);
        }
        let progress = watch::Sender::new(first.clone());
        let registered = progress.subscribe();
        let client = Arc::downgrade(&self.0);
        let registry = registry.clone();
        let following = CancellationToken::new();
        tokio::spawn(following.clone().run_until_cancelled_owned(async move {
            let mut last = first;
            loop {
                tokio::select! {
                    changed = catalogs.changed() => if changed.is_err() { return },
                    _ = totals.changed() => {}
                }
                let Some(client) = client.upgrade().map(McpClient) else { return };
                let latest = RegisteredTools {
                    catalog: catalogs.borrow_and_update().clone(),
                    are_deferred: client.0.defers(),
                };
                if Arc::ptr_eq(&latest.catalog, &last.catalog) && latest.are_deferred == last.are_deferred {
                    continue;
                }
                for (tool, error) in tools.update(client.provided(&latest.catalog)) {
                    client.0.handler.emit(McpEvent::Refused { tool, error });
                }
                if latest.are_deferred && turns_search_on {
                    turn_search_on(&registry);
                }
                last = latest.clone();
                progress.send_replace(latest);
            }
        }));
        Ok(Following { guard: following.drop_guard(), registered })
    }

    /// Returns the tools that are still listed.
    fn provided(&self, listed: &Catalog) -> Vec<Arc<dyn Tool>> {
        let mut provided: Vec<Arc<dyn Tool>> = Vec::new();
        for tool in ProvidedTool::all(self.clone()) {
            if listed.tools.contains_key(tool.definition().name.as_str()) {
                provided.push(Arc::new(tool));
            }
        }
        provided
    }
}

/// Turns tool search on, unless it is on. A registry with a tool of the same name as a search tool stays
/// without.
fn turn_search_on(registry: &LiveRegistry) {
    if registry.snapshot().get(DISCOVER_TOOLS).is_some() {
        return;
    }
    // After an error, the tools are listed as without tool search.
    drop(registry.change(enable_search));
}

fn enable_search(registry: &mut ToolRegistry) -> Result<(), BuildError> {
    registry.enable_tool_search(SearchOptions::default());
    Ok(())
}
