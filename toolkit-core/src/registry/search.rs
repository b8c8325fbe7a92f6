//! Finding tools: for programs, and for models that do not see all tools from the start.

mod deferred;
mod index;
mod options;
mod tools;
mod words;

pub(super) use index::Index;
pub use options::{SearchOptions, SearchWeights};
pub(super) use tools::Catalog;

use super::ToolRegistry;
use crate::error::{BuildProblem, ToolError};
use crate::tool::Tool;
use deferred::DeferredCall;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

const CALL_DEFERRED: &str = "call_deferred";
const DISCOVER_TOOLS: &str = "discover_tools";

/// The names of the two tools, in their order.
const NAMES: [&str; 2] = [CALL_DEFERRED, DISCOVER_TOOLS];

/// A tool that a [search](ToolRegistry::search) has found.
#[derive(Clone)]
#[non_exhaustive]
pub struct ToolMatch {
    /// The tool.
    pub tool: Arc<dyn Tool>,
    /// How well it fits, to be compared with other scores of the same search; 1.0 if it was called by its name.
    pub score: f64,
    /// Whether the query is its name.
    pub is_exact: bool,
}

impl fmt::Debug for ToolMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, score, is_exact } = self;
        let name = &tool.definition().name;
        f.debug_struct("ToolMatch")
            .field("tool", name)
            .field("score", score)
            .field("is_exact", is_exact)
            .finish()
    }
}

/// The tools of this name, else those that fit the query best.
fn find(index: &Index, query: &str, top_k: usize, options: &SearchOptions) -> Vec<ToolMatch> {
    let made = |is_exact| {
        move |(score, tool): (f64, &Arc<dyn Tool>)| ToolMatch { tool: tool.clone(), score, is_exact }
    };
    let named = index.named(query);
    if !named.is_empty() {
        return named.into_iter().map(|tool| (1.0, tool)).take(top_k).map(made(true)).collect();
    }
    index.rank(query, options).into_iter().take(top_k).map(made(false)).collect()
}

/// # Finding tools
///
/// A model that is told of hundreds of tools chooses badly and costs much. Tools that are marked with
/// [`defer`](crate::ToolMetadata::defer) are left out of what it is told, once the registry has a tool search; the model
/// finds them through the tool `discover_tools` and calls them through `call_deferred`, or by their names.
///
/// A call of `call_deferred` is a call of the tool that it names in everything but the name of its result: time limits,
/// permissions, middleware and order are those of that tool.
///
/// ```
/// use toolkit::{ApiFormat, ClosureTool, Dispatcher, ToolCall, ToolRegistry};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct City { city: String }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let weather = ClosureTool::new("get_weather", "The weather of a city.", |City { city }: City| {
///     format!("sun in {city}")
/// })?;
/// let weather = weather.with_metadata(|metadata| metadata.with_defer(true));
/// let registry = ToolRegistry::from_tools([weather])?.with_tool_search();
/// let told = registry.definitions(ApiFormat::OpenAiChat).to_value();
/// assert_eq!(told[0]["function"]["name"], "call_deferred");
/// assert_eq!(told[1]["function"]["name"], "discover_tools");
/// assert_eq!(told.as_array().map(Vec::len), Some(2));
///
/// let dispatcher = Dispatcher::new(registry)?;
/// let find = ToolCall::new("1", "discover_tools", r#"{"query": "weather forecast"}"#);
/// let call = ToolCall::new("2", "call_deferred", r#"{"_target_tool": "get_weather", "city": "Lima"}"#);
/// let results = dispatcher.dispatch([find, call]).await;
/// assert!(results[0].to_text().contains("get_weather"));
/// assert_eq!(results[1].to_text(), "sun in Lima");
/// # Ok::<(), toolkit::BuildError>(())
/// # }).unwrap();
/// ```
impl ToolRegistry {
    /// Adds the tools `discover_tools` and `call_deferred`, and leaves deferred tools out of
    /// [definitions](Self::definitions).
    ///
    /// The two are not among those that the registry lists and counts, because they are made of these: of what
    /// can be called at the moment, when they are first needed. No other tool may have one of their names.
    #[must_use]
    pub fn with_tool_search(mut self) -> Self {
        self.enable_tool_search(SearchOptions::default());
        self
    }

    /// Like [`with_tool_search`](Self::with_tool_search), with options that are not the usual ones.
    pub fn enable_tool_search(&mut self, options: SearchOptions) {
        self.search = Some(Arc::new(options));
        self.cache = self.cache.renewed();
    }

    /// Takes back [`enable_tool_search`](Self::enable_tool_search): the model is told of all tools again.
    pub fn disable_tool_search(&mut self) {
        self.search = None;
        self.cache = self.cache.renewed();
    }

    /// The at most `top_k` tools that fit a query best, best first, whether or not they are deferred and the
    /// model has a tool search.
    ///
    /// If the query is the name of a tool, in whatever letter case and with whatever separators, that tool alone is
    /// found. Else its words are looked for in names, descriptions, tags, parameters and search hints (BM25F).
    ///
    /// ```
    /// use toolkit::{ClosureTool, ToolRegistry};
    /// # #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// # struct Nothing {}
    ///
    /// let tools = [("send_mail", "Sends a message."), ("read_file", "Reads a file from disk.")];
    /// let [mail, file] = tools.map(|(name, about)| ClosureTool::new(name, about, |_: Nothing| ""));
    /// let registry = ToolRegistry::from_tools([mail?, file?])?;
    /// let found = registry.search("what is in this file?", 5);
    /// assert_eq!(found[0].tool.definition().name.as_str(), "read_file");
    /// assert!(registry.search("Send-Mail", 5)[0].is_exact);
    /// # Ok::<(), toolkit::BuildError>(())
    /// ```
    #[must_use]
    pub fn search(&self, query: &str, top_k: usize) -> Vec<ToolMatch> {
        let usual = SearchOptions::default();
        let options = self.search.as_deref().unwrap_or(&usual);
        find(self.cache.index(self), query, top_k, options)
    }

    /// The tool of the search that has this name.
    #[cold]
    pub(super) fn search_tool(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        if !NAMES.contains(&name) {
            return None;
        }
        self.search_tools().iter().find(|tool| tool.definition().name.as_str() == name)
    }

    /// The tools of the search, in the order of their names; none if there is no search.
    pub(super) fn search_tools(&self) -> &[Arc<dyn Tool>] {
        match &self.search {
            Some(options) => self.cache.search_tools(self, options),
            None => &[],
        }
    }

    /// The names of the tools of the search. They are known before the tools are made.
    pub(super) fn search_names(&self) -> &'static [&'static str] {
        if self.search.is_some() { &NAMES } else { &[] }
    }

    /// The tool that a call means, and the arguments for it: for a call of `call_deferred` those of the call that it
    /// stands for, else all. It is asked only where no tool has exactly this name.
    ///
    /// # Errors
    /// What the model reads if there is no such tool.
    #[cold]
    pub(super) fn resolve_otherwise<'s, 'a>(
        &'s self,
        name: &str,
        arguments: &'a str,
    ) -> Result<(&'s Arc<dyn Tool>, Cow<'a, str>), ToolError> {
        let Some(options) = self.search.as_ref().filter(|_| name == CALL_DEFERRED) else {
            let tool = self.get(name).ok_or_else(|| self.not_found(name))?;
            return Ok((tool, Cow::Borrowed(arguments)));
        };
        let call = DeferredCall::read(arguments)?;
        let spelled = self.cache.original(self, &call.target);
        let own_name = spelled.as_deref().unwrap_or(&call.target);
        if let Some(reason) = self.disabled_reason(own_name) {
            return Err(ToolError::disabled(&call.target, reason));
        }
        let tool = self.cache.catalog(self, options).deferred(own_name)?;
        let arguments = call.arguments_for(&**tool, self.call_reason);
        Ok((tool, Cow::Owned(arguments)))
    }
}

impl ToolRegistry {
    /// A problem for each tool that has the name of a tool of the search.
    pub(super) fn reserved_names(&self) -> impl Iterator<Item = BuildProblem> {
        let taken = self.search_names().iter().filter_map(|name| self.get_any(name)).map(Tool::definition);
        taken.map(|definition| BuildProblem::ReservedName {
            tool: definition.name.to_string(),
            defined_at: definition.metadata.defined_at,
        })
    }
}
