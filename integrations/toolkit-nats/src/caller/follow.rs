//! Live registries that follow a fleet.

use super::FleetTools;
use super::catalog::Catalog;
use super::fleet_event::FleetEvent;
use super::fleet_tool::FleetTool;
use std::sync::Arc;
use tokio_util::sync::DropGuard;
use toolkit_core::error::BuildError;
use toolkit_core::registry::SyncedTools;
use toolkit_core::{CancellationToken, LiveRegistry, Tool};

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
        let mut synced = SyncedTools::new(registry, [])?;
        let first = catalogs.borrow_and_update().clone();
        self.update(&mut synced, &first);
        let following = CancellationToken::new();
        let fleet = self.clone();
        tokio::spawn(following.clone().run_until_cancelled_owned(async move {
            while catalogs.changed().await.is_ok() {
                let latest = catalogs.borrow_and_update().clone();
                fleet.update(&mut synced, &latest);
            }
        }));
        Ok(FleetFollowing(following.drop_guard()))
    }

    /// Turns the registered tools into those of the catalog.
    fn update(&self, synced: &mut SyncedTools, catalog: &Catalog) {
        let mut latest: Vec<Arc<dyn Tool>> = Vec::with_capacity(catalog.tools.len());
        for tool in catalog.tools.values() {
            latest.push(Arc::new(FleetTool::new(self.clone(), Arc::clone(tool))));
        }
        for (tool, error) in synced.update(latest) {
            self.state.emit(FleetEvent::Refused { tool, error });
        }
    }
}
