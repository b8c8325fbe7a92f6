//! Tool formats: rendering of tool definitions for a provider or a protocol.
//!
//! Through [`ToolFormat`], a registry renders and caches definitions without depending on any provider.

use crate::definition::ToolDefinition;
use crate::name::{NameRule, WireNames};
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

/// A format for tool definitions, such as `ApiFormat` from `toolkit-llm`.
///
/// A registry caches the rendered list for each format. Formats that compare equal must render equal
/// lists.
///
/// ```
/// use std::sync::Arc;
/// use toolkit_ai::format::ToolFormat;
/// use toolkit_ai::name::{NameRule, WireNames};
/// use toolkit_ai::{ToolDefinition, ToolRegistry};
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
    /// The rendered list of all tools, cheap to clone for each caller.
    type Rendered: Clone + Send + Sync + 'static;

    /// The rendered form of one tool, cached for the next [`render`](Self::render) after a change.
    type Fragment: Send + Sync + 'static;

    /// Returns the rule for legal tool names in this format.
    fn name_rule(&self) -> NameRule;

    /// Returns which tools to list, and whether to ask for call reasons.
    fn publication(&self) -> Publication {
        Publication::default()
    }

    /// Renders `tools` in the given order, as a list and one fragment for each tool.
    ///
    /// If the tool at `index` is unchanged since an earlier rendering in an equal format, `earlier(index)`
    /// returns its fragment. Before reusing it, check that the spelling of its name and the influence of
    /// other tools are unchanged too.
    fn render(
        &self,
        tools: &[&ToolDefinition],
        names: &WireNames,
        earlier: &mut dyn FnMut(usize) -> Option<Arc<Self::Fragment>>,
    ) -> (Self::Rendered, Vec<Arc<Self::Fragment>>);
}

settings! {
    /// Options of a [`ToolFormat`] for the definitions in a request.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Publication {
        /// Whether to ask for the reason of each call, even if the registry does not.
        call_reason: bool, with_call_reason(bool);
        /// Whether to list deferred tools although tool search is on.
        list_deferred: bool, with_list_deferred(bool);
        /// Whether to list the search tool `discover_tools`, too.
        ///
        /// Providers need it that receive all deferred tools and let the program search.
        client_search: bool, with_client_search(bool);
    }
}
