//! A live registry seen through a view that follows it.

use super::LiveRegistry;
use crate::error::BuildError;
use crate::registry::registry_view::{RegistryView, Seen};
use crate::registry::{RegistrySource, ToolRegistry};
use arc_swap::ArcSwap;
use std::fmt;
use std::sync::Arc;

/// A [live registry](LiveRegistry), or a view of one, seen through a [view](RegistryView). It follows each change. Clones
/// are the same.
///
/// A tool that comes later and cannot be seen so, because its name is taken for instance, is left out until
/// that changes; [`check`](Self::check) tells.
#[derive(Clone)]
pub struct LiveView(Arc<Inner>);

struct Inner {
    source: RegistrySource,
    view: RegistryView,
    latest: ArcSwap<Latest>,
}

struct Latest {
    of: Arc<ToolRegistry>,
    seen: Seen,
}

impl LiveView {
    fn new(source: RegistrySource, view: RegistryView) -> Result<Self, BuildError> {
        let of = source.snapshot();
        let seen = view.of(&of, None);
        seen.shown.check()?;
        Ok(Self(Arc::new(Inner { source, view, latest: ArcSwap::from_pointee(Latest { of, seen }) })))
    }

    /// The registry as it is now, as it is seen. Later changes do not reach it.
    #[must_use]
    pub fn snapshot(&self) -> Arc<ToolRegistry> {
        let Inner { source, view, latest } = &*self.0;
        let now = source.snapshot();
        let known = latest.load();
        if Arc::ptr_eq(&known.of, &now) {
            return known.seen.shown.clone();
        }
        let seen = view.of(&now, Some(&known.seen));
        let shown = seen.shown.clone();
        latest.store(Arc::new(Latest { of: now, seen }));
        shown
    }

    /// Whether everything can be seen.
    ///
    /// # Errors
    /// [`BuildError`] with whatever is left out, and why.
    pub fn check(&self) -> Result<(), BuildError> {
        self.snapshot().check()
    }

    /// The same, seen through one more view.
    ///
    /// # Errors
    /// [`BuildError`] with everything that cannot be seen so.
    pub fn viewed(&self, view: RegistryView) -> Result<Self, BuildError> {
        Self::new(self.into(), view)
    }
}

impl LiveRegistry {
    /// The registry as it is seen through a [view](RegistryView), which follows it from now on.
    ///
    /// # Errors
    /// [`BuildError`] with everything that cannot be seen so, as of [`ToolRegistry::viewed`].
    pub fn viewed(&self, view: RegistryView) -> Result<LiveView, BuildError> {
        LiveView::new(self.into(), view)
    }
}

impl fmt::Debug for LiveView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveView").field("registry", &self.snapshot()).finish_non_exhaustive()
    }
}
