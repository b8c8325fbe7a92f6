//! The two tools through which a model finds and calls deferred tools.

use super::deferred::{DeferredCall, TARGET};
use super::index::Index;
use super::options::SearchOptions;
use super::{CALL_DEFERRED, DISCOVER_TOOLS, find};
use crate::args::{Rules, Shape, decode_whole, whole};
use crate::context::ToolContext;
use crate::error::{ToolError, Violation, ViolationKind};
use crate::name::{Separator, ToolName, WireNames};
use crate::output::ToolOutput;
use crate::tool::{Tool, ToolDefinition, ToolFuture, ToolMetadata};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// How many tools the model gets if it does not say.
const TOP_K: i64 = 10;

/// What both tools know: the tools of one snapshot of a registry.
pub(in crate::registry) struct Catalog {
    pub(super) index: Arc<Index>,
    /// The names as every provider accepts them.
    pub(super) names: WireNames,
    options: SearchOptions,
    call_reason: bool,
}

impl Catalog {
    pub(in crate::registry) fn new(
        index: Arc<Index>,
        names: WireNames,
        options: SearchOptions,
        call_reason: bool,
    ) -> Self {
        Self { index, names, options, call_reason }
    }

    /// Both tools, in the order of their names.
    pub(in crate::registry) fn tools(self: Arc<Self>) -> [Arc<dyn Tool>; 2] {
        let list = self.list();
        [Arc::new(CallDeferred::new(self.clone(), &list)), Arc::new(DiscoverTools::new(self, &list))]
    }

    /// The deferred tools, a line for each, with what they are for.
    fn list(&self) -> String {
        let deferred = || self.index.tools().map(Tool::definition).filter(|tool| tool.metadata.defer);
        let mut list = String::new();
        for tool in deferred().take(self.options.max_listed) {
            let name = self.names.spell(tool.name.as_str());
            let hint = tool.metadata.search_hint.trim();
            let about = if hint.is_empty() { first_sentence(&tool.description) } else { hint };
            list.push_str("\n- ");
            list.push_str(name);
            if !about.is_empty() {
                list.push_str(": ");
                list.push_str(about);
            }
        }
        if let Some(more @ 1..) = deferred().count().checked_sub(self.options.max_listed) {
            list.push_str(&format!("\n- and {more} more"));
        }
        list
    }
}

/// The text up to the end of its first sentence or line.
fn first_sentence(text: &str) -> &str {
    let line = text.trim().lines().next().unwrap_or_default();
    let ends = line.match_indices(['.', '!', '?', '。', '！', '？']).map(|(at, mark)| at + mark.len());
    // A dot within a word, as in `example.com`, ends no sentence; in Chinese no blank follows.
    let is_end = |end: &usize| {
        let (before, after) = line.split_at(*end);
        !before.ends_with(|c: char| c.is_ascii()) || after.starts_with(char::is_whitespace)
    };
    line.get(..ends.into_iter().find(is_end).unwrap_or(line.len())).unwrap_or(line).trim_end()
}

fn described(about: &str, title: &str, list: &str) -> String {
    if list.is_empty() { about.to_owned() } else { format!("{about}\n\n{title}{list}") }
}

fn definition(name: &str, description: String, parameters: Value) -> ToolDefinition {
    ToolDefinition::new(ToolName::unchecked(None, name, Separator::default()), description, parameters)
}

/// Finds tools by their names or by what they are for.
struct DiscoverTools {
    definition: ToolDefinition,
    shape: Shape,
    catalog: Arc<Catalog>,
}

/// What the model wants to find.
#[derive(Deserialize, JsonSchema)]
struct Discover {
    query: String,
    #[serde(default = "top_k")]
    top_k: i64,
}

fn top_k() -> i64 {
    TOP_K
}

/// A tool as the model reads it.
#[derive(Serialize)]
struct Found<'a> {
    name: &'a str,
    description: &'a str,
    score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'a str>,
    deferred: bool,
    /// Only where the model does not have it already, or has asked for this very tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<Value>,
}

impl DiscoverTools {
    fn new(catalog: Arc<Catalog>, list: &str) -> Self {
        let about = "Finds tools, also those that are not in your list. The exact name of a tool gives its full \
                     schema; other words are looked for in names, descriptions, tags, parameters and hints.";
        let description = described(about, "Tools that are not in your list:", list);
        let parameters = json!({
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "The name of a tool, or words that say what you need to do",
                    "minLength": 1,
                    "pattern": r"\S",
                },
                "top_k": {
                    "type": "integer",
                    "description": "How many tools you want at most",
                    "minimum": 1,
                    "default": TOP_K,
                },
            },
            "required": ["query"],
            "additionalProperties": false,
        });
        let metadata =
            ToolMetadata::default().with_read_only(true).with_idempotent(true).with_open_world(false);
        let definition = definition(DISCOVER_TOOLS, description, parameters).with_metadata(metadata);
        let (_, shape) = whole::<Discover>();
        Self { definition, shape, catalog }
    }

    /// The query, and how many tools are wanted. The constraints are looked at here, to say more about them.
    fn read(&self, arguments: &str) -> Result<(String, usize), ToolError> {
        let schema = &self.definition.parameters;
        let rules = Rules { schema, demanding: &[], refuse_unknown: true, coerce: true, context: None };
        let Discover { query, top_k } = decode_whole(arguments, &self.shape, &rules)?;
        let refused = |path: &str, message: String| {
            Err(ToolError::invalid_arguments(vec![Violation::new(path, ViolationKind::Constraint, message)]))
        };
        if query.trim().is_empty() {
            return refused("query", "empty query — pass a capability keyword, e.g. 'web search'".to_owned());
        }
        match usize::try_from(top_k) {
            Ok(wanted @ 1..) => Ok((query, wanted)),
            _ => refused("top_k", format!("top_k must be >= 1, got {top_k}")),
        }
    }

    fn answer(&self, arguments: &str) -> Result<ToolOutput, ToolError> {
        let (query, top_k) = self.read(arguments)?;
        let Catalog { index, options, names, call_reason } = &*self.catalog;
        let found = find(index, names.unspell(&query), top_k, options);
        let found: Vec<Found<'_>> = found
            .iter()
            .map(|found| {
                let definition = found.tool.definition();
                let deferred = definition.metadata.defer;
                let schema = || definition.published(*call_reason).into_owned().parameters;
                Found {
                    name: names.spell(definition.name.as_str()),
                    description: &definition.description,
                    score: (found.score * 100.0).round() / 100.0,
                    namespace: definition.name.namespace(),
                    deferred,
                    parameters: (deferred || found.is_exact).then(schema),
                }
            })
            .collect();
        ToolOutput::json(&found).map_err(ToolError::invalid_output)
    }
}

impl Tool for DiscoverTools {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(&'a self, arguments: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready(self.answer(arguments))
    }
}

/// Calls a deferred tool. Registry and dispatcher do not run it: they run the tool that it names.
struct CallDeferred {
    definition: ToolDefinition,
    catalog: Arc<Catalog>,
}

impl CallDeferred {
    fn new(catalog: Arc<Catalog>, list: &str) -> Self {
        let about = format!(
            "Calls a tool that is not in your list. Find it with {DISCOVER_TOOLS} first; then give its name as \
             {TARGET} and its own arguments beside that, as in {{\"{TARGET}\": \"search\", \"query\": \"crabs\"}}."
        );
        let parameters = json!({
            "type": "object",
            "properties": {TARGET: {"type": "string", "description": "The name of the tool"}},
            "required": [TARGET],
            "additionalProperties": true,
        });
        let description = described(&about, "Tools that can be called so:", list);
        Self { definition: definition(CALL_DEFERRED, description, parameters), catalog }
    }
}

impl Tool for CallDeferred {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        let run = async move {
            let call = DeferredCall::read(arguments)?;
            let tool = self.catalog.deferred(&call.target)?;
            // Whoever calls the tool itself has taken out of the arguments what is not the tool's.
            let arguments = call.arguments_for(&**tool, false);
            tool.call(&arguments, context).await
        };
        ToolFuture::running(run, |outcome| outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::first_sentence;

    #[test]
    fn a_sentence_ends_where_a_blank_follows_its_mark() {
        let check = |text, expected| assert_eq!(first_sentence(text), expected);
        check("Current weather for a city. Uses an API.", "Current weather for a city.");
        check("  Reads example.com\nand more", "Reads example.com");
        check("读取文件。再写。", "读取文件。");
        check("Why? Because.", "Why?");
        check("", "");
    }
}
