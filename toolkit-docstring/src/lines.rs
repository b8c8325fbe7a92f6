//! Splits a doc comment into numbered lines, and removes their common indentation.

use crate::brackets::{Brackets, push_type_line};
use crate::decoration::{self, indent_of};
use crate::fence::{self, Fence};

const TAB: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// The zero-based number.
    pub(crate) number: usize,
    /// The number of leading spaces beyond the common indentation.
    pub(crate) indent: usize,
    pub(crate) text: String,
    /// Whether the line is the first, or the line directly above is blank.
    pub(crate) after_blank: bool,
    pub(crate) fence: Fence,
    /// The paragraph's text from this line to the one that closes its open brackets.
    pub(crate) joined: Option<Joined>,
}

/// The text of several lines, read as one line if a type goes over them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Joined {
    pub(crate) text: String,
    pub(crate) height: usize,
}

impl Line {
    pub(crate) fn is_blank(&self) -> bool {
        self.text.is_empty()
    }

    /// Reads the line alone, or joined with the next ones if `is_better` returns `true` for both readings.
    ///
    /// Also returns the number of lines that were read.
    pub(crate) fn read<'a, T>(
        &'a self,
        read: impl Fn(&'a str) -> T,
        is_better: impl Fn(&T, &T) -> bool,
    ) -> (T, usize) {
        let alone = read(&self.text);
        if let Some(Joined { text, height }) = &self.joined {
            let joined = read(text);
            if is_better(&alone, &joined) {
                return (joined, *height);
            }
        }
        (alone, 1)
    }

    /// Returns the text with its indentation, as in the description.
    pub(crate) fn indented(&self) -> String {
        format!("{:width$}{}", "", self.text, width = self.indent)
    }
}

/// Splits a doc comment into lines, without tabs, the stars of a block comment and the common indentation.
///
/// The first line does not affect the common indentation, because it usually begins right after the
/// opening quotes.
pub(crate) fn parse(text: &str) -> Vec<Line> {
    let mut rows: Vec<String> = text.split('\n').map(expand_tabs).collect();
    decoration::strip(&mut rows);
    let indented = rows.iter().skip(1).filter(|row| !row.trim().is_empty());
    let margin = indented.map(|row| indent_of(row)).min().unwrap_or(0);
    let fences = fence::classify(rows.iter().map(|row| row.trim()));
    let mut lines: Vec<Line> = Vec::with_capacity(rows.len());
    for (number, (row, fence)) in rows.iter().zip(fences).enumerate() {
        let text = row.trim().to_owned();
        let indent = if number == 0 || text.is_empty() { 0 } else { indent_of(row).saturating_sub(margin) };
        let after_blank = lines.last().is_none_or(Line::is_blank);
        lines.push(Line { number, indent, text, after_blank, fence, joined: None });
    }
    for number in 0..lines.len() {
        let joined = lines.get(number..).and_then(join);
        if let Some(line) = lines.get_mut(number) {
            line.joined = joined;
        }
    }
    lines
}

/// Joins the first line with the next ones, up to the one that closes its brackets.
fn join(lines: &[Line]) -> Option<Joined> {
    let height = joined_height(lines)?;
    let [first, rest @ ..] = lines.get(..height)? else { return None };
    let mut text = first.text.clone();
    for line in rest {
        push_type_line(&mut text, &line.text);
    }
    Some(Joined { text, height })
}

/// Returns the number of lines that [`join`] joins, if any.
fn joined_height(lines: &[Line]) -> Option<usize> {
    let mut brackets = Brackets::default();
    for (above, line) in lines.iter().enumerate() {
        if line.is_blank() || line.fence != Fence::Outside {
            return None;
        }
        brackets.push(&line.text);
        if !brackets.is_open() {
            return if above > 0 { Some(above + 1) } else { None };
        }
    }
    None
}

/// Replaces each tab with spaces up to the next multiple of [`TAB`] columns.
fn expand_tabs(row: &str) -> String {
    let mut parts = row.split('\t');
    let mut expanded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let width = TAB - expanded.chars().count() % TAB;
        expanded.extend(std::iter::repeat_n(' ', width));
        expanded.push_str(part);
    }
    expanded
}

#[cfg(test)]
mod tests {
    use super::parse;

    fn check(text: &str, expected: &[(usize, &str)]) {
        let lines = parse(text);
        let found: Vec<_> = lines.iter().map(|line| (line.indent, line.text.as_str())).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn the_margin_of_all_lines_but_the_first_is_removed() {
        check("", &[(0, "")]);
        check(
            "  One.\n\n    two\n      three\n    ",
            &[(0, "One."), (0, ""), (0, "two"), (2, "three"), (0, "")],
        );
        check("\n    One.\n  two", &[(0, ""), (2, "One."), (0, "two")]);
        check(" One.\n\n # Two\n   three", &[(0, "One."), (0, ""), (0, "# Two"), (2, "three")]);
    }

    #[test]
    fn whitespace_is_normalized() {
        check("S.\r\n\r\n  a  \r\n", &[(0, "S."), (0, ""), (0, "a"), (0, "")]);
        check("S.\n\ta\n\t\tb\tc", &[(0, "S."), (0, "a"), (8, "b       c")]);
        check("S.\n\u{3000}a\n\u{3000}\u{3000}b", &[(0, "S."), (0, "a"), (1, "b")]);
    }

    #[test]
    fn a_paragraph_begins_after_a_blank_line() {
        let begins: Vec<_> = parse("a\nb\n\nc\n \n\nd").iter().map(|line| line.after_blank).collect();
        assert_eq!(begins, [true, false, false, true, false, true, true]);
    }
}
