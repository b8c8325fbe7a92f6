//! Ranking weights and limits of a tool search.

/// The number of indexed fields: name, first sentence of the description, tags, parameters, search hint, and the rest of
/// the description.
pub(super) const FIELDS: usize = 6;

/// The weight of the rest of a description, as a fraction of the weight of its first sentence. Long descriptions explain
/// conditions and permissions in words that many tools have.
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
        /// The weights of words, by the field of the tool definition.
        weights: SearchWeights, with_weights(SearchWeights);
        /// The minimum score of a match, as a fraction of the best score; 0.3 by default.
        min_score_ratio: f64 = 0.3, with_min_score_ratio(f64);
        /// A word is common if at least this fraction of the tools contains the word; 0.5 by default, meaning
        /// at least every second tool. Common words in a query are ignored, unless the name of a tool
        /// contains the word or the query matches no other word. A word in fewer than three tools is never
        /// common.
        max_tools_ratio: f64 = 0.5, with_max_tools_ratio(f64);
        /// The maximum number of deferred tools listed in the description of `discover_tools`; 50 by default.
        /// If there are more, the description lists the namespaces instead, each with its number of tools.
        max_listed: usize = 50, with_max_listed(usize);
        /// The maximum size of the list in the description of `discover_tools`, in tokens; 2,000 by default.
        /// Every request contains the list. The size is estimated: one token for four ASCII characters, and
        /// one for each other character. Descriptions of more than 200 characters are cut.
        max_list_tokens: usize = 2_000, with_max_list_tokens(usize);
    }
}

settings! {
    /// The weights of the fields of a tool definition in a tool search. A word found in a field with a higher
    /// weight counts more. A field with weight zero is ignored.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct SearchWeights {
        /// The weight of words in the name; 3 by default.
        name: f64 = 3.0, with_name(f64);
        /// The weight of words in the first sentence of the description; 2 by default. Words in the rest of the description
        /// have two fifths of this weight.
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
