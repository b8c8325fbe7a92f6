//! The catalog of searchable tools.

use super::index::Index;
use super::options::SearchOptions;
use super::{DISCOVER_TOOLS, SEARCH_TOOLS};
use crate::error::{ErrorKind, ToolError, nearest, one_of, shorten};
use crate::name::WireNames;
use crate::tool::Tool;
use std::sync::Arc;

/// The tools of one registry snapshot, shared by both search tools.
pub(crate) struct Catalog {
    pub(crate) index: Arc<Index>,
    /// The spellings of the tool names accepted by every provider.
    pub(crate) names: WireNames,
    pub(crate) options: SearchOptions,
    /// Whether the registry asks for the reason of each call.
    pub(crate) call_reason: bool,
}

impl Catalog {
    /// Returns the deferred tool named `target`.
    ///
    /// # Errors
    /// Returns an error if no tool has this name, or if the tool is not deferred.
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

    /// Returns one line for each deferred tool, up to `max_listed` tools. A line has the name and the search
    /// hint or, without a hint, the first sentence of the description.
    pub(super) fn list(&self) -> String {
        let deferred = || self.index.tools().map(Tool::definition).filter(|tool| tool.metadata.defer);
        let mut list = String::new();
        for tool in deferred().take(self.options.max_listed) {
            let hint = tool.metadata.search_hint.trim();
            let about = if hint.is_empty() { first_sentence(&tool.description) } else { hint };
            let gap = if about.is_empty() { "" } else { ": " };
            list.push_str(&format!("\n- {}{gap}{about}", self.names.spell(tool.name.as_str())));
        }
        if let Some(more @ 1..) = deferred().count().checked_sub(self.options.max_listed) {
            list.push_str(&format!("\n- and {more} more"));
        }
        list
    }
}

fn not_deferred(target: &str) -> ToolError {
    let message = format!("Tool `{}` is not deferred; call it by its name", shorten(target));
    ToolError::new(ErrorKind::InvalidArguments, message)
}

/// Returns `text` up to the end of the first sentence or the first line.
fn first_sentence(text: &str) -> &str {
    let line = text.trim().lines().next().unwrap_or_default();
    let ends = line.match_indices(['.', '!', '?', '。', '！', '？']).map(|(at, mark)| at + mark.len());
    // A dot within a word, as in `example.com`, does not end a sentence. A Chinese full stop needs no space
    // after it.
    let is_end = |end: &usize| {
        let (before, after) = line.split_at(*end);
        !before.ends_with(|c: char| c.is_ascii()) || after.starts_with(char::is_whitespace)
    };
    line.get(..ends.into_iter().find(is_end).unwrap_or(line.len())).unwrap_or(line).trim_end()
}

#[cfg(test)]
mod tests {
    use super::first_sentence;

    #[test]
    fn a_sentence_ends_at_a_mark_before_a_blank() {
        let check = |text, expected| assert_eq!(first_sentence(text), expected);
        check("Current weather for a city. Uses an API.", "Current weather for a city.");
        check("  Reads example.com\nand more", "Reads example.com");
        check("读取文件。再写。", "读取文件。");
        check("Why? Because.", "Why?");
        check("", "");
    }
}
