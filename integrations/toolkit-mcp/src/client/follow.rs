//! Live registries that follow the tools of a server.

use super::catalog::Catalog;
use super::event::McpEvent;
use super::{ClientState, McpClient};
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use tokio::sync::watch;
use tokio_util::sync::DropGuard;
use toolkit_core::tool::ProvidedTool;
use toolkit_core::{BuildError, CancellationToken, LiveRegistry, Tool, ToolName, ToolRegistry};

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

/// One change of a live registry.
enum Edit {
    Remove(ToolName),
    Add(ProvidedTool),
    Replace(ProvidedTool),
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
        let known = catalogs.borrow_and_update().clone();
        let tools = self.provided();
        registry.change(|registry| {
            let tools = known.tools.keys().filter_map(|name| tools.get(name));
            tools.cloned().try_for_each(|tool| registry.register(tool))
        })?;
        let progress = watch::Sender::new(known);
        let registered = progress.subscribe();
        let task = follow(Arc::downgrade(&self.0), catalogs, progress, registry.clone());
        let following = CancellationToken::new();
        tokio::spawn(following.clone().run_until_cancelled_owned(task));
        Ok(Following { guard: following.drop_guard(), registered })
    }

    fn provided(&self) -> BTreeMap<String, ProvidedTool> {
        let tools = ProvidedTool::all(self.clone()).into_iter();
        tools.map(|tool| (tool.definition().name.to_string(), tool)).collect()
    }
}

async fn follow(
    client: Weak<ClientState>,
    mut catalogs: watch::Receiver<Arc<Catalog>>,
    registered: watch::Sender<Arc<Catalog>>,
    registry: LiveRegistry,
) {
    while catalogs.changed().await.is_ok() {
        let Some(client) = client.upgrade().map(McpClient) else { return };
        let latest = catalogs.borrow_and_update().clone();
        let edits = edits(&registered.borrow(), &latest, &client.provided());
        let all_at_once = registry.change(|registry| edits.iter().try_for_each(|edit| edit.apply(registry)));
        if all_at_once.is_err() {
            for edit in &edits {
                if let Err(error) = registry.change(|registry| edit.apply(registry)) {
                    client.0.handler.emit(McpEvent::Refused { tool: edit.name().clone(), error });
                }
            }
        }
        registered.send_replace(latest);
    }
}

/// Returns the edits that turn the catalog `known` into the catalog `latest`.
fn edits(known: &Catalog, latest: &Catalog, tools: &BTreeMap<String, ProvidedTool>) -> Vec<Edit> {
    let gone = known.tools.iter().filter(|(name, _)| !latest.tools.contains_key(*name));
    let mut edits: Vec<Edit> = gone.map(|(_, tool)| Edit::Remove(tool.definition.name.clone())).collect();
    for (name, tool) in &latest.tools {
        let Some(provided) = tools.get(name).cloned() else { continue };
        match known.tools.get(name) {
            None => edits.push(Edit::Add(provided)),
            Some(earlier) if earlier.definition != tool.definition => edits.push(Edit::Replace(provided)),
            Some(_) => {}
        }
    }
    edits
}

impl Edit {
    fn name(&self) -> &ToolName {
        match self {
            Self::Remove(name) => name,
            Self::Add(tool) | Self::Replace(tool) => &tool.definition().name,
        }
    }

    /// Applies the edit. If the program itself has removed a tool, the tool is neither removed nor replaced.
    fn apply(&self, registry: &mut ToolRegistry) -> Result<(), BuildError> {
        let name = self.name().as_str();
        let is_known = registry.get_any(name).is_some();
        match self {
            Self::Add(tool) => registry.register(tool.clone()),
            _ if !is_known => Ok(()),
            Self::Remove(_) => registry.unregister(name).map(drop),
            Self::Replace(tool) if registry.overridden().any(|overridden| overridden == name) => {
                let above = registry.restore(name)?;
                registry.replace(tool.clone())?;
                registry.override_tool(name, above)
            }
            Self::Replace(tool) => registry.replace(tool.clone()).map(drop),
        }
    }
}
