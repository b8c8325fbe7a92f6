//! The catalog of searchable tools.

use super::index::Index;
use super::options::SearchOptions;
use super::words::first_sentence;
use super::{DISCOVER_TOOLS, SEARCH_TOOLS};
use crate::definition::{Tool, ToolDefinition};
use crate::error::{ErrorKind, ToolError, nearest, one_of, shorten, shorten_to};
use crate::name::WireNames;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The maximum length, in characters, of a tool's text in the list of deferred tools.
const MAX_LINE: usize = 200;

/// The tools of a registry snapshot, shared by both search tools.
pub(crate) struct Catalog {
    pub(crate) index: Arc<Index>,
    /// The tool names in spellings that every provider accepts.
    pub(crate) names: WireNames,
    pub(crate) options: SearchOptions,
    pub(crate) call_reason: bool,
}

impl Catalog {
    /// Returns the deferred tool `target`. Fails if there is none, or it is not deferred.
    pub(crate) fn deferred(&self, target: &str) -> Result<&Arc<dyn Tool>, ToolError> {
        match self.index.named(self.names.unspell(target)).as_slice() {
            [tool] if tool.definition().metadata.defer => Ok(tool),
            [_] => Err(not_deferred(target)),
            _ if SEARCH_TOOLS.contains(&target) => Err(not_deferred(target)),
            _ => Err(self.not_found(target)),
        }
    }

    fn not_found(&self, target: &str) -> ToolError {
        let names = self.index.tools().map(|tool| self.names.spell(tool.definition().name.as_str()));
        let brief = format!("Tool `{}` not found", shorten(target));
        let message = match nearest(target, names).as_slice() {
            [] => format!("{brief}; find tools with `{DISCOVER_TOOLS}`"),
            names => format!("{brief}; did you mean {}?", one_of(names)),
        };
        ToolError::new(ErrorKind::NotFound, message).with_brief(brief)
    }

    /// Returns the list of deferred tools for the description of `discover_tools`, possibly empty.
    ///
    /// Each has a line with its search hint or first sentence. Beyond the options' limits, the list has the
    /// namespaces instead, with their numbers of tools.
    pub(super) fn list(&self) -> String {
        let deferred: Vec<&ToolDefinition> =
            self.index.tools().map(Tool::definition).filter(|tool| tool.metadata.defer).collect();
        if deferred.is_empty() {
            return String::new();
        }
        let SearchOptions { max_listed, max_list_tokens, .. } = self.options;
        if deferred.len() <= max_listed {
            let lines = fitting(deferred.iter().map(|tool| self.line(tool)), max_list_tokens);
            if lines.len() == deferred.len() {
                return format!("Tools that are not in your list:{}", lines.concat());
            }
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for tool in &deferred {
            *counts.entry(tool.name.namespace().unwrap_or_default()).or_default() += 1;
        }
        let without = counts.remove("").filter(|_| !counts.is_empty());
        let mut list = format!("{} tools are not in your list; find them by what they do", deferred.len());
        if !counts.is_empty() {
            list.push_str(" or by namespace. The namespaces, with the numbers of their tools:");
        }
        let namespaces =
            counts.iter().take(max_listed).map(|(namespace, count)| format!("\n- {namespace}: {count}"));
        let lines = fitting(namespaces, max_list_tokens);
        list.push_str(&lines.concat());
        if let Some(more @ 1..) = counts.len().checked_sub(lines.len()) {
            list.push_str(&format!("\n- and {more} more namespaces"));
        }
        if let Some(without) = without {
            list.push_str(&format!("\n- without a namespace: {without}"));
        }
        list
    }

    fn line(&self, tool: &ToolDefinition) -> String {
        let hint = tool.metadata.search_hint.trim();
        let about = if hint.is_empty() { first_sentence(&tool.description) } else { hint };
        let gap = if about.is_empty() { "" } else { ": " };
        format!("\n- {}{gap}{}", self.names.spell(tool.name.as_str()), shorten_to(about, MAX_LINE))
    }
}

/// Returns as many of the first lines as fit into `limit` tokens.
fn fitting(lines: impl Iterator<Item = String>, limit: usize) -> Vec<String> {
    let mut fitting = Vec::new();
    let mut size = 0_usize;
    for line in lines {
        size = size.saturating_add(tokens(&line));
        if size > limit {
            break;
        }
        fitting.push(line);
    }
    fitting
}

/// Estimates the tokens in `text`: one for four ASCII characters or one other character.
fn tokens(text: &str) -> usize {
    let ascii = text.chars().filter(char::is_ascii).count();
    ascii.div_ceil(4) + (text.chars().count() - ascii)
}

fn not_deferred(target: &str) -> ToolError {
    let message = format!("Tool `{}` is not deferred; call it by its name", shorten(target));
    ToolError::new(ErrorKind::InvalidArguments, message)
}
