//! A text as dedented, numbered lines.

use crate::decoration;
use crate::fence::{self, Fence};

const TAB: usize = 8;

/// One line of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// Counted from zero.
    pub(crate) number: usize,
    /// Blanks before the text, the margin common to all lines taken off.
    pub(crate) indent: usize,
    /// The text without blanks around it.
    pub(crate) text: String,
    /// Whether the line begins a paragraph.
    pub(crate) after_blank: bool,
    /// Whether the line is code.
    pub(crate) fence: Fence,
}

impl Line {
    pub(crate) fn is_blank(&self) -> bool {
        self.text.is_empty()
    }

    /// The line as it looks in the description.
    pub(crate) fn indented(&self) -> String {
        format!("{:width$}{}", "", self.text, width = self.indent)
    }
}

/// Splits, expands tabs, drops the stars of a block comment, takes the margin off and marks fenced code.
///
/// The first line stands apart: in most comments it begins right after the opening quotes.
pub(crate) fn read(text: &str) -> Vec<Line> {
    let mut rows: Vec<String> = text.split('\n').map(expand_tabs).collect();
    decoration::strip(&mut rows);
    let margin = margin(&rows);

    let mut after_blank = true;
    let mut lines = Vec::with_capacity(rows.len());
    for (number, row) in rows.iter().enumerate() {
        let text = row.trim().to_owned();
        let indent = if number == 0 || text.is_empty() { 0 } else { indent_of(row).saturating_sub(margin) };
        let blank = text.is_empty();
        lines.push(Line { number, indent, text, after_blank, fence: Fence::Outside });
        after_blank = blank;
    }
    fence::mark(&mut lines);
    lines
}

fn margin(rows: &[String]) -> usize {
    rows.iter().skip(1).filter(|row| !row.trim().is_empty()).map(|row| indent_of(row)).min().unwrap_or(0)
}

pub(crate) fn indent_of(row: &str) -> usize {
    row.chars().take_while(|c| c.is_whitespace()).count()
}

fn expand_tabs(row: &str) -> String {
    let mut column = 0;
    let mut expanded = String::with_capacity(row.len());
    for c in row.chars() {
        if c == '\t' {
            let width = TAB - column % TAB;
            expanded.extend(std::iter::repeat_n(' ', width));
            column += width;
        } else {
            expanded.push(c);
            column += 1;
        }
    }
    expanded
}

#[cfg(test)]
mod tests {
    use super::read;

    fn check(text: &str, expected: &[(usize, &str)]) {
        let lines = read(text);
        let found: Vec<_> = lines.iter().map(|line| (line.indent, line.text.as_str())).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn dedents_like_a_docstring() {
        check("", &[(0, "")]);
        check(
            "  One.\n\n    two\n      three\n    ",
            &[(0, "One."), (0, ""), (0, "two"), (2, "three"), (0, "")],
        );
        check("\n    One.\n  two", &[(0, ""), (2, "One."), (0, "two")]);
        check(" One.\n\n # Two\n   three", &[(0, "One."), (0, ""), (0, "# Two"), (2, "three")]);
    }

    #[test]
    fn evens_out_blanks() {
        check("S.\r\n\r\n  a  \r\n", &[(0, "S."), (0, ""), (0, "a"), (0, "")]);
        check("S.\n\ta\n\t\tb\tc", &[(0, "S."), (0, "a"), (8, "b       c")]);
        check("S.\n\u{3000}a\n\u{3000}\u{3000}b", &[(0, "S."), (0, "a"), (1, "b")]);
    }

    #[test]
    fn knows_where_paragraphs_begin() {
        let begins: Vec<_> = read("a\nb\n\nc\n \n\nd").iter().map(|line| line.after_blank).collect();
        assert_eq!(begins, [true, false, false, true, false, true, true]);
    }
}
