//! A shared registry with atomic changes.

mod check;
mod registry_events;

pub use check::CheckOutcome;
pub use registry_events::{RegistryChange, RegistryEvent, RegistryEvents};

use super::{IntoRegistrySource, ToolRegistry};
use crate::definition::ToolDefinition;
use crate::error::BuildError;
use crate::guard::lock;
use arc_swap::ArcSwap;
use check::{Check, run_checks};
use registry_events::{EVENTS_KEPT, changes};
use std::fmt;
use std::sync::{Arc, Mutex};
use tokio::sync::broadcast;

/// A shared registry with atomic changes. Clones share the registry.
///
/// Readers take a [snapshot](Self::snapshot) and never wait. A [`change`](Self::change) edits a copy, which
/// is then checked and published, or discarded after an error. Snapshots in use, such as a running batch's,
/// stay unchanged. Changes run one after another. One `change` with several edits is cheaper than several.
///
/// ```
/// use toolkit_ai::{ClosureTool, LiveRegistry, ToolRegistry};
/// use toolkit_ai::registry::RegistryChange;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let live = LiveRegistry::new(ToolRegistry::new())?;
/// let mut events = live.subscribe();
/// let before = live.snapshot();
///
/// let add = ClosureTool::without_arguments("add", "Adds.", || 1)?;
/// live.change(|registry| registry.register(add))?;
/// assert!(live.snapshot().contains("add"));
/// assert!(before.is_empty());
/// let event = events.next().await.unwrap()?;
/// assert_eq!((event.tool.as_str(), event.change), ("add", RegistryChange::Registered));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct LiveRegistry {
    root: Arc<Root>,
}

struct Root {
    published: ArcSwap<Published>,
    /// The checks of new tools. A change holds the lock, so changes run one after another.
    checks: Mutex<Vec<Arc<Check>>>,
    events: broadcast::Sender<RegistryEvent>,
}

struct Published {
    registry: Arc<ToolRegistry>,
    version: u64,
}

impl LiveRegistry {
    /// Creates a live registry whose first version has the tools of a registry or another source.
    ///
    /// # Errors
    /// There are [recorded problems](ToolRegistry::check), missing [state](ToolRegistry::with_state), or
    /// reserved names.
    pub fn new(tools: impl IntoRegistrySource) -> Result<Self, BuildError> {
        let registry = tools.into_registry_source().snapshot();
        registry.check_complete()?;
        let published = ArcSwap::from_pointee(Published { registry, version: 0 });
        let (events, _) = broadcast::channel(EVENTS_KEPT);
        Ok(Self { root: Arc::new(Root { published, checks: Mutex::default(), events }) })
    }

    /// Returns the current registry, unaffected by later changes.
    #[must_use]
    pub fn snapshot(&self) -> Arc<ToolRegistry> {
        self.root.published.load().registry.clone()
    }

    /// Returns a number that increases with each change of the tools.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.root.published.load().version
    }

    /// Changes the registry with `edit` and returns its value.
    ///
    /// `edit` gets a copy, which is published if `edit` and all checks succeed.
    ///
    /// If one fails or panics, the registry stays unchanged. Calling `change` inside of `edit` or of a
    /// [check](Self::add_check) deadlocks.
    ///
    /// # Errors
    /// `edit` fails, a check refuses a tool, or the changed registry has recorded problems, missing state
    /// or reserved names.
    pub fn change<T>(
        &self,
        edit: impl FnOnce(&mut ToolRegistry) -> Result<T, BuildError>,
    ) -> Result<T, BuildError> {
        let root = &self.root;
        let checks = lock(&root.checks);
        let before = root.published.load_full();
        let mut after = (*before.registry).clone();
        let value = edit(&mut after)?;
        run_checks(&checks, &before.registry, &mut after)?;
        after.check_complete()?;
        let changes = changes(before.version + 1, &before.registry, &after);
        let version = before.version + u64::from(!changes.is_empty());
        root.published.store(Arc::new(Published { registry: Arc::new(after), version }));
        for event in changes {
            // An error means no listeners.
            let _ = root.events.send(event);
        }
        Ok(value)
    }

    /// Adds a check for every tool registered, merged or replaced from now on.
    ///
    /// It receives the tool's definition and the changed registry, including the tool.
    ///
    /// ```
    /// use toolkit_ai::{LiveRegistry, ToolRegistry};
    /// use toolkit_ai::registry::CheckOutcome;
    ///
    /// let live = LiveRegistry::new(ToolRegistry::new())?;
    /// live.add_check(|tool, _| match tool.description.is_empty() {
    ///     true => CheckOutcome::Disable("it has no description".to_owned()),
    ///     false => CheckOutcome::Accept,
    /// });
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// ```
    pub fn add_check(
        &self,
        check: impl Fn(&ToolDefinition, &ToolRegistry) -> CheckOutcome + Send + Sync + 'static,
    ) {
        lock(&self.root.checks).push(Arc::new(check));
    }

    /// Returns a stream of all later changes. For a matching snapshot, use [`watch`](Self::watch).
    #[must_use]
    pub fn subscribe(&self) -> RegistryEvents {
        RegistryEvents::new(self.root.events.subscribe())
    }

    /// Returns a snapshot and a stream with every later change exactly once.
    #[must_use]
    pub fn watch(&self) -> (Arc<ToolRegistry>, RegistryEvents) {
        let _no_change_meanwhile = lock(&self.root.checks);
        (self.snapshot(), self.subscribe())
    }
}

impl fmt::Debug for LiveRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let published = self.root.published.load();
        let Published { registry, version } = &**published;
        f.debug_struct("LiveRegistry").field("version", version).field("registry", registry).finish()
    }
}
