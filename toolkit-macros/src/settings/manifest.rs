//! Reads the strings, numbers and flags in a `Cargo.toml`.
//!
//! Reading stops at the first syntax error, because Cargo itself reports the error.

use super::PACKAGE;

/// A value in a manifest, and the keys that lead to it, such as `dependencies`, `toolkit`, `package`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    path: Vec<String>,
    /// The content of a string, or the text of a number or flag.
    pub(super) value: String,
}

impl Entry {
    /// Returns the keys that follow `table` if the entry is in this table, otherwise `None`.
    pub(super) fn below(&self, table: &[&str]) -> Option<&[String]> {
        let (first, rest) = self.path.split_at_checked(table.len())?;
        (first == table).then_some(rest)
    }

    pub(super) fn is_below(&self, table: &[&str]) -> bool {
        self.below(table).is_some()
    }

    /// Returns the last key of the entry.
    pub(super) fn key(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }

    /// If the entry describes a dependency, returns the name of the dependency table and the name of the dependency.
    pub(super) fn dependency(&self) -> Option<(&str, &str)> {
        match self.path.as_slice() {
            [.., table, name, _] | [.., table, name] if table.ends_with("dependencies") => {
                Some((table, name))
            }
            _ => None,
        }
    }

    /// Returns the name of the dependency if the entry shows that it is the package `toolkit-ai`.
    pub(super) fn names_facade(&self) -> Option<&str> {
        let (_, name) = self.dependency()?;
        (name == PACKAGE || self.key() == "package" && self.value == PACKAGE).then_some(name)
    }
}

/// Returns the strings, numbers and flags of a manifest, in their order in `text`.
pub(super) fn entries(text: &str) -> Vec<Entry> {
    let mut reader = Reader { rest: text, entries: Vec::new() };
    let _ = reader.document();
    reader.entries
}

struct Reader<'a> {
    rest: &'a str,
    entries: Vec<Entry>,
}

impl Reader<'_> {
    fn document(&mut self) -> Option<()> {
        let mut table = Vec::new();
        loop {
            self.skip();
            if self.eat("[") {
                let is_list = self.eat("[");
                table = self.keys()?;
                if !self.eat("]") || is_list && !self.eat("]") {
                    return None;
                }
            } else {
                self.pair(&table)?;
            }
        }
    }

    fn pair(&mut self, table: &[String]) -> Option<()> {
        let path = [table, &self.keys()?].concat();
        if self.eat("=") { self.value(path) } else { None }
    }

    /// Reads keys separated by dots, such as `a.b."c"`.
    fn keys(&mut self) -> Option<Vec<String>> {
        let mut keys = vec![self.plain(&[])?];
        while self.eat(".") {
            keys.push(self.plain(&[])?);
        }
        Some(keys)
    }

    fn value(&mut self, path: Vec<String>) -> Option<()> {
        if self.eat("[") {
            while !self.eat("]") {
                self.value(Vec::new())?;
                self.eat(",");
            }
        } else if self.eat("{") {
            while !self.eat("}") {
                self.pair(&path)?;
                self.eat(",");
            }
        } else {
            let value = self.plain(&['.', ':', '+'])?;
            self.entries.push(Entry { path, value });
        }
        Some(())
    }

    /// Reads a string, or a word of letters, digits, `_`, `-` and `punctuation`.
    fn plain(&mut self, punctuation: &[char]) -> Option<String> {
        self.skip();
        for (quote, has_escapes) in [("\"\"\"", true), ("'''", false), ("\"", true), ("'", false)] {
            let Some(text) = self.rest.strip_prefix(quote) else { continue };
            let is_escaped = |end: usize| {
                let before = text.get(..end).unwrap_or_default();
                has_escapes && (before.len() - before.trim_end_matches('\\').len()) % 2 == 1
            };
            let (end, _) = text.match_indices(quote).find(|(end, _)| !is_escaped(*end))?;
            self.rest = text.get(end + quote.len()..)?;
            return text.get(..end).map(str::to_owned);
        }
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-') || punctuation.contains(&c);
        let (word, rest) = self.rest.split_at(self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len()));
        self.rest = rest;
        (!word.is_empty()).then(|| word.to_owned())
    }

    fn eat(&mut self, token: &str) -> bool {
        self.skip();
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Skips whitespace and comments.
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
        while let Some(comment) = self.rest.strip_prefix('#') {
            self.rest = comment.split_once('\n').map_or("", |(_, rest)| rest).trim_start();
        }
    }
}
