//! How a search ranks, and how much it shows.

use super::index::FIELDS;

/// How a tool search ranks tools, and how much it shows.
///
/// ```
/// use toolkit::ToolRegistry;
/// use toolkit::search::{SearchOptions, SearchWeights};
///
/// let weights = SearchWeights { description: 3.0, ..SearchWeights::default() };
/// let mut registry = ToolRegistry::new();
/// registry.enable_tool_search(SearchOptions::default().with_weights(weights).with_max_listed(20));
/// assert!(registry.contains("discover_tools"));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SearchOptions {
    /// How much a word counts, by where it stands.
    pub weights: SearchWeights,
    /// The part of the best score that a tool must have to be found; 0.3 if nothing else is said.
    pub min_score_ratio: f64,
    /// A word of the query that at least this part of the tools has, and at least three, says nothing; 0.5 if
    /// nothing else is said.
    pub max_tools_ratio: f64,
    /// How many deferred tools the descriptions of `discover_tools` and `call_deferred` list; 50 if nothing else is
    /// said. They cost tokens in every request.
    pub max_listed: usize,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self { weights: SearchWeights::default(), min_score_ratio: 0.3, max_tools_ratio: 0.5, max_listed: 50 }
    }
}

impl SearchOptions {
    /// Sets how much a word counts, by where it stands.
    #[must_use]
    pub fn with_weights(mut self, weights: SearchWeights) -> Self {
        self.weights = weights;
        self
    }

    /// Sets the part of the best score that a tool must have to be found.
    #[must_use]
    pub fn with_min_score_ratio(mut self, ratio: f64) -> Self {
        self.min_score_ratio = ratio;
        self
    }

    /// Sets which part of the tools must have a word for it to say nothing.
    #[must_use]
    pub fn with_max_tools_ratio(mut self, ratio: f64) -> Self {
        self.max_tools_ratio = ratio;
        self
    }

    /// Sets how many deferred tools the two descriptions list.
    #[must_use]
    pub fn with_max_listed(mut self, tools: usize) -> Self {
        self.max_listed = tools;
        self
    }
}

/// How much a word counts, by where it stands in a tool's definition. Zero leaves a place out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchWeights {
    /// In the name; 3 if nothing else is said.
    pub name: f64,
    /// In the description; 2.
    pub description: f64,
    /// In the tags; 1.5.
    pub tags: f64,
    /// In the names, descriptions and allowed texts of parameters; 1.
    pub parameters: f64,
    /// In the [search hint](crate::ToolMetadata::search_hint); 2.
    pub search_hint: f64,
}

impl Default for SearchWeights {
    fn default() -> Self {
        Self { name: 3.0, description: 2.0, tags: 1.5, parameters: 1.0, search_hint: 2.0 }
    }
}

impl SearchWeights {
    pub(super) fn by_field(&self) -> [f64; FIELDS] {
        [self.name, self.description, self.tags, self.parameters, self.search_hint]
    }
}
