//! Ranking weights and limits.

/// The number of fields: name, first sentence of the description, tags, parameters, search hint, and the
/// rest of the description.
pub(super) const FIELDS: usize = 6;

/// The weight of the rest of a description, relative to its first sentence. The rest often explains
/// conditions in words that many tools have.
const REST_WEIGHT: f64 = 0.4;

settings! {
    /// Ranking weights and limits of a tool search.
    ///
    /// ```
    /// use toolkit_ai::ToolRegistry;
    /// use toolkit_ai::search::{SearchOptions, SearchWeights};
    ///
    /// let weights = SearchWeights::default().with_description(3.0);
    /// let mut registry = ToolRegistry::new();
    /// registry.enable_tool_search(SearchOptions::default().with_weights(weights).with_max_listed(20));
    /// assert!(registry.contains("discover_tools"));
    /// ```
    #[derive(Debug, Clone, PartialEq)]
    pub struct SearchOptions {
        /// The weights of words, by field.
        weights: SearchWeights, with_weights(SearchWeights);
        /// The minimum score, as a fraction of the best; 0.3 by default.
        min_score_ratio: f64 = 0.3, with_min_score_ratio(f64);
        /// The minimum fraction of tools, at least three, that makes a word common; 0.5 by default. A
        /// query's common words are ignored, unless a tool's name contains them or no other word matches.
        max_tools_ratio: f64 = 0.5, with_max_tools_ratio(f64);
        /// The maximum number of tools listed in the description of `discover_tools`; 50 by default. If
        /// more are deferred, it lists the namespaces with their numbers of tools.
        max_listed: usize = 50, with_max_listed(usize);
        /// The maximum size of the list in the description of `discover_tools`, in tokens; 2,000 by
        /// default. Every request contains it. The estimate is one token for four ASCII characters or one
        /// other character. Descriptions over 200 characters are cut.
        max_list_tokens: usize = 2_000, with_max_list_tokens(usize);
    }
}

settings! {
    /// The weights of a tool definition's fields in a tool search. Words in fields with higher weights
    /// count more. A weight of zero ignores the field.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct SearchWeights {
        /// The weight of words in the name; 3 by default.
        name: f64 = 3.0, with_name(f64);
        /// The weight of words in the description's first sentence; 2 by default. The rest has two fifths
        /// of it.
        description: f64 = 2.0, with_description(f64);
        /// The weight of words in the tags; 1.5 by default.
        tags: f64 = 1.5, with_tags(f64);
        /// The weight of words in the names, descriptions and allowed strings of parameters; 0.5 by default.
        parameters: f64 = 0.5, with_parameters(f64);
        /// The weight of words in the [search hint](crate::ToolMetadata::search_hint); 2 by default.
        search_hint: f64 = 2.0, with_search_hint(f64);
    }
}

impl SearchWeights {
    pub(super) fn by_field(&self) -> [f64; FIELDS] {
        let rest = REST_WEIGHT * self.description;
        [self.name, self.description, self.tags, self.parameters, self.search_hint, rest]
    }
}
