//! Section titles in the styles of Google, NumPy and Markdown.

use crate::lines::Line;
use crate::prose::is_colon;

const MAX_NUMPY_WORDS: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Parameters, one entry each.
    Params,
    Returns,
    /// Errors, one entry each.
    Raises,
    /// Anything else, which stays in the description.
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// `Args:` above indented entries.
    Google,
    /// `Parameters` above a line of dashes or equals signs.
    Numpy,
    /// A heading such as `# Arguments`.
    Markdown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Title {
    pub(crate) kind: Kind,
    pub(crate) style: Style,
    /// Whether the title is `Required` or `Optional`, which only groups parameters.
    is_group: bool,
}

impl Title {
    /// Parses `line` as a title, perhaps underlined by the line `below`.
    pub(crate) fn parse(line: &Line, below: Option<&Line>) -> Option<Self> {
        if let Some(title) = Self::markdown(&line.text) {
            return Some(title);
        }
        if let Some(below) = below
            && let Some(title) = Self::numpy(&line.text, &below.text)
        {
            return Some(title);
        }
        Self::google(&line.text)
    }

    /// Returns the meaning outside of a parameter section, where `Required:` and `Optional:` are no
    /// titles.
    pub(crate) fn outside_of_params(self) -> Option<Self> {
        match (self.is_group, self.style) {
            (false, _) => Some(self),
            (true, Style::Google) => None,
            (true, style) => Some(Self::other(style)),
        }
    }

    /// Returns the number of lines, with the underline.
    pub(crate) fn height(self) -> usize {
        match self.style {
            Style::Numpy => 2,
            Style::Google | Style::Markdown => 1,
        }
    }

    fn markdown(text: &str) -> Option<Self> {
        let style = Style::Markdown;
        heading_level(text)?;
        Some(Self::known(text.trim_matches('#'), style).unwrap_or(Self::other(style)))
    }

    fn numpy(text: &str, below: &str) -> Option<Self> {
        let is_title = is_underline(below)
            && text.starts_with(char::is_alphabetic)
            && !text.trim_end_matches(is_colon).contains(is_colon)
            && text.split_whitespace().count() <= MAX_NUMPY_WORDS;
        if !is_title {
            return None;
        }
        Some(Self::known(text, Style::Numpy).unwrap_or(Self::other(Style::Numpy)))
    }

    fn google(text: &str) -> Option<Self> {
        let is_emphasised = text.starts_with("**") && text.trim_end_matches(is_colon).ends_with("**");
        let is_title = is_emphasised || text.ends_with(is_colon) && !text.starts_with('*');
        if is_title { Self::known(text, Style::Google) } else { None }
    }

    fn other(style: Style) -> Self {
        Self { kind: Kind::Other, style, is_group: false }
    }

    fn known(text: &str, style: Style) -> Option<Self> {
        let lowercase = text
            .trim_start_matches(|c: char| c == '*' || c.is_whitespace())
            .trim_end_matches(|c: char| is_colon(c) || c == '*' || c.is_whitespace())
            .to_lowercase();
        let words: Vec<&str> = lowercase.split_whitespace().collect();
        let kind = match words.as_slice() {
            [
                "arg" | "args" | "argument" | "arguments" | "param" | "params" | "parameter" | "parameters"
                | "required" | "optional",
            ]
            | [
                "keyword" | "other" | "optional" | "required" | "positional" | "additional" | "named",
                "args" | "arguments" | "params" | "parameters",
            ] => Kind::Params,
            ["return" | "returns" | "yield" | "yields"] => Kind::Returns,
            ["raise" | "raises" | "throws" | "except" | "exceptions"] => Kind::Raises,
            ["errors"] if style == Style::Markdown => Kind::Raises,
            [
                "attention" | "attributes" | "caution" | "danger" | "error" | "errors" | "example"
                | "examples" | "hint" | "important" | "methods" | "note" | "notes" | "panics" | "receives"
                | "references" | "safety" | "summary" | "tip" | "tips" | "todo" | "usage" | "warning"
                | "warnings" | "warns",
            ]
            | ["see", "also"] => Kind::Other,
            _ => return None,
        };
        Some(Self { kind, style, is_group: matches!(words.as_slice(), ["required" | "optional"]) })
    }
}

/// Returns the kind of a section in one line, such as `Returns: the sum`.
pub(crate) fn inline_section(text: &str) -> Option<Kind> {
    if !text.starts_with(char::is_uppercase) {
        return None;
    }
    let (before, _) = text.split_once(is_colon)?;
    let title = Title::known(before, Style::Google)?;
    if title.is_group { None } else { Some(title.kind) }
}

/// Returns the number of `#` marks, if the text is a heading.
pub(crate) fn heading_level(text: &str) -> Option<usize> {
    let words = text.trim_start_matches('#');
    let level = text.len() - words.len();
    if level > 0 && words.starts_with(char::is_whitespace) { Some(level) } else { None }
}

/// Returns the level of a rustdoc heading for programmers, such as `# Panics`.
pub(crate) fn programmer_heading_level(text: &str) -> Option<usize> {
    let level = heading_level(text)?;
    let title = text.trim_matches(|c: char| c == '#' || is_colon(c) || c.is_whitespace()).to_lowercase();
    match title.as_str() {
        "example" | "examples" | "panic" | "panics" | "safety" => Some(level),
        _ => None,
    }
}

fn is_underline(text: &str) -> bool {
    text.len() >= 3 && (text.chars().all(|c| c == '-') || text.chars().all(|c| c == '='))
}

#[cfg(test)]
mod tests {
    use super::{Kind, Style, Title, heading_level, inline_section, programmer_heading_level};
    use crate::lines;

    fn check(text: &str, expected: Option<(Kind, Style)>) {
        let lines = lines::parse(text);
        let found = lines
            .first()
            .and_then(|line| Title::parse(line, lines.get(1)))
            .map(|title| (title.kind, title.style));
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn titles_have_a_kind_and_a_style() {
        check("Args:", Some((Kind::Params, Style::Google)));
        check("ARGUMENTS :", Some((Kind::Params, Style::Google)));
        check("Keyword Args:", Some((Kind::Params, Style::Google)));
        check("**Parameters:**", Some((Kind::Params, Style::Google)));
        check("**Params**:", Some((Kind::Params, Style::Google)));
        check("Args：", Some((Kind::Params, Style::Google)));
        check("Yields:", Some((Kind::Returns, Style::Google)));
        check("Raises:", Some((Kind::Raises, Style::Google)));
        check("See Also:", Some((Kind::Other, Style::Google)));
        check("Example::", Some((Kind::Other, Style::Google)));
        check("Errors:", Some((Kind::Other, Style::Google)));
        check("Parameters\n----------", Some((Kind::Params, Style::Numpy)));
        check("Other Parameters:\n=====", Some((Kind::Params, Style::Numpy)));
        check("My Own\n---", Some((Kind::Other, Style::Numpy)));
        check("# Arguments", Some((Kind::Params, Style::Markdown)));
        check("### params: ###", Some((Kind::Params, Style::Markdown)));
        check("# **Args**", Some((Kind::Params, Style::Markdown)));
        check("# Errors", Some((Kind::Raises, Style::Markdown)));
        check("# Panics", Some((Kind::Other, Style::Markdown)));
        check("# How it works", Some((Kind::Other, Style::Markdown)));
    }

    #[test]
    fn other_lines_are_no_titles() {
        for text in [
            "",
            "Args",
            "Args: x",
            "Modes:",
            "*args:",
            "#Args",
            "Parameters\n--",
            "a: b\n---",
            "- a\n---",
            "Parameters\n-=-",
            ":param:",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn rustdoc_headings_for_programmers_have_a_level() {
        for (text, level) in [("# Examples", 1), ("## Example", 2), ("# panics:", 1), ("# Safety #", 1)] {
            assert_eq!(programmer_heading_level(text), Some(level), "{text}");
            assert_eq!(heading_level(text), Some(level), "{text}");
        }
        for text in ["Examples:", "Examples", "# Errors", "# How it panics", "#Panics"] {
            assert_eq!(programmer_heading_level(text), None, "{text}");
        }
        assert_eq!(heading_level("#![allow]"), None);
    }

    #[test]
    fn an_inline_section_begins_with_a_capitalized_title() {
        assert_eq!(inline_section("Returns: the sum"), Some(Kind::Returns));
        assert_eq!(inline_section("Note: x"), Some(Kind::Other));
        assert_eq!(inline_section("returns: the sum"), None);
        assert_eq!(inline_section("Query: x"), None);
        assert_eq!(inline_section("Optional: x"), None);
    }
}
