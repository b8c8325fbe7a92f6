//! Formats: how a registry's tools are written for a provider or a protocol.
//!
//! A registry renders and caches definitions through [`ToolFormat`] and names no provider itself.

use crate::name::{NameRule, WireNames};
use crate::tool::ToolDefinition;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

/// A way to write tool definitions, such as `ApiFormat` of `toolkit-wire`.
///
/// A registry caches what a format renders, so equal formats must render equal lists.
///
/// ```
/// use std::sync::Arc;
/// use toolkit::format::ToolFormat;
/// use toolkit::name::{NameRule, WireNames};
/// use toolkit::{ToolDefinition, ToolRegistry};
///
/// /// A line of text for each tool.
/// #[derive(Debug, Clone, PartialEq, Eq, Hash)]
/// struct Lines;
///
/// impl ToolFormat for Lines {
///     type Rendered = String;
///     type Fragment = String;
///
///     fn name_rule(&self) -> NameRule {
///         NameRule::DASHES
///     }
///
///     fn render(
///         &self,
///         tools: &[&ToolDefinition],
///         names: &WireNames,
///         _earlier: &mut dyn FnMut(usize) -> Option<Arc<String>>,
///     ) -> (String, Vec<Arc<String>>) {
///         let line = |tool: &&ToolDefinition| format!("{}: {}", names.spell(tool.name.as_str()), tool.description);
///         let lines: Vec<String> = tools.iter().map(line).collect();
///         (lines.join("\n"), lines.into_iter().map(Arc::new).collect())
///     }
/// }
///
/// assert_eq!(ToolRegistry::new().definitions(Lines), "");
/// ```
pub trait ToolFormat: Clone + Debug + Eq + Hash + Send + Sync + 'static {
    /// The list of all tools, rendered; clones must be cheap.
    type Rendered: Clone + Send + Sync + 'static;

    /// One tool's share of the list, kept by the registry and offered again after a change.
    type Fragment: Send + Sync + 'static;

    /// Returns which tool names the format accepts.
    fn name_rule(&self) -> NameRule;

    /// Returns which tools are published, and with which additions.
    fn publication(&self) -> Publication {
        Publication::default()
    }

    /// Renders the tools in the given order and returns the list with its fragments, one for each tool.
    ///
    /// `earlier` gives the fragment of the tool at an index, rendered by an equal format before the registry
    /// changed. The fragment may be used again if the tool's spelling and other tools' influence are the same.
    fn render(
        &self,
        tools: &[&ToolDefinition],
        names: &WireNames,
        earlier: &mut dyn FnMut(usize) -> Option<Arc<Self::Fragment>>,
    ) -> (Self::Rendered, Vec<Arc<Self::Fragment>>);
}

settings! {
    /// Which tools a registry publishes, and with which additions.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Publication {
        /// Whether the model is asked for the reason of each call, also where the registry does not ask.
        call_reason: bool, with_call_reason(bool);
        /// Whether deferred tools are listed although the registry has a tool search.
        list_deferred: bool, with_list_deferred(bool);
    }
}
