//! Ranking weights and limits of a tool search.

/// The places of words in a definition: name, description, tags, parameters, search hint.
pub(super) const FIELDS: usize = 5;

/// Ranking weights and limits of a tool search.
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
    /// The weight of a word by its place.
    pub weights: SearchWeights,
    /// The least score of a match, as a part of the best score; 0.3 by default.
    pub min_score_ratio: f64,
    /// The share of common words: a word in at least this part of the tools is ignored; 0.5 by default. A word in
    /// fewer than three tools is never common.
    pub max_tools_ratio: f64,
    /// The number of deferred tools listed in the descriptions of `discover_tools` and `call_deferred`; 50 by
    /// default. The list costs tokens in every request.
    pub max_listed: usize,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self { weights: SearchWeights::default(), min_score_ratio: 0.3, max_tools_ratio: 0.5, max_listed: 50 }
    }
}

impl SearchOptions {
    /// Sets the weight of a word by its place.
    #[must_use]
    pub fn with_weights(mut self, weights: SearchWeights) -> Self {
        self.weights = weights;
        self
    }

    /// Sets the least score of a match, as a part of the best score.
    #[must_use]
    pub fn with_min_score_ratio(mut self, ratio: f64) -> Self {
        self.min_score_ratio = ratio;
        self
    }

    /// Sets the share of common words.
    #[must_use]
    pub fn with_max_tools_ratio(mut self, ratio: f64) -> Self {
        self.max_tools_ratio = ratio;
        self
    }

    /// Sets the number of deferred tools listed in both descriptions.
    #[must_use]
    pub fn with_max_listed(mut self, tools: usize) -> Self {
        self.max_listed = tools;
        self
    }
}

/// The weight of a word by its place in a definition. Zero ignores a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchWeights {
    /// In the name; 3 by default.
    pub name: f64,
    /// In the description; 2 by default.
    pub description: f64,
    /// In the tags; 1.5 by default.
    pub tags: f64,
    /// In the names, descriptions and allowed texts of parameters; 1 by default.
    pub parameters: f64,
    /// In the [search hint](crate::ToolMetadata::search_hint); 2 by default.
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
