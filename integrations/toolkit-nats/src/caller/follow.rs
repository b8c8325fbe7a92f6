//! Live registries that follow a fleet.

use super::FleetTools;
use super::catalog::Catalog;
use super::fleet_event::FleetEvent;
use super::fleet_tool::FleetTool;
use crate::definitions::ForeignTool;
use std::collections::BTreeMap;
use std::slice;
use std::sync::Arc;
use tokio_util::sync::DropGuard;
use toolkit_core::error::BuildError;
use toolkit_core::{CancellationToken, LiveRegistry, ToolRegistry};

/// Keeps a live registry up to date with a fleet until it is dropped.
///
/// After that, the tools stay registered.
#[derive(Debug)]
#[must_use = "the registry no longer follows the fleet once this value is dropped; see `detach`"]
pub struct FleetFollowing(DropGuard);

impl FleetFollowing {
    /// Follows the fleet until the last clone of its tools is dropped.
    pub fn detach(self) {
        drop(self.0.disarm());
    }
}

/// The fleet's tools in the registry.
type Registered = BTreeMap<String, Arc<ForeignTool>>;

/// A tool's name, and the tool that it gets; `None` if it is removed.
type ToolEdit<'a> = (&'a str, Option<&'a Arc<ForeignTool>>);

impl FleetTools {
    /// Registers the tools in a live registry, and follows the changes of the fleet.
    ///
    /// Listeners of the registry receive an event for each added, removed and replaced tool. A tool of the
    /// program is never replaced: the fleet's tool of that name is reported as [`FleetEvent::Refused`].
    ///
    /// # Errors
    /// The registry refuses all changes, for instance because the program's state is missing.
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

    /// Registers the catalog's tools: all at once, or one by one if the registry refuses some.
    fn apply(&self, live: &LiveRegistry, catalog: &Catalog, registered: &mut Registered) {
        let mut edits: Vec<ToolEdit<'_>> = Vec::new();
        for name in registered.keys() {
            if !catalog.tools.contains_key(name) {
                edits.push((name, None));
            }
        }
        for (name, tool) in &catalog.tools {
            if registered.get(name).is_none_or(|known| known.definition != tool.definition) {
                edits.push((name, Some(tool)));
            }
        }
        let all_at_once = live.change(|registry| self.edit(registry, &edits, registered));
        let mut latest = catalog.tools.clone();
        if all_at_once.is_err() {
            for edit @ (name, tool) in &edits {
                let edited = live.change(|registry| self.edit(registry, slice::from_ref(edit), registered));
                let Err(error) = edited else { continue };
                latest.remove(*name);
                if let Some(tool) = tool {
                    self.state.emit(FleetEvent::Refused { tool: tool.definition.name.clone(), error });
                }
            }
        }
        *registered = latest;
    }

    fn edit(
        &self,
        registry: &mut ToolRegistry,
        edits: &[ToolEdit<'_>],
        registered: &Registered,
    ) -> Result<(), BuildError> {
        for (name, tool) in edits {
            // The program itself may have removed the tool.
            let is_ours = registered.contains_key(*name) && registry.get_any(name).is_some();
            match tool.map(|tool| FleetTool::new(self.clone(), Arc::clone(tool))) {
                None if is_ours => drop(registry.unregister(name)?),
                None => {}
                Some(tool) if is_ours => drop(registry.replace(tool)?),
                Some(tool) => registry.register(tool)?,
            }
        }
        Ok(())
    }
}
