//! Titles of sections and the three ways to write them.

use crate::lines::Line;
use crate::prose::is_colon;

const LONGEST_TITLE: usize = 4;

/// What a section is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Parameters, one an entry.
    Params,
    /// The result.
    Returns,
    /// Failures, one an entry.
    Raises,
    /// Anything else: it stays in the description.
    Other,
}

/// How a title is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// `Args:`, its entries indented.
    Google,
    /// `Parameters`, underlined.
    Numpy,
    /// `# Arguments`.
    Markdown,
}

/// The line, or two, that opens a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Title {
    pub(crate) kind: Kind,
    pub(crate) style: Style,
    /// Whether it merely parts the parameters into groups, as `Optional:` does.
    pub(crate) is_group: bool,
}

impl Title {
    /// Reads the title that `line` is, alone or together with the line below.
    pub(crate) fn read(line: &Line, below: Option<&Line>) -> Option<Self> {
        Self::markdown(&line.text)
            .or_else(|| Self::numpy(&line.text, &below?.text))
            .or_else(|| Self::google(&line.text))
    }

    /// The title where there are no parameters to group.
    pub(crate) fn outside_of_params(self) -> Option<Self> {
        match (self.is_group, self.style) {
            (false, _) => Some(self),
            (true, Style::Google) => None,
            (true, style) => Some(Self::other(style)),
        }
    }

    /// How many lines the title takes.
    pub(crate) fn height(self) -> usize {
        match self.style {
            Style::Numpy => 2,
            Style::Google | Style::Markdown => 1,
        }
    }

    fn markdown(text: &str) -> Option<Self> {
        heading_level(text).map(|_| {
            Self::of(text.trim_matches('#'), Style::Markdown).unwrap_or(Self::other(Style::Markdown))
        })
    }

    fn numpy(text: &str, below: &str) -> Option<Self> {
        let is_title = is_underline(below)
            && text.starts_with(char::is_alphabetic)
            && !text.trim_end_matches(is_colon).contains(is_colon)
            && text.split_whitespace().count() <= LONGEST_TITLE;
        is_title.then(|| Self::of(text, Style::Numpy).unwrap_or(Self::other(Style::Numpy)))
    }

    fn google(text: &str) -> Option<Self> {
        let emphasised = text.starts_with("**") && text.trim_end_matches(is_colon).ends_with("**");
        (emphasised || text.ends_with(is_colon) && !text.starts_with('*'))
            .then(|| Self::of(text, Style::Google))
            .flatten()
    }

    fn other(style: Style) -> Self {
        Self { kind: Kind::Other, style, is_group: false }
    }

    /// Reads a title that belongs to a documented section.
    fn of(text: &str, style: Style) -> Option<Self> {
        let text = text
            .trim_start_matches(|c: char| c == '*' || c.is_whitespace())
            .trim_end_matches(|c: char| is_colon(c) || c == '*' || c.is_whitespace());
        let title = Words::of(text)?;
        let kind = title.kind().or_else(|| {
            let errors = style == Style::Markdown && title.last == "errors" && title.first.is_none();
            errors.then_some(Kind::Raises)
        });
        let is_group = kind.is_none() && title.is_group();
        let known = kind.or_else(|| is_group.then_some(Kind::Params));
        known.or_else(|| title.is_other().then_some(Kind::Other)).map(|kind| Self { kind, style, is_group })
    }
}

/// Whether a line begins like a section written in one line: `Returns: the sum`.
pub(crate) fn is_run_in(text: &str, concerns: impl Fn(Kind) -> bool) -> bool {
    text.starts_with(char::is_uppercase)
        && text
            .split_once(is_colon)
            .and_then(|(title, _)| Title::of(title, Style::Google))
            .is_some_and(|title| !title.is_group && concerns(title.kind))
}

/// How many marks a heading has; nothing if the line is none.
pub(crate) fn heading_level(text: &str) -> Option<usize> {
    let words = text.trim_start_matches('#');
    let level = text.len() - words.len();
    (level > 0 && words.starts_with(char::is_whitespace)).then_some(level)
}

/// Whether the line is a heading of rustdoc whose text tells programmers how to call the function.
pub(crate) fn is_for_programmers(text: &str) -> bool {
    let title = text.trim_matches(|c: char| c == '#' || is_colon(c) || c.is_whitespace()).to_lowercase();
    heading_level(text).is_some() && FOR_PROGRAMMERS.contains(&title.as_str())
}

const FOR_PROGRAMMERS: &[&str] = &["example", "examples", "panic", "panics", "safety"];

fn is_underline(text: &str) -> bool {
    text.len() >= 3
        && text
            .chars()
            .next()
            .is_some_and(|mark| matches!(mark, '-' | '=') && text.chars().all(|c| c == mark))
}

/// A title of one or two words, lower-case.
struct Words {
    first: Option<String>,
    last: String,
}

impl Words {
    fn of(title: &str) -> Option<Self> {
        let mut words = title.split_whitespace().map(str::to_lowercase);
        let (first, second, third) = (words.next()?, words.next(), words.next());
        if third.is_some() {
            return None;
        }
        Some(match second {
            Some(last) => Self { first: Some(first), last },
            None => Self { first: None, last: first },
        })
    }

    fn kind(&self) -> Option<Kind> {
        match (self.first.as_deref(), self.last.as_str()) {
            (
                None
                | Some("keyword" | "other" | "optional" | "required" | "positional" | "additional" | "named"),
                "args" | "arguments" | "params" | "parameters",
            ) => Some(Kind::Params),
            (None, "return" | "returns" | "yield" | "yields") => Some(Kind::Returns),
            (None, "raise" | "raises" | "throws" | "except" | "exceptions") => Some(Kind::Raises),
            _ => None,
        }
    }

    fn is_group(&self) -> bool {
        self.first.is_none() && matches!(self.last.as_str(), "required" | "optional")
    }

    fn is_other(&self) -> bool {
        match (self.first.as_deref(), self.last.as_str()) {
            (Some("see"), "also") => true,
            (None, word) => OTHER_TITLES.contains(&word),
            _ => false,
        }
    }
}

const OTHER_TITLES: &[&str] = &[
    "attention",
    "attributes",
    "caution",
    "danger",
    "error",
    "errors",
    "example",
    "examples",
    "hint",
    "important",
    "methods",
    "note",
    "notes",
    "panics",
    "receives",
    "references",
    "safety",
    "summary",
    "tip",
    "tips",
    "todo",
    "usage",
    "warning",
    "warnings",
    "warns",
];

#[cfg(test)]
mod tests {
    use super::{Kind, Style, Title, heading_level, is_for_programmers, is_run_in};
    use crate::lines;

    fn check(text: &str, expected: Option<(Kind, Style)>) {
        let lines = lines::read(text);
        let found = lines
            .first()
            .and_then(|line| Title::read(line, lines.get(1)))
            .map(|title| (title.kind, title.style));
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn reads_titles() {
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
    fn refuses_other_lines() {
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
    fn knows_what_is_for_programmers() {
        for text in ["# Examples", "## Example", "# panics:", "# Safety #"] {
            assert!(is_for_programmers(text), "{text}");
        }
        for text in ["Examples:", "Examples", "# Errors", "# How it panics", "#Panics"] {
            assert!(!is_for_programmers(text), "{text}");
        }
        assert_eq!(heading_level("## Example"), Some(2));
        assert_eq!(heading_level("#![allow]"), None);
    }

    #[test]
    fn spots_sections_in_one_line() {
        assert!(is_run_in("Returns: the sum", |kind| kind == Kind::Returns));
        assert!(is_run_in("Note: x", |_| true));
        assert!(!is_run_in("Note: x", |kind| kind == Kind::Returns));
        assert!(!is_run_in("returns: the sum", |_| true));
        assert!(!is_run_in("Query: x", |_| true));
        assert!(!is_run_in("Optional: x", |_| true));
    }
}
