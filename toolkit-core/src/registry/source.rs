//! The source of a dispatcher's tools.

use super::{LiveRegistry, ToolRegistry};
use crate::definition::{ProvidedTool, Tool, ToolProvider, Toolset};
use std::sync::Arc;

/// A [`Dispatcher`](crate::Dispatcher)'s tools: a fixed or a [live](LiveRegistry) registry.
///
/// A list of tools, such as [`tools!`](crate::tools) builds, becomes a fixed registry. The function that
/// takes the source reports duplicate and illegal names.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum RegistrySource {
    /// A fixed registry.
    Fixed(Arc<ToolRegistry>),
    /// A live registry.
    Live(LiveRegistry),
}

impl RegistrySource {
    /// Returns a provider's current tools as a fixed registry, for types with [`IntoRegistrySource`]. The
    /// function that takes the source reports duplicate and illegal names.
    #[must_use]
    pub fn from_provider(provider: impl ToolProvider) -> Self {
        ToolRegistry::recording(ProvidedTool::all(provider)).into_registry_source()
    }

    /// Returns the fixed registry, or a snapshot of the live one.
    #[must_use]
    pub fn snapshot(&self) -> Arc<ToolRegistry> {
        match self {
            Self::Fixed(registry) => registry.clone(),
            Self::Live(live) => live.snapshot(),
        }
    }

    #[cfg(feature = "tracing")]
    pub(crate) fn version(&self) -> u64 {
        match self {
            Self::Fixed(_) => 0,
            Self::Live(live) => live.version(),
        }
    }
}

/// A source of tools.
///
/// It is a registry, also in an `Arc`, a [`LiveRegistry`], a list such as [`tools!`](crate::tools) builds,
/// or a [`Toolset`] in an `Arc`. Clients of MCP servers, OpenAPI documents and fleets give their current
/// tools; a `LiveRegistry` follows their changes.
///
/// ```
/// use toolkit_ai::prelude::*;
///
/// /// Add two integers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let of_list = Dispatcher::new(tools![add])?;
/// let of_registry = Dispatcher::new(ToolRegistry::from_tools(tools![add])?)?;
/// # Ok::<(), BuildError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no source of tools",
    note = "give a list, as in `tools![add]`, a `ToolRegistry` by value or in an `Arc`, or a `LiveRegistry`",
    note = "the methods of a `#[toolset]` are given as `Arc::new(value)`, the tools of an iterator as a `Vec`",
    note = "a `Dispatcher` becomes a server with `from(dispatcher)`, and an agent takes it with `.dispatcher(…)`; a \
            registry gets its tools, and those of a `ToolProvider`, with `register_provider`",
    note = "a builder is built or connected first; a closure becomes a tool with `ClosureTool::new(…)`, an agent with \
            `agent.to_tool()?`"
)]
pub trait IntoRegistrySource {
    /// Converts the value to a source.
    fn into_registry_source(self) -> RegistrySource;
}

macro_rules! sources {
    ($([$($generics:tt)*] $ty:ty: $value:ident => $source:expr;)*) => {
        $(impl<$($generics)*> IntoRegistrySource for $ty {
            fn into_registry_source(self) -> RegistrySource {
                let $value = self;
                $source
            }
        })*
    };
}

sources! {
    [] RegistrySource: source => source;
    [] ToolRegistry: registry => RegistrySource::Fixed(registry.into());
    [] Arc<ToolRegistry>: registry => RegistrySource::Fixed(registry);
    [] LiveRegistry: live => RegistrySource::Live(live);
    [] &LiveRegistry: live => RegistrySource::Live(live.clone());
    [T: Tool + 'static, const N: usize] [T; N]: tools => ToolRegistry::recording(tools).into_registry_source();
    [T: Toolset] Arc<T>: toolset => {
        let mut registry = ToolRegistry::new();
        for tool in toolset.tools() {
            registry.insert_or_record(tool);
        }
        registry.into_registry_source()
    };
    [T: Tool + 'static] Vec<T>: tools => ToolRegistry::recording(tools).into_registry_source();
}
