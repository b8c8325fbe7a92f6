//! Parses parameter names with their Markdown marks, such as backticks.

use crate::prose::strip_colon;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Name<'a> {
    /// The name, without marks or `r#`.
    pub(crate) text: &'a str,
    /// The type, if the backticks contain `name: type`.
    pub(crate) ty: Option<&'a str>,
    pub(crate) marked: bool,
    /// The marks before the name, such as `**` in `**name: text**`, unless they are closed after the name.
    pub(crate) open: &'a str,
    pub(crate) rest: &'a str,
}

impl<'a> Name<'a> {
    /// Parses `name`, `*name`, `r#name`, `` `name` ``, `**name**` or `` `name: type` ``.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let unmarked = text.trim_start_matches(['*', '`', '\\']);
        let marks = text.strip_suffix(unmarked)?;
        let bare = unmarked.strip_prefix("r#").unwrap_or(unmarked);
        let name = bare.strip_suffix(bare.trim_start_matches(is_name_char))?.trim_end_matches(['-', '.']);
        if !is_identifier(name) {
            return None;
        }
        let rest = bare.strip_prefix(name)?;
        if marks.contains('`') {
            Self::in_backticks(name, rest)
        } else {
            Some(Self::in_emphasis(name, rest, marks))
        }
    }

    /// Returns the name in a text of only a name.
    pub(crate) fn exact(text: &'a str) -> Option<&'a str> {
        let name = Self::parse(text)?;
        if name.rest.is_empty() { Some(name.text) } else { None }
    }

    /// Parses the names at the start of a text such as `a, b, c: text`, of which the last has the `rest`.
    pub(crate) fn list(text: &'a str) -> Option<(Vec<&'a str>, Self)> {
        let mut name = Self::parse(text)?;
        let mut names = vec![name.text];
        while let Some(after) = name.rest.trim_start().strip_prefix([',', '，', '、']) {
            name = Self::parse(after.trim_start())?;
            names.push(name.text);
        }
        Some((names, name))
    }

    fn in_backticks(name: &'a str, rest: &'a str) -> Option<Self> {
        let (inside, after) = rest.split_once('`')?;
        let ty = strip_colon(inside.trim_start()).map(str::trim);
        if ty.is_none() && !inside.trim().is_empty() {
            return None;
        }
        let rest = after.trim_start_matches(['`', '*']);
        Some(Self { text: name, ty, marked: true, open: "", rest })
    }

    fn in_emphasis(name: &'a str, rest: &'a str, marks: &'a str) -> Self {
        let after = if marks.is_empty() { None } else { rest.strip_prefix(marks) };
        Self {
            text: name,
            ty: None,
            marked: after.is_some(),
            open: if after.is_some() { "" } else { marks },
            rest: after.unwrap_or(rest),
        }
    }
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_') && !name.contains("--")
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '\u{300}'..='\u{36f}')
}

#[cfg(test)]
mod tests {
    use super::Name;

    fn check(text: &str, expected: Option<(&str, Option<&str>, bool, &str)>) {
        let found = Name::parse(text);
        let found = found.as_ref().map(|name| (name.text, name.ty, name.marked, name.rest));
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn a_name_ends_at_the_first_other_character() {
        check("x", Some(("x", None, false, "")));
        check("max_results: d", Some(("max_results", None, false, ": d")));
        check("max-results - d", Some(("max-results", None, false, " - d")));
        check("*args: d", Some(("args", None, false, ": d")));
        check("**kwargs", Some(("kwargs", None, false, "")));
        check("\\*args", Some(("args", None, false, "")));
        check("r#type x", Some(("type", None, false, " x")));
        check("größe：d", Some(("größe", None, false, "：d")));
        check("cafe\u{301} d", Some(("cafe\u{301}", None, false, " d")));
        check("查询：d", Some(("查询", None, false, "：d")));
        check("x-: d", Some(("x", None, false, "-: d")));
    }

    #[test]
    fn backticks_and_emphasis_are_stripped() {
        check("`x` - d", Some(("x", None, true, " - d")));
        check("``x``: d", Some(("x", None, true, ": d")));
        check("`*args`: d", Some(("args", None, true, ": d")));
        check("**x** d", Some(("x", None, true, " d")));
        check("**`x`**: d", Some(("x", None, true, ": d")));
        check("`x: &str` d", Some(("x", Some("&str"), true, " d")));
        check("**x:** d", Some(("x", None, false, ":** d")));
    }

    #[test]
    fn other_text_is_no_name() {
        for text in ["", " x", "9x", "-x", "`x y`", "`x", "`x.len()`", "...", "《x》", "a--b"] {
            check(text, None);
        }
    }

    #[test]
    fn names_are_listed_with_commas() {
        let check = |text, expected: Option<(Vec<&str>, &str)>| {
            let found = Name::list(text).map(|(names, last)| (names, last.rest));
            assert_eq!(found, expected, "{text}");
        };
        check("x: d", Some((vec!["x"], ": d")));
        check("x, y , `z`: d", Some((vec!["x", "y", "z"], ": d")));
        check("x, 1: d", None);
    }
}
