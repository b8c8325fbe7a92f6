//! Entries of a parameter list, such as `name (type): text`.

use crate::name::Name;
use crate::prose::{strip_colon, strip_parenthesis};
use crate::type_spec::TypeSpec;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item<'a> {
    /// The names before the colon, usually one.
    pub(crate) names: Vec<&'a str>,
    /// From parentheses after the names or from `` `name: type` ``.
    pub(crate) spec: TypeSpec,
    /// The text after the colon or dash.
    pub(crate) text: &'a str,
    pub(crate) bulleted: bool,
    /// The number of lines up to the end of the type.
    pub(crate) height: usize,
}

impl<'a> Item<'a> {
    /// Parses `name: text`, `name (type): text` or `name - text`, with or without a bullet.
    ///
    /// After a bullet, a name alone is an entry, too.
    pub(crate) fn parse(line: &'a str) -> Option<Self> {
        let unbulleted = strip_bullet(line);
        let bulleted = unbulleted.is_some();
        let (names, last) = Name::list(unbulleted.unwrap_or(line))?;
        let (spec, rest) = match strip_parenthesis(last.rest.trim_start()) {
            Some((inner, rest)) => (TypeSpec::parse(inner), rest),
            None => (last.ty.map(TypeSpec::parse).unwrap_or_default(), last.rest),
        };
        let text = match strip_separator(rest, last.open) {
            Some(text) => text,
            None if bulleted && (last.marked || rest.is_empty()) => rest,
            None => return None,
        };
        Some(Self { names, spec, text: text.trim(), bulleted, height: 1 })
    }

    /// Returns whether a name begins with an uppercase letter, so the line may be a sentence.
    pub(crate) fn is_capitalised(&self) -> bool {
        self.names.iter().any(|name| name.starts_with(char::is_uppercase))
    }
}

/// Removes a list marker: `*`, `-`, `+`, `•`, `1.` or `1)`.
fn strip_bullet(line: &str) -> Option<&str> {
    let without_digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = if without_digits.len() < line.len() {
        without_digits.strip_prefix(['.', ')'])?
    } else {
        line.strip_prefix(['*', '-', '+', '•'])?
    };
    if rest.starts_with(char::is_whitespace) { Some(rest.trim_start()) } else { None }
}

fn strip_separator<'a>(rest: &'a str, open_marks: &str) -> Option<&'a str> {
    let trimmed = rest.trim_start();
    if let Some(text) = strip_colon(trimmed) {
        return Some(text.strip_prefix(open_marks).unwrap_or(text));
    }
    if let Some(text) = trimmed.strip_prefix(['–', '—']) {
        return Some(text);
    }
    let text = trimmed.trim_start_matches('-');
    let dashes = trimmed.len() - text.len();
    let spaced =
        rest.starts_with(char::is_whitespace) && (text.is_empty() || text.starts_with(char::is_whitespace));
    if (1..=3).contains(&dashes) && spaced { Some(text) } else { None }
}

#[cfg(test)]
mod tests {
    use super::Item;

    fn check(line: &str, names: &[&str], ty: Option<&str>, text: &str) {
        let item = Item::parse(line);
        let found = item.as_ref().map(|item| (item.names.as_slice(), item.spec.ty.as_deref(), item.text));
        assert_eq!(found, Some((names, ty, text)), "{line:?}");
    }

    #[test]
    fn names_are_separated_from_text_by_a_colon_or_a_dash() {
        check("query: The query", &["query"], None, "The query");
        check("query : The query", &["query"], None, "The query");
        check("query:The query", &["query"], None, "The query");
        check("query:", &["query"], None, "");
        check("query：查询", &["query"], None, "查询");
        check("query (str): Q", &["query"], Some("str"), "Q");
        check("query(str): Q", &["query"], Some("str"), "Q");
        check("query (dict[str, int], optional): Q", &["query"], Some("dict[str, int]"), "Q");
        check("query（str）：Q", &["query"], Some("str"), "Q");
        check("`query` (str): Q", &["query"], Some("str"), "Q");
        check("**kwargs: K", &["kwargs"], None, "K");
        check("x, y (int): Both", &["x", "y"], Some("int"), "Both");
        check("query - The query", &["query"], None, "The query");
        check("query: a: b", &["query"], None, "a: b");
        check("query - ", &["query"], None, "");
    }

    #[test]
    fn bullets_allow_any_separator() {
        check("* `x` - d", &["x"], None, "d");
        check("- `x`: d", &["x"], None, "d");
        check("+ x – d", &["x"], None, "d");
        check("* x — d", &["x"], None, "d");
        check("* x -- d", &["x"], None, "d");
        check("* `x` (u8) - d", &["x"], Some("u8"), "d");
        check("* `x: u8` - d", &["x"], Some("u8"), "d");
        check("- **x**: d", &["x"], None, "d");
        check("- **x:** d", &["x"], None, "d");
        check("* `x` d", &["x"], None, "d");
        check("* `x`", &["x"], None, "");
        check("- x", &["x"], None, "");
        check("1. `x` - d", &["x"], None, "d");
        check("* *args: d", &["args"], None, "d");
        check("- max-results - d", &["max-results"], None, "d");
    }

    #[test]
    fn other_lines_are_no_entries() {
        for line in [
            "",
            "query",
            "the query: d",
            "https://x.y",
            "std::io: d",
            "`x` d",
            "- a b",
            "-",
            "well-known thing - d",
            "x-d",
            "(x): d",
            "9: d",
            "x (int",
            "`a b`: c",
            "x -y",
            "x, 9: d",
        ] {
            assert_eq!(Item::parse(line), None, "{line:?}");
        }
    }
}
