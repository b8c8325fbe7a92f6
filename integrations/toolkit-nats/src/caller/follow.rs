//! Live registries that follow a fleet.

use super::FleetTools;
use super::catalog::Catalog;
use super::fleet_event::FleetEvent;
use super::fleet_tool::FleetTool;
use crate::definitions::ForeignTool;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio_util::sync::DropGuard;
use toolkit_core::error::BuildError;
use toolkit_core::{CancellationToken, LiveRegistry, ToolRegistry};

/// Keeps a live registry up to date with the tools of a fleet, until this value is dropped. After that, the tools stay
/// registered.
#[derive(Debug)]
#[must_use = "the registry no longer follows the fleet once this value is dropped; see `detach`"]
pub struct FleetFollowing(DropGuard);

impl FleetFollowing {
    /// Follows the fleet until the last clone of its tools is dropped.
    pub fn detach(self) {
        drop(self.0.disarm());
    }
}

/// The tools of the fleet that are in the registry.
type Registered = BTreeMap<String, Arc<ForeignTool>>;

impl FleetTools {
    /// Registers the tools in a live registry, and changes the registry whenever the tools of the fleet change.
    ///
    /// Listeners of the registry receive an event for each added, removed and replaced tool. A tool of the program is never
    /// replaced: a tool of the fleet with its name is left out, and reported as [`FleetEvent::Refused`].
    ///
    /// # Errors
    /// A [`BuildError`] if the registry refuses all changes, for instance because the program's state is missing.
    pub fn follow(&self, registry: &LiveRegistry) -> Result<FleetFollowing, BuildError> {
        let mut catalogs = self.state.catalogs.subscribe();
        let mut registered = Registered::new();
        registry.change(|_| Ok(()))?;
        let first = catalogs.borrow_and_update().clone();
        self.apply(registry, &first, &mut registered);
        let following = CancellationToken::new();
        let (fleet, live) = (self.clone(), registry.clone());
        tokio::spawn(following.clone().run_until_cancelled_owned(async move {
            while catalogs.changed().await.is_ok() {
                let latest = catalogs.borrow_and_update().clone();
                fleet.apply(&live, &latest, &mut registered);
            }
        }));
        Ok(FleetFollowing(following.drop_guard()))
    }

    /// Turns the registered tools into those of the catalog: all at once, or one by one if the registry refuses some.
    fn apply(&self, live: &LiveRegistry, catalog: &Catalog, registered: &mut Registered) {
        let mut edits: Vec<(&str, Option<&Arc<ForeignTool>>)> = Vec::new();
        let gone = registered.keys().filter(|name| !catalog.tools.contains_key(*name));
        edits.extend(gone.map(|name| (name.as_str(), None)));
        let is_known = |name: &String, tool: &Arc<ForeignTool>| {
            registered.get(name).is_some_and(|known| known.definition == tool.definition)
        };
        let fresh = catalog.tools.iter().filter(|(name, tool)| !is_known(name, tool));
        edits.extend(fresh.map(|(name, tool)| (name.as_str(), Some(tool))));
        let edit = |registry: &mut ToolRegistry, (name, tool): (&str, Option<&Arc<ForeignTool>>)| {
            // The program itself may have removed the tool.
            let is_ours = registered.contains_key(name) && registry.get_any(name).is_some();
            match tool.map(|tool| FleetTool::new(self.clone(), Arc::clone(tool))) {
                None if is_ours => registry.unregister(name).map(drop),
                None => Ok(()),
                Some(tool) if is_ours => registry.replace(tool).map(drop),
                Some(tool) => registry.register(tool),
            }
        };
        let all_at_once = live.change(|registry| edits.iter().try_for_each(|change| edit(registry, *change)));
        let mut latest = catalog.tools.clone();
        if all_at_once.is_err() {
            for change in edits.iter().copied() {
                let Err(error) = live.change(|registry| edit(registry, change)) else { continue };
                latest.remove(change.0);
                if let (_, Some(tool)) = change {
                    self.state.emit(FleetEvent::Refused { tool: tool.definition.name.clone(), error });
                }
            }
        }
        *registered = latest;
    }
}
