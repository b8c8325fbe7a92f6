//! Where a dispatcher takes its tools from.

use super::{LiveRegistry, LiveView, ToolRegistry};
use std::sync::Arc;

/// Where a [`Dispatcher`](crate::Dispatcher) takes its tools from: a registry that stays as it is, or a
/// [live](LiveRegistry) one, or a [view](LiveView) of that. It is made by `into()` of any of these, or of an `Arc` of the first.
#[derive(Debug, Clone)]
pub struct RegistrySource(Source);

#[derive(Debug, Clone)]
enum Source {
    Fixed(Arc<ToolRegistry>),
    Live(LiveRegistry),
    View(LiveView),
}

impl RegistrySource {
    /// The tools as they are now.
    #[must_use]
    pub fn snapshot(&self) -> Arc<ToolRegistry> {
        match &self.0 {
            Source::Fixed(registry) => registry.clone(),
            Source::Live(live) => live.snapshot(),
            Source::View(view) => view.snapshot(),
        }
    }
}

impl From<ToolRegistry> for RegistrySource {
    fn from(registry: ToolRegistry) -> Self {
        Arc::new(registry).into()
    }
}

impl From<Arc<ToolRegistry>> for RegistrySource {
    fn from(registry: Arc<ToolRegistry>) -> Self {
        Self(Source::Fixed(registry))
    }
}

impl From<LiveRegistry> for RegistrySource {
    fn from(live: LiveRegistry) -> Self {
        Self(Source::Live(live))
    }
}

impl From<&LiveRegistry> for RegistrySource {
    fn from(live: &LiveRegistry) -> Self {
        live.clone().into()
    }
}

impl From<LiveView> for RegistrySource {
    fn from(view: LiveView) -> Self {
        Self(Source::View(view))
    }
}

impl From<&LiveView> for RegistrySource {
    fn from(view: &LiveView) -> Self {
        view.clone().into()
    }
}
