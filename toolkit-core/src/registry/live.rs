//! A shared registry with atomic changes.

mod check;
mod events;

pub use check::CheckOutcome;
pub use events::{RegistryChange, RegistryEvent, RegistryEvents};

use super::ToolRegistry;
use super::view::{Projection, RegistryView};
use crate::error::BuildError;
use crate::tool::ToolDefinition;
use arc_swap::ArcSwap;
use check::{Check, run_checks};
use events::{EVENTS_KEPT, ViewChanges, changes};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast;

/// A shared registry with atomic changes, or a [view](Self::viewed) of such a registry. Clones share the
/// registry.
///
/// Readers take a [snapshot](Self::snapshot) and never wait. A [`change`](Self::change) edits a copy of the
/// registry. The copy is then checked and published, or discarded after an error. Snapshots in use, such as
/// the snapshot of a running batch, are not affected. Changes run one after another. Several edits in a
/// single `change` are cheaper than several changes.
///
/// ```
/// use toolkit::{ClosureTool, LiveRegistry, ToolRegistry};
/// use toolkit::registry::RegistryChange;
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
    view: Option<Arc<View>>,
}

struct Root {
    published: ArcSwap<Published>,
    /// The checks of new tools. The lock is held during a change, so changes run one after another.
    checks: Mutex<Vec<Arc<Check>>>,
    events: broadcast::Sender<RegistryEvent>,
}

#[derive(Clone)]
struct Published {
    registry: Arc<ToolRegistry>,
    version: u64,
}

/// A view of a live registry.
struct View {
    of: LiveRegistry,
    view: RegistryView,
    latest: ArcSwap<Latest>,
}

/// The registry to which the view was last applied, and the result.
struct Latest {
    of: Published,
    projection: Projection,
}

impl LiveRegistry {
    /// Creates a live registry with `registry` as its first version.
    ///
    /// # Errors
    /// Returns a [`BuildError`] listing every [recorded problem](ToolRegistry::check), every missing
    /// [state](ToolRegistry::with_state), and every reserved name.
    pub fn new(registry: impl Into<Arc<ToolRegistry>>) -> Result<Self, BuildError> {
        let registry = registry.into();
        registry.check_complete()?;
        let published = ArcSwap::from_pointee(Published { registry, version: 0 });
        let (events, _) = broadcast::channel(EVENTS_KEPT);
        Ok(Self { root: Arc::new(Root { published, checks: Mutex::default(), events }), view: None })
    }

    /// Returns a view of this registry. The view follows later changes of the registry.
    ///
    /// If a step of the view fails for a tool after a later change, the view leaves the tool out, and
    /// [`check`](Self::check) reports it. For instance, the new name of a renamed tool may then belong to another tool.
    ///
    /// # Errors
    /// Returns a [`BuildError`] for the same reasons as [`ToolRegistry::viewed`].
    pub fn viewed(&self, view: RegistryView) -> Result<Self, BuildError> {
        let of = self.published();
        let projection = view.project(&of.registry, None);
        projection.registry.check()?;
        let latest = ArcSwap::from_pointee(Latest { of, projection });
        let view = View { of: self.clone(), view, latest };
        Ok(Self { root: self.root.clone(), view: Some(Arc::new(view)) })
    }

    fn published(&self) -> Published {
        let Some(View { of, view, latest }) = self.view.as_deref() else {
            return Published::clone(&self.root.published.load());
        };
        let of = of.published();
        let mut known = latest.load_full();
        // If other threads apply the view at the same time, the first result is kept. A second one would contain
        // other tools than the first, as if the tools had changed.
        while !Arc::ptr_eq(&known.of.registry, &of.registry) && known.of.version <= of.version {
            let projection = view.project(&of.registry, Some(&known.projection));
            let new = Arc::new(Latest { of: of.clone(), projection });
            let before = latest.compare_and_swap(&known, new.clone());
            known = if Arc::ptr_eq(&before, &known) { new } else { Arc::clone(&before) };
        }
        Published { registry: known.projection.registry.clone(), version: known.of.version }
    }

    /// Returns the current registry. Later changes do not affect the returned registry.
    #[must_use]
    pub fn snapshot(&self) -> Arc<ToolRegistry> {
        self.published().registry
    }

    /// Returns the version of the registry: a number that increases with each change of the tools. If two versions are
    /// equal, the tools are equal too.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.root.published.load().version
    }

    /// Returns an error if this view leaves out any tool.
    ///
    /// # Errors
    /// Returns a [`BuildError`] listing every tool left out, with the reason.
    pub fn check(&self) -> Result<(), BuildError> {
        self.snapshot().check()
    }

    /// Changes the registry with the function `edit` and returns the value returned by `edit`.
    ///
    /// `edit` gets a copy of the registry. The copy is published if `edit` and all checks succeed.
    ///
    /// If `edit` or a check fails or panics, the registry stays unchanged. On a view, `edit` gets the
    /// registry behind the view. Calling `change` inside of `edit` or of a [check](Self::add_check)
    /// deadlocks.
    ///
    /// # Errors
    /// Returns a [`BuildError`] if `edit` fails, if a check refuses a tool, or if the changed registry has
    /// recorded problems, missing state or reserved names.
    pub fn change<T>(
        &self,
        edit: impl FnOnce(&mut ToolRegistry) -> Result<T, BuildError>,
    ) -> Result<T, BuildError> {
        let root = &self.root;
        let checks = root.lock();
        let before = root.published.load_full();
        let mut after = (*before.registry).clone();
        let value = edit(&mut after)?;
        run_checks(&checks, &before.registry, &mut after)?;
        after.check_complete()?;
        let changes = changes(before.version + 1, &before.registry, &after);
        let version = before.version + u64::from(!changes.is_empty());
        root.published.store(Arc::new(Published { registry: Arc::new(after), version }));
        for event in changes {
            // An error means that there are no listeners.
            let _ = root.events.send(event);
        }
        Ok(value)
    }

    /// Adds a check for every tool registered, merged or replaced from now on.
    ///
    /// The check receives the definition of the tool and the changed registry, including the tool.
    ///
    /// ```
    /// use toolkit::{LiveRegistry, ToolRegistry};
    /// use toolkit::registry::CheckOutcome;
    ///
    /// let live = LiveRegistry::new(ToolRegistry::new())?;
    /// live.add_check(|tool, _| match tool.description.is_empty() {
    ///     true => CheckOutcome::Disable("it has no description".to_owned()),
    ///     false => CheckOutcome::Accept,
    /// });
    /// # Ok::<(), toolkit::BuildError>(())
    /// ```
    pub fn add_check(
        &self,
        check: impl Fn(&ToolDefinition, &ToolRegistry) -> CheckOutcome + Send + Sync + 'static,
    ) {
        self.root.lock().push(Arc::new(check));
    }

    /// Returns a stream of all later changes. To get a matching snapshot as well, use [`watch`](Self::watch).
    #[must_use]
    pub fn subscribe(&self) -> RegistryEvents {
        let receiver = self.root.events.subscribe();
        let Some(view) = &self.view else { return RegistryEvents::new(receiver, None) };
        let view = Arc::downgrade(view);
        let now = move || {
            let view = view.upgrade()?;
            let live = Self { root: view.of.root.clone(), view: Some(view) };
            let Published { registry, version } = live.published();
            Some((registry, version))
        };
        let view = ViewChanges { now: Box::new(now), last: self.snapshot(), queue: VecDeque::new() };
        RegistryEvents::new(receiver, Some(view))
    }

    /// Returns a snapshot of the registry together with a stream of all later changes. The stream contains
    /// every change after the snapshot exactly once.
    #[must_use]
    pub fn watch(&self) -> (Arc<ToolRegistry>, RegistryEvents) {
        let _no_change_meanwhile = self.root.lock();
        (self.snapshot(), self.subscribe())
    }
}

impl Root {
    /// Locks the registry against other changes. A panic cannot leave the registry partly changed, so poisoning is
    /// ignored.
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Check>>> {
        self.checks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for LiveRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Published { registry, version } = self.published();
        f.debug_struct("LiveRegistry").field("version", &version).field("registry", &registry).finish()
    }
}
