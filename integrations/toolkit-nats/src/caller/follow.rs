//! Live registries that follow a fleet.

use super::FleetToolset;
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
    /// Follows the fleet until the end of the program.
    pub fn detach(self) {
        drop(self.0.disarm());
    }
}

/// The tools of the fleet that are in the registry.
type Registered = BTreeMap<String, Arc<ForeignTool>>;

impl FleetToolset {
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

    /// Turns the registered tools into those of the catalog.
    fn apply(&self, live: &LiveRegistry, catalog: &Catalog, registered: &mut Registered) {
        let is_stale = |name: &String, tool: &Arc<ForeignTool>| {
            catalog.tools.get(name).is_none_or(|latest| latest.definition != tool.definition)
        };
        let stale: Vec<String> = registered
            .iter()
            .filter(|(name, tool)| is_stale(name, tool))
            .map(|(name, _)| name.clone())
            .collect();
        let fresh: Vec<&Arc<ForeignTool>> = catalog
            .tools
            .iter()
            .filter(|(name, _)| !registered.contains_key(*name) || stale.contains(name))
            .map(|(_, tool)| tool)
            .collect();
        if stale.is_empty() && fresh.is_empty() {
            return;
        }
        let change = |registry: &mut ToolRegistry, tools: &[&Arc<ForeignTool>]| {
            for name in stale.iter().filter(|name| !tools.iter().any(|tool| is_named(tool, name))) {
                // The program itself may have removed the tool.
                if registry.get_any(name).is_some() {
                    registry.unregister(name)?;
                }
            }
            for tool in tools {
                let name = tool.definition.name.as_str();
                let tool = FleetTool::new(self.clone(), Arc::clone(tool));
                if registered.contains_key(name) && registry.get_any(name).is_some() {
                    registry.replace(tool)?;
                } else {
                    registry.register(tool)?;
                }
            }
            Ok(())
        };
        let mut accepted: Vec<&Arc<ForeignTool>> = Vec::new();
        if live.change(|registry| change(registry, &fresh)).is_ok() {
            accepted.clone_from(&fresh);
        } else {
            // One tool after another, to find the refused ones.
            let _ = live.change(|registry| change(registry, &[]));
            for tool in &fresh {
                match live
                    .change(|registry| registry.register(FleetTool::new(self.clone(), Arc::clone(tool))))
                {
                    Ok(()) => accepted.push(tool),
                    Err(error) => {
                        let tool = tool.definition.name.clone();
                        self.state.emit(FleetEvent::Refused { tool, error });
                    }
                }
            }
        }
        registered.retain(|name, _| !stale.contains(name));
        registered.extend(accepted.iter().map(|tool| (tool.definition.name.to_string(), Arc::clone(tool))));
    }
}

fn is_named(tool: &ForeignTool, name: &str) -> bool {
    tool.definition.name.as_str() == name
}
