//! Tool formats: rendering of tool definitions for a provider or a protocol.
//!
//! A registry renders and caches definitions through [`ToolFormat`] and does not depend on any provider.

use crate::definition::ToolDefinition;
use crate::name::{NameRule, WireNames};
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

/// A format for rendering tool definitions, such as `ApiFormat` from `toolkit-llm`.
///
/// A registry caches the rendered list for each format. Formats that compare equal must therefore render
/// equal lists.
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
    /// The rendered list of all tools. The registry clones the cached list for each caller, so clones must be
    /// cheap.
    type Rendered: Clone + Send + Sync + 'static;

    /// The rendered form of one tool. The registry caches the fragments and passes them to the next
    /// [`render`](Self::render) after a change, for reuse.
    type Fragment: Send + Sync + 'static;

    /// Returns the rule for legal tool names in this format.
    fn name_rule(&self) -> NameRule;

    /// Returns the [`Publication`] options: whether to list deferred tools, and whether to ask for call
    /// reasons.
    fn publication(&self) -> Publication {
        Publication::default()
    }

    /// Renders `tools` in the given order. Returns the rendered list and one fragment for each tool.
    ///
    /// If the tool at `index` is unchanged since an earlier rendering in an equal format, `earlier(index)` returns the
    /// fragment from that rendering. Before reusing the fragment, the format must check that the spelling of the tool's
    /// name and the influence of other tools on the fragment are unchanged too.
    fn render(
        &self,
        tools: &[&ToolDefinition],
        names: &WireNames,
        earlier: &mut dyn FnMut(usize) -> Option<Arc<Self::Fragment>>,
    ) -> (Self::Rendered, Vec<Arc<Self::Fragment>>);
}

settings! {
    /// Options for the tool definitions in a request: whether to add call reasons, and whether to list
    /// deferred tools. A [`ToolFormat`] sets them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Publication {
        /// Whether to ask the model for the reason of each call, even if the registry does not ask.
        call_reason: bool, with_call_reason(bool);
        /// Whether to list deferred tools although the registry has tool search turned on. By default, tool
        /// search leaves deferred tools out of the list.
        list_deferred: bool, with_list_deferred(bool);
        /// Whether to list the search tool `discover_tools` in addition to the deferred tools. Needed for providers
        /// that receive all deferred tools and let the program search for the tools to load.
        client_search: bool, with_client_search(bool);
    }
}
