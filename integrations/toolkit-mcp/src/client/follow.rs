//! Live registries that follow the tools of a server.

use super::McpClient;
use super::catalog::Catalog;
use super::event::McpEvent;
use std::sync::Arc;
use tokio::sync::watch;
use tokio_util::sync::DropGuard;
use toolkit_core::definition::ProvidedTool;
use toolkit_core::registry::SyncedTools;
use toolkit_core::{BuildError, CancellationToken, LiveRegistry, Tool};

/// Keeps a live registry up to date with the tools of a server, until this value is dropped. After that, the tools stay
/// registered.
#[derive(Debug)]
#[must_use = "the registry no longer follows the server once this value is dropped; see `detach`"]
pub struct Following {
    guard: DropGuard,
    /// The latest tools that were registered.
    registered: watch::Receiver<Arc<Catalog>>,
}

impl Following {
    /// Follows the server until the client is closed or dropped.
    pub fn detach(self) {
        drop(self.guard.disarm());
    }

    /// Waits until the registry has the current tools of the client.
    pub(crate) async fn registered(&self, client: &McpClient) {
        let mut registered = self.registered.clone();
        let is_current = |registered: &Arc<Catalog>| Arc::ptr_eq(registered, &client.0.catalog.borrow());
        // Fails if the client was closed.
        let _ = registered.wait_for(is_current).await;
    }
}

impl McpClient {
    /// Registers the tools in a live registry, and changes the registry whenever the tools of the server
    /// change.
    ///
    /// Listeners of the registry receive an event for each added, removed and replaced tool. Overrides and
    /// rules for disabling tools stay. If the registry refuses a later tool, for instance because its name is
    /// taken, the client emits [`McpEvent::Refused`].
    ///
    /// # Errors
    /// Returns a [`BuildError`] if the registry refuses the current tools. The registry is then unchanged.
    pub fn follow(&self, registry: &LiveRegistry) -> Result<Following, BuildError> {
        let mut catalogs = self.0.catalog.subscribe();
        let first = catalogs.borrow_and_update().clone();
        let mut tools = SyncedTools::new(registry, self.provided(&first))?;
        let progress = watch::Sender::new(first);
        let registered = progress.subscribe();
        let client = Arc::downgrade(&self.0);
        let following = CancellationToken::new();
        tokio::spawn(following.clone().run_until_cancelled_owned(async move {
            while catalogs.changed().await.is_ok() {
                let Some(client) = client.upgrade().map(McpClient) else { return };
                let latest = catalogs.borrow_and_update().clone();
                for (tool, error) in tools.update(client.provided(&latest)) {
                    client.0.handler.emit(McpEvent::Refused { tool, error });
                }
                progress.send_replace(latest);
            }
        }));
        Ok(Following { guard: following.drop_guard(), registered })
    }

    /// Returns the tools of the list. Tools that are no longer listed are left out.
    fn provided(&self, listed: &Catalog) -> Vec<Arc<dyn Tool>> {
        let tools = ProvidedTool::all(self.clone()).into_iter();
        let listed = tools.filter(|tool| listed.tools.contains_key(tool.definition().name.as_str()));
        listed.map(|tool| Arc::new(tool) as Arc<dyn Tool>).collect()
    }
}
