//! Tool search over the tools of a registry.

use super::ToolRegistry;
use super::render::RenderCache;
use crate::definition::Tool;
use crate::error::{BuildProblem, ToolError, ToolFault};
use crate::search::{CALL_DEFERRED, DeferredCall, SEARCH_TOOLS, SearchOptions, ToolMatch};
use std::borrow::Cow;
use std::sync::Arc;

/// Tool search that is on. Only this reaches both functions, so that a program without it contains neither
/// index nor search tools.
#[derive(Clone)]
pub(super) struct ToolSearch {
    options: Arc<SearchOptions>,
    tools: for<'r> fn(&'r RenderCache, &'r ToolRegistry, &SearchOptions) -> &'r [Arc<dyn Tool>],
    /// Returns the target of a `call_deferred` call, and its arguments.
    deferred: for<'r> fn(&'r ToolRegistry, &SearchOptions, &str) -> Resolved<'r>,
}

type Resolved<'r> = Result<(&'r Arc<dyn Tool>, Cow<'static, str>), ToolError>;

/// # Tool search
///
/// Hundreds of tools in a request cost tokens and lead to worse choices. With tool search on, the
/// definitions omit [deferred](crate::ToolMetadata::defer) tools. The model finds these with
/// `discover_tools` and calls them with `call_deferred`, or by name.
///
/// Such a call is a call of the target tool, with its time limit, permissions, middleware and ordering.
/// Only the result is named `call_deferred`.
///
/// ```
/// use toolkit_ai::llm::ApiFormat;
/// use toolkit_ai::{ClosureTool, Dispatcher, ToolCall, ToolRegistry};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct City { city: String }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let weather = ClosureTool::new("get_weather", "The weather of a city.", |City { city }: City| {
///     format!("sun in {city}")
/// })?;
/// let weather = weather.map_metadata(|metadata| metadata.with_defer(true));
/// let registry = ToolRegistry::from_tools([weather])?.with_tool_search();
/// let published = registry.definitions(ApiFormat::OpenAiChat).to_value();
/// assert_eq!(published[0]["function"]["name"], "call_deferred");
/// assert_eq!(published[1]["function"]["name"], "discover_tools");
/// assert_eq!(published.as_array().map(Vec::len), Some(2));
///
/// let dispatcher = Dispatcher::new(registry)?;
/// let find = ToolCall::new("1", "discover_tools", r#"{"query": "weather forecast"}"#);
/// let call = ToolCall::new("2", "call_deferred", r#"{"_target_tool": "get_weather", "city": "Lima"}"#);
/// let results = dispatcher.dispatch([find, call]).await;
/// assert!(results[0].to_text().contains("get_weather"));
/// assert_eq!(results[1].to_text(), "sun in Lima");
/// # Ok::<(), toolkit_ai::BuildError>(())
/// # }).unwrap();
/// ```
impl ToolRegistry {
    /// Turns tool search on: adds `discover_tools` and `call_deferred`, and leaves deferred tools out of
    /// [definitions](Self::definitions).
    ///
    /// Both are built on first use, from the tools callable then. [`iter`](Self::iter) and
    /// [`len`](Self::len) do not include them. No other tool may have their names.
    #[must_use]
    pub fn with_tool_search(mut self) -> Self {
        self.enable_tool_search(SearchOptions::default());
        self
    }

    /// Turns tool search on with options, see [`with_tool_search`](Self::with_tool_search).
    pub fn enable_tool_search(&mut self, options: SearchOptions) {
        self.search = Some(ToolSearch {
            options: Arc::new(options),
            tools: RenderCache::search_tools,
            deferred: Self::resolve_deferred,
        });
        self.cache = self.cache.renewed();
    }

    /// Turns tool search off.
    pub fn disable_tool_search(&mut self) {
        self.search = None;
        self.cache = self.cache.renewed();
    }

    /// Searches all callable tools, deferred or not, and returns the `top_k` best matches, best first.
    ///
    /// A query that is a tool's name, in any letter case and with any separators, finds only this tool.
    /// Otherwise, its first 64 words are looked up in names, descriptions, tags, parameters and search
    /// hints (BM25F). Tool search need not be on.
    ///
    /// ```
    /// use toolkit_ai::{ClosureTool, ToolRegistry};
    ///
    /// let tools = [("send_mail", "Sends a message."), ("read_file", "Reads a file from disk.")];
    /// let [mail, file] = tools.map(|(name, about)| ClosureTool::without_arguments(name, about, || ""));
    /// let registry = ToolRegistry::from_tools([mail?, file?])?;
    /// let found = registry.search("what is in this file?", 5);
    /// assert_eq!(found[0].tool.definition().name.as_str(), "read_file");
    /// assert!(registry.search("Send-Mail", 5)[0].is_exact);
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// ```
    #[must_use]
    pub fn search(&self, query: &str, top_k: usize) -> Vec<ToolMatch> {
        let default = SearchOptions::default();
        let options = match &self.search {
            Some(search) => &*search.options,
            None => &default,
        };
        self.cache.index(self).find(query, top_k, options)
    }

    /// Returns the search tool `name`, if tool search is on.
    #[cold]
    pub(super) fn search_tool(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        if !SEARCH_TOOLS.contains(&name) {
            return None;
        }
        self.search_tools().iter().find(|tool| tool.definition().name.as_str() == name)
    }

    /// Returns the search tools, sorted by name, if tool search is on.
    pub(super) fn search_tools(&self) -> &[Arc<dyn Tool>] {
        match &self.search {
            Some(search) => (search.tools)(&self.cache, self, &search.options),
            None => &[],
        }
    }

    /// Returns the names of the search tools, without building the tools.
    pub(crate) fn search_names(&self) -> &'static [&'static str] {
        if self.search.is_some() { &SEARCH_TOOLS } else { &[] }
    }

    /// Finds the tool if none has exactly this name: it may be a provider's spelling, or a search tool's
    /// name.
    ///
    /// Returns the tool and its arguments, for `call_deferred` those of the target.
    #[cold]
    pub(super) fn resolve_otherwise<'s, 'a>(
        &'s self,
        name: &str,
        arguments: &'a str,
    ) -> Result<(&'s Arc<dyn Tool>, Cow<'a, str>), ToolError> {
        if let Some(search) = &self.search
            && name == CALL_DEFERRED
        {
            return (search.deferred)(self, &search.options, arguments);
        }
        let tool = self.get(name).ok_or_else(|| self.not_found(name))?;
        Ok((tool, Cow::Borrowed(arguments)))
    }

    fn resolve_deferred<'s>(&'s self, options: &SearchOptions, arguments: &str) -> Resolved<'s> {
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

    /// Returns a problem for each tool with the name of a search tool.
    pub(super) fn reserved_names(&self) -> Vec<BuildProblem> {
        let mut problems = Vec::new();
        for name in self.search_names() {
            if let Some(tool) = self.get_any(name) {
                problems.push(tool.definition().problem(ToolFault::ReservedName));
            }
        }
        problems
    }
}
