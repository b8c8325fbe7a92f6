//! The source of a dispatcher's tools.

use super::{LiveRegistry, ToolRegistry};
use crate::tool::Tool;
use std::sync::Arc;

/// The source of a [`Dispatcher`](crate::Dispatcher)'s tools: a fixed registry or a [live](LiveRegistry) one.
///
/// A list of tools, such as the array built by [`tools!`](crate::tools), becomes a fixed registry. Duplicate and illegal
/// names are errors of the function that takes the source.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum RegistrySource {
    /// A fixed registry.
    Fixed(Arc<ToolRegistry>),
    /// A live registry.
    Live(LiveRegistry),
}

impl RegistrySource {
    /// Returns the current tools: the fixed registry, or a snapshot of the live registry.
    #[must_use]
    pub fn snapshot(&self) -> Arc<ToolRegistry> {
        match self {
            Self::Fixed(registry) => registry.clone(),
            Self::Live(live) => live.snapshot(),
        }
    }
}

impl From<ToolRegistry> for RegistrySource {
    fn from(registry: ToolRegistry) -> Self {
        Self::Fixed(registry.into())
    }
}

impl<T: Tool + 'static, const N: usize> From<[T; N]> for RegistrySource {
    fn from(tools: [T; N]) -> Self {
        ToolRegistry::recording(tools).into()
    }
}

impl<T: Tool + 'static> From<Vec<T>> for RegistrySource {
    fn from(tools: Vec<T>) -> Self {
        ToolRegistry::recording(tools).into()
    }
}

impl From<Arc<ToolRegistry>> for RegistrySource {
    fn from(registry: Arc<ToolRegistry>) -> Self {
        Self::Fixed(registry)
    }
}

impl From<LiveRegistry> for RegistrySource {
    fn from(live: LiveRegistry) -> Self {
        Self::Live(live)
    }
}

impl From<&LiveRegistry> for RegistrySource {
    fn from(live: &LiveRegistry) -> Self {
        Self::Live(live.clone())
    }
}
