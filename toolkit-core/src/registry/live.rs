//! A registry that changes while it is in use.

mod admission;
mod events;
mod view;

pub use admission::Admission;
pub use events::{RegistryChange, RegistryEvent, RegistryEvents};
pub use view::LiveView;

use super::ToolRegistry;
use crate::error::BuildError;
use crate::tool::ToolDefinition;
use admission::{Check, admit};
use arc_swap::ArcSwap;
use events::{EVENTS_KEPT, changes};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast;

/// A registry that changes while it is in use. Clones are the same registry.
///
/// Readers take a [snapshot](Self::snapshot) and never wait: a change is made on a copy, checked, and
/// published as a whole or not at all. Whoever holds a snapshot, such as a batch of calls that runs, keeps it.
/// Changes wait for each other; several at once are cheaper in one [`change`](Self::change).
///
/// ```
/// use toolkit::{ClosureTool, LiveRegistry, ToolRegistry};
/// use toolkit::registry::RegistryChange;
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Nothing {}
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let live = LiveRegistry::new(ToolRegistry::new())?;
/// let mut events = live.subscribe();
/// let before = live.snapshot();
///
/// let add = ClosureTool::new("add", "Adds.", |_: Nothing| 1)?;
/// live.change(|registry| registry.register(add))?;
/// assert!(live.snapshot().contains("add"));
/// assert!(before.is_empty());
/// let event = events.next().await.unwrap()?;
/// assert!(matches!(event.change, RegistryChange::Registered { tool } if tool.as_str() == "add"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct LiveRegistry(Arc<Inner>);

struct Inner {
    published: ArcSwap<Published>,
    /// Whoever changes the registry holds it.
    checks: Mutex<Vec<Arc<Check>>>,
    events: broadcast::Sender<RegistryEvent>,
}

struct Published {
    registry: Arc<ToolRegistry>,
    version: u64,
}

impl LiveRegistry {
    /// A live registry that begins with these tools.
    ///
    /// # Errors
    /// [`BuildError`] with every [collision](ToolRegistry::check) and every [state](ToolRegistry::with_state)
    /// that a tool needs and the registry does not have.
    pub fn new(registry: impl Into<Arc<ToolRegistry>>) -> Result<Self, BuildError> {
        let registry = registry.into();
        registry.check_complete()?;
        let published = ArcSwap::from_pointee(Published { registry, version: 0 });
        let (events, _) = broadcast::channel(EVENTS_KEPT);
        Ok(Self(Arc::new(Inner { published, checks: Mutex::default(), events })))
    }

    /// The registry as it is now. Later changes do not reach it.
    #[must_use]
    pub fn snapshot(&self) -> Arc<ToolRegistry> {
        self.0.published.load().registry.clone()
    }

    /// How often the tools have changed; the same number means the same tools.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.0.published.load().version
    }

    /// Changes the registry: `edit` gets a copy, which is published when everything went well. It returns what
    /// `edit` returns. If it fails, or panics, nothing has changed.
    ///
    /// It must not change the same registry inside of `edit` or of a [check](Self::add_check): that would wait
    /// for itself.
    ///
    /// # Errors
    /// [`BuildError`] of `edit`, of a check that refuses a tool, or about state that a tool needs and the registry
    /// does not have.
    pub fn change<T>(
        &self,
        edit: impl FnOnce(&mut ToolRegistry) -> Result<T, BuildError>,
    ) -> Result<T, BuildError> {
        let checks = self.checks();
        let before = self.0.published.load_full();
        let mut after = (*before.registry).clone();
        let value = edit(&mut after)?;
        admit(&checks, &before.registry, &mut after)?;
        after.check_complete()?;
        let changes = changes(&before.registry, &after);
        let version = before.version + u64::from(!changes.is_empty());
        self.0.published.store(Arc::new(Published { registry: Arc::new(after), version }));
        for change in changes {
            // Nobody listens, or they do: both are fine.
            let _ = self.0.events.send(RegistryEvent { version, change });
        }
        Ok(value)
    }

    /// Adds a check of every tool that comes from now on: registered, merged, or put in the place of another.
    /// It sees what the tool says about itself, and the registry with the tool in it.
    ///
    /// ```
    /// use toolkit::{LiveRegistry, ToolRegistry};
    /// use toolkit::registry::Admission;
    ///
    /// let live = LiveRegistry::new(ToolRegistry::new())?;
    /// live.add_check(|tool, _| match tool.description.is_empty() {
    ///     true => Admission::Disable("it has no description".to_owned()),
    ///     false => Admission::Accept,
    /// });
    /// # Ok::<(), toolkit::BuildError>(())
    /// ```
    pub fn add_check(
        &self,
        check: impl Fn(&ToolDefinition, &ToolRegistry) -> Admission + Send + Sync + 'static,
    ) {
        self.checks().push(Arc::new(check));
    }

    /// The changes from now on.
    #[must_use]
    pub fn subscribe(&self) -> RegistryEvents {
        RegistryEvents::new(self.0.events.subscribe())
    }

    /// The registry as it is now, and the changes from there on: none is missing, none is there twice.
    #[must_use]
    pub fn watch(&self) -> (Arc<ToolRegistry>, RegistryEvents) {
        let _no_change_meanwhile = self.checks();
        (self.snapshot(), self.subscribe())
    }

    /// What is in there is whole even after a panic: only complete registries are published.
    fn checks(&self) -> MutexGuard<'_, Vec<Arc<Check>>> {
        self.0.checks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for LiveRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Published { registry, version } = &**self.0.published.load();
        f.debug_struct("LiveRegistry").field("version", version).field("registry", registry).finish()
    }
}
