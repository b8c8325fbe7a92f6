//! Functions that join lines into paragraphs, and split text outside of brackets.

use crate::lines::Line;
use std::str::CharIndices;

/// A text built from lines. A space joins the lines of a paragraph, and a blank line separates paragraphs.
#[derive(Debug, Default)]
pub(crate) struct Prose {
    text: String,
}

impl Prose {
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.trim().to_owned() }
    }

    pub(crate) fn push(&mut self, line: &Line) {
        if !self.text.is_empty() {
            self.text.push_str(if line.after_blank { "\n\n" } else { " " });
        }
        self.text.push_str(&line.text);
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }
}

/// Returns the characters outside of brackets with their byte positions, and the outermost brackets.
pub(crate) fn outside_brackets(text: &str) -> OutsideBrackets<'_> {
    OutsideBrackets { characters: text.char_indices(), depth: 0 }
}

pub(crate) struct OutsideBrackets<'a> {
    characters: CharIndices<'a>,
    depth: usize,
}

impl Iterator for OutsideBrackets<'_> {
    type Item = (usize, char);

    fn next(&mut self) -> Option<(usize, char)> {
        for (place, c) in self.characters.by_ref() {
            let was_outside = self.depth == 0;
            match c {
                '(' | '[' | '{' | '（' => self.depth += 1,
                ')' | ']' | '}' | '）' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if was_outside || self.depth == 0 {
                return Some((place, c));
            }
        }
        None
    }
}

/// Splits a text at each `separator` outside of brackets.
pub(crate) fn split_outside(text: &str, separator: impl Fn(char) -> bool) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for (place, c) in outside_brackets(text).filter(|(_, c)| separator(*c)) {
        pieces.extend(text.get(start..place));
        start = place + c.len_utf8();
    }
    pieces.extend(text.get(start..));
    pieces
}

/// Returns the words of a text, where `dict[str, int]` is one word.
pub(crate) fn words(text: &str) -> Vec<&str> {
    let mut words = split_outside(text, char::is_whitespace);
    words.retain(|word| !word.is_empty());
    words
}

/// Splits a text at the first colon outside of brackets, `::` and URLs.
pub(crate) fn split_colon(text: &str) -> Option<(&str, &str)> {
    for (place, c) in outside_brackets(text).filter(|(_, c)| is_colon(*c)) {
        let before = text.get(..place)?;
        let after = text.get(place + c.len_utf8()..)?;
        if !before.ends_with(':') && !continues_colon(after) {
            return Some((before, after));
        }
    }
    None
}

/// Removes a leading colon, unless it is part of `::` or `://`.
pub(crate) fn strip_colon(text: &str) -> Option<&str> {
    text.strip_prefix(is_colon).filter(|after| !continues_colon(after))
}

pub(crate) fn is_colon(c: char) -> bool {
    matches!(c, ':' | '：')
}

fn continues_colon(after: &str) -> bool {
    after.starts_with(':') || after.starts_with("//")
}

/// Removes `mark` from both ends of a text, if it is there.
pub(crate) fn unwrap_mark(text: &str, mark: char) -> Option<&str> {
    text.strip_prefix(mark)?.strip_suffix(mark)
}

/// Returns the content of the parentheses at the start of a text, and the rest.
pub(crate) fn strip_parenthesis(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix(['(', '（'])?;
    let (end, close) = outside_brackets(text).nth(1)?;
    let inner_length = end.checked_sub(text.len() - inner.len())?;
    Some((inner.get(..inner_length)?, text.get(end + close.len_utf8()..)?))
}

#[cfg(test)]
mod tests {
    use super::{split_colon, split_outside, strip_parenthesis, words};

    #[test]
    fn brackets_protect_separators() {
        assert_eq!(split_outside("a, b[c, d], {e, f}", |c| c == ','), ["a", " b[c, d]", " {e, f}"]);
        assert_eq!(split_outside("", |c| c == ','), [""]);
        assert_eq!(split_outside("a), b", |c| c == ','), ["a)", " b"]);
        assert_eq!(words("dict[str, int]  of x"), ["dict[str, int]", "of", "x"]);
    }

    #[test]
    fn double_colons_and_urls_are_not_split() {
        let check = |text, expected| assert_eq!(split_colon(text), expected, "{text}");
        check("a: b: c", Some(("a", " b: c")));
        check("a：b", Some(("a", "b")));
        check("std::io p: d", Some(("std::io p", " d")));
        check("dict[str: int] p: d", Some(("dict[str: int] p", " d")));
        check("http://x", None);
        check("a:: b", None);
        check("a", None);
    }

    #[test]
    fn a_leading_parenthesis_is_split_off() {
        let check = |text, expected| assert_eq!(strip_parenthesis(text), expected, "{text}");
        check("(int): d", Some(("int", ": d")));
        check("(f(int), [a]) d", Some(("f(int), [a]", " d")));
        check("（int）：d", Some(("int", "：d")));
        check("() d", Some(("", " d")));
        check("(int: d", None);
        check("int) d", None);
    }
}
