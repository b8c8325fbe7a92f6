//! The source of a dispatcher's tools.

use super::{LiveRegistry, ToolRegistry};
use std::sync::Arc;

/// The source of a [`Dispatcher`](crate::Dispatcher)'s tools: a fixed registry or a [live](LiveRegistry) one.
#[derive(Debug, Clone)]
pub struct RegistrySource(Source);

#[derive(Debug, Clone)]
enum Source {
    Fixed(Arc<ToolRegistry>),
    Live(LiveRegistry),
}

impl RegistrySource {
    /// Returns the tools as they are now.
    #[must_use]
    pub fn snapshot(&self) -> Arc<ToolRegistry> {
        match &self.0 {
            Source::Fixed(registry) => registry.clone(),
            Source::Live(live) => live.snapshot(),
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
