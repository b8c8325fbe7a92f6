//! The search index: the words of all tools, ranked for a query by BM25F.

use super::options::{FIELDS, SearchOptions};
use super::stem::is_stop_word;
use super::words::{each_word, first_sentence, word_key};
use crate::definition::{Tool, ToolDefinition, ToolTag};
use crate::schema::__private::sort_by;
use crate::schema::keyword::subschemas;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

const NAME: usize = 0;
const REST: usize = 5;

/// Term saturation (`k1`) and length normalisation (`b`): usual values of BM25.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;

/// The exponent of the coverage of a query. It is small: a tool with all words of the query precedes tools
/// with one frequent word, but a long query still finds a tool that has few of its words.
const COVERAGE: f64 = 0.25;

/// The maximum number of different words looked up in a query.
const MOST_WORDS: usize = 64;

/// The minimum number of tools with a common word. The ranking ignores common words.
const COMMON_FROM: usize = 3;

/// The maximum nesting depth of indexed parameter schemas.
const DEEPEST: usize = 16;

/// A tool found by a [search](crate::ToolRegistry::search).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolMatch {
    /// The tool that was found.
    pub tool: Arc<dyn Tool>,
    /// The score, comparable only within one search; 1.0 for a match by name.
    pub score: f64,
    /// Whether the query is the tool's name.
    pub is_exact: bool,
}

/// The index of the searchable tools.
///
/// There are no posting lists. A query scans the sorted words of every tool, so a changed tool changes only
/// one entry.
pub(crate) struct Index {
    /// One entry per tool, sorted by name.
    entries: Vec<IndexedTool>,
    /// For each field, the total number of words.
    lengths: [f64; FIELDS],
}

struct IndexedTool {
    tool: Arc<dyn Tool>,
    words: Arc<Words>,
}

struct Words {
    plain_name: String,
    /// The distinct words with their counts in each field, sorted.
    terms: Box<[Term]>,
    lengths: [u32; FIELDS],
}

struct Term {
    word: u64,
    counts: [u8; FIELDS],
}

impl Index {
    /// Builds the index of sorted `tools`. Unchanged tools keep the words of the `earlier` index.
    pub(crate) fn new(tools: &[Arc<dyn Tool>], earlier: Option<&Self>) -> Self {
        let mut entries = Vec::with_capacity(tools.len());
        for tool in tools {
            let words = match earlier.and_then(|earlier| earlier.words(tool)) {
                Some(words) => words.clone(),
                None => Arc::new(Words::from_definition(tool.definition())),
            };
            entries.push(IndexedTool { tool: tool.clone(), words });
        }
        let mut lengths = [0.0; FIELDS];
        for entry in &entries {
            for (all, own) in lengths.iter_mut().zip(entry.words.lengths) {
                *all += f64::from(own);
            }
        }
        Self { entries, lengths }
    }

    /// Returns the words of `tool`; `None` if it was added or replaced later.
    fn words(&self, tool: &Arc<dyn Tool>) -> Option<&Arc<Words>> {
        let entry = self.entry(tool.definition().name.as_str())?;
        if Arc::ptr_eq(&entry.tool, tool) { Some(&entry.words) } else { None }
    }

    fn entry(&self, name: &str) -> Option<&IndexedTool> {
        let at =
            self.entries.binary_search_by(|entry| entry.tool.definition().name.as_str().cmp(name)).ok()?;
        self.entries.get(at)
    }

    pub(super) fn tools(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.entries.iter().map(|entry| &entry.tool)
    }

    /// Returns the tool named exactly `name`, or else all whose names differ only in letter case or
    /// separators.
    pub(super) fn named(&self, name: &str) -> Vec<&Arc<dyn Tool>> {
        if let Some(entry) = self.entry(name) {
            return vec![&entry.tool];
        }
        let plain = plain_name(name);
        let mut tools = Vec::new();
        for entry in &self.entries {
            if entry.words.plain_name == plain {
                tools.push(&entry.tool);
            }
        }
        tools
    }

    /// Returns at most `top_k` tools: those named `query`, or else the best matches for its words.
    pub(crate) fn find(&self, query: &str, top_k: usize, options: &SearchOptions) -> Vec<ToolMatch> {
        let named = self.named(query);
        let is_exact = !named.is_empty();
        let ranked = if is_exact {
            named.into_iter().map(|tool| (1.0, tool)).collect()
        } else {
            self.rank(query, options)
        };
        let mut matches = Vec::with_capacity(ranked.len().min(top_k));
        for (score, tool) in ranked.into_iter().take(top_k) {
            matches.push(ToolMatch { tool: tool.clone(), score, is_exact });
        }
        matches
    }

    /// Returns the tools with words of `query` and their scores, best first.
    ///
    /// Only the first 64 words count, without stop words unless there are no others. A common word counts
    /// only if a tool's name contains it or the query matches no other word.
    fn rank(&self, query: &str, options: &SearchOptions) -> Vec<(f64, &Arc<dyn Tool>)> {
        let mut query = wanted(query);
        let mut hits: Vec<(usize, usize, &Term)> = Vec::new();
        for (at, entry) in self.entries.iter().enumerate() {
            for (position, wanted) in query.iter_mut().enumerate() {
                let Some(term) = entry.words.term(wanted.word) else { continue };
                wanted.tools += 1;
                wanted.is_name |= term.counts[NAME] > 0;
                hits.push((at, position, term));
            }
        }
        let many = options.max_tools_ratio * self.count();
        let is_common =
            |wanted: &Wanted| wanted.tools >= COMMON_FROM && wanted.tools as f64 >= many && !wanted.is_name;
        let has_rare = query.iter().any(|wanted| wanted.tools > 0 && !is_common(wanted));
        for wanted in &mut query {
            let left_out = wanted.tools == 0 || (has_rare && is_common(wanted));
            wanted.weight = if left_out { 0.0 } else { rarity(wanted.tools as f64, self.count()) };
        }
        let whole: f64 = query.iter().map(|wanted| wanted.weight).sum();
        let mut ranked = Vec::new();
        for hits in hits.chunk_by(|(a, ..), (b, ..)| a == b) {
            let Some(entry) = hits.first().and_then(|(at, ..)| self.entries.get(*at)) else { continue };
            let mut score = 0.0;
            let mut covered = 0.0;
            for (_, position, term) in hits {
                let often = self.frequency(term, &entry.words, options);
                let weight = query.get(*position).map_or(0.0, |wanted| wanted.weight);
                score += weight * often * (SATURATION + 1.0) / (often + SATURATION);
                covered += weight;
            }
            if score > 0.0 {
                ranked.push((score * (covered / whole).powf(COVERAGE), &entry.tool));
            }
        }
        // The sort is stable: equal scores stay sorted by name.
        sort_by(&mut ranked, |(a, _), (b, _)| b.total_cmp(a));
        let least = ranked.first().map_or(0.0, |(best, _)| best * options.min_score_ratio);
        ranked.retain(|(score, _)| *score >= least);
        ranked
    }

    fn count(&self) -> f64 {
        self.entries.len() as f64
    }

    /// Returns the frequency of `term` in a tool. Each field's count is weighted, and normalised by the
    /// field's length.
    fn frequency(&self, term: &Term, words: &Words, options: &SearchOptions) -> f64 {
        let weights = options.weights.by_field();
        let mut frequency = 0.0;
        for (field, count) in term.counts.iter().enumerate() {
            if *count == 0 {
                continue;
            }
            let usual = self.lengths[field] / self.count();
            let length = f64::from(words.lengths[field]) / usual.max(f64::MIN_POSITIVE);
            frequency += weights[field] * f64::from(*count) / (1.0 - LENGTH + LENGTH * length);
        }
        frequency
    }
}

#[derive(Default)]
struct Wanted {
    word: u64,
    /// The number of tools with the word.
    tools: usize,
    /// Whether a tool's name contains the word.
    is_name: bool,
    weight: f64,
}

/// Returns the different words of `query`, without stop words unless there are no others.
fn wanted(query: &str) -> Vec<Wanted> {
    let mut words = QueryWords::default();
    each_word(query, &mut |text| words.add(text));
    if words.others.is_empty() { words.stop_words } else { words.others }
}

#[derive(Default)]
struct QueryWords {
    stop_words: Vec<Wanted>,
    others: Vec<Wanted>,
    seen: HashSet<u64>,
}

impl QueryWords {
    fn add(&mut self, text: &str) {
        let words = if is_stop_word(text) { &mut self.stop_words } else { &mut self.others };
        let word = word_key(text);
        if words.len() < MOST_WORDS && self.seen.insert(word) {
            words.push(Wanted { word, ..Wanted::default() });
        }
    }
}

/// Returns the inverse document frequency of a word in `tools` of `all` tools.
fn rarity(tools: f64, all: f64) -> f64 {
    (1.0 + (all - tools + 0.5) / (tools + 0.5)).ln()
}

/// Returns `name` in lowercase with `_` as separator, to compare `getFile` and `get-file`.
fn plain_name(name: &str) -> String {
    name.trim().replace(['/', '-', '.'], "_").to_lowercase()
}

impl Words {
    fn from_definition(definition: &ToolDefinition) -> Self {
        let ToolDefinition { name, description, parameters, metadata, .. } = definition;
        let mut reader = Reader::default();
        reader.read(NAME, name.as_str());
        let first = first_sentence(description);
        reader.read(1, first);
        reader.read(REST, description.trim_start().get(first.len()..).unwrap_or_default());
        for tag in metadata.tags.iter() {
            reader.read(2, ToolTag::as_str(tag));
        }
        reader.read_parameters(parameters, DEEPEST);
        reader.read(4, &metadata.search_hint);
        let terms = reader.counts.into_iter().map(|(word, counts)| Term { word, counts });
        Self { plain_name: plain_name(name.as_str()), terms: terms.collect(), lengths: reader.lengths }
    }

    fn term(&self, word: u64) -> Option<&Term> {
        self.terms.get(self.terms.binary_search_by_key(&word, |term| term.word).ok()?)
    }
}

#[derive(Default)]
struct Reader {
    counts: BTreeMap<u64, [u8; FIELDS]>,
    lengths: [u32; FIELDS],
}

impl Reader {
    fn read(&mut self, field: usize, text: &str) {
        each_word(text, &mut |word| self.count(field, word));
    }

    fn count(&mut self, field: usize, word: &str) {
        let count = &mut self.counts.entry(word_key(word)).or_default()[field];
        *count = count.saturating_add(1);
        self.lengths[field] = self.lengths[field].saturating_add(1);
    }

    /// Counts the words in names, descriptions and allowed strings of parameters, `deepest` levels down.
    fn read_parameters(&mut self, schema: &Value, deepest: usize) {
        let (Value::Object(keywords), Some(deepest)) = (schema, deepest.checked_sub(1)) else { return };
        for keyword in ["enum", "const"] {
            let Some(value) = keywords.get(keyword) else { continue };
            let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            for text in values.iter().filter_map(Value::as_str) {
                self.read(3, text);
            }
        }
        for inside in subschemas(schema) {
            if let ("properties", Some(name)) = (inside.keyword, &inside.key) {
                self.read(3, name);
                if let Some(description) = inside.schema.get("description").and_then(Value::as_str) {
                    self.read(3, description);
                }
            }
            self.read_parameters(inside.schema, deepest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::{ToolFuture, ToolMetadata};
    use crate::name::ToolName;
    use crate::{ToolContext, ToolOutput};
    use serde_json::json;

    struct Described(ToolDefinition);

    impl Tool for Described {
        fn definition(&self) -> &ToolDefinition {
            &self.0
        }

        fn call<'a>(&'a self, _: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
            ToolFuture::ready(Ok(ToolOutput::text("")))
        }
    }

    fn tool(name: &str, change: impl FnOnce(&mut ToolDefinition)) -> Arc<dyn Tool> {
        let mut definition = ToolDefinition::new(ToolName::new(name).unwrap(), "", json!({"type": "object"}));
        change(&mut definition);
        Arc::new(Described(definition))
    }

    fn found(tools: &[Arc<dyn Tool>], query: &str) -> Vec<String> {
        let index = Index::new(tools, None);
        let ranked = index.rank(query, &SearchOptions::default().with_min_score_ratio(0.0));
        ranked.into_iter().map(|(_, tool)| tool.definition().name.to_string()).collect()
    }

    #[test]
    fn matches_are_ranked_by_field_weights() {
        let metadata = ToolMetadata::default();
        let tools = [
            tool("a", |tool| tool.description = "crab".to_owned()),
            tool("b", |tool| tool.metadata = metadata.clone().with_tags(["crab"])),
            tool("c", |tool| tool.parameters = json!({"properties": {"crab": {"type": "string"}}})),
            tool("crab", |_| {}),
            tool("e", |tool| tool.metadata = metadata.clone().with_search_hint("crab")),
            tool("f", |tool| tool.description = "lobster".to_owned()),
        ];
        // The word is in different fields of similar length, so the weights decide.
        let order = found(&tools, "crabs");
        assert_eq!(order.len(), 5);
        let place = |name: &str| order.iter().position(|found| found == name).unwrap();
        assert!(place("b") < place("c"), "{order:?}: tags count more than parameters");
        assert!(place("e") < place("b"), "{order:?}: a search hint counts more than tags");
    }

    #[test]
    fn nested_parameters_are_indexed_and_defaults_are_not() {
        let schema = json!({"properties": {"a": {
            "default": "mussel",
            "anyOf": [{"$ref": "#/$defs/b"}, {"items": {"properties": {"oyster": {"description": "a clam"}}}}],
        }}, "$defs": {"b": {"enum": ["shrimp", 1]}}});
        let tools = [tool("a", |tool| tool.parameters = schema), tool("b", |_| {})];
        for word in ["oyster", "clam", "shrimp"] {
            assert_eq!(found(&tools, word), ["a"], "{word}");
        }
        assert!(found(&tools, "mussel").is_empty());
    }

    #[test]
    fn only_changed_tools_are_indexed_again() {
        let tools: Vec<Arc<dyn Tool>> = (0..100).map(|n| tool(&format!("t{n:03}"), |_| {})).collect();
        let before = Index::new(&tools, None);
        let mut changed = tools;
        changed[50] = tool("t050", |tool| tool.description = "another".to_owned());
        changed.push(tool("t100", |_| {}));
        changed.remove(10);
        let after = Index::new(&changed, Some(&before));
        let is_new =
            |entry: &&IndexedTool| !before.entries.iter().any(|old| Arc::ptr_eq(&old.words, &entry.words));
        let read: Vec<&str> =
            after.entries.iter().filter(is_new).map(|entry| entry.tool.definition().name.as_str()).collect();
        assert_eq!(read, ["t050", "t100"]);
    }
}
