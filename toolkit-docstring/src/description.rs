//! The description of a doc comment: its text without parameters, return value and errors.

use crate::fence::Fence;
use crate::lines::Line;
use crate::title::{Style, Title};

#[derive(Debug, Default)]
pub(crate) struct Description<'a> {
    lines: Vec<Option<&'a Line>>,
    is_cut: bool,
}

impl<'a> Description<'a> {
    /// Adds a line, with one blank line for a removed section.
    pub(crate) fn keep(&mut self, line: &'a Line) {
        let after_text = matches!(self.lines.last(), Some(Some(_)));
        if line.is_blank() && line.fence == Fence::Outside {
            if after_text || !self.is_cut {
                self.lines.push(None);
            }
            return;
        }
        if self.is_cut && after_text {
            self.lines.push(None);
        }
        self.is_cut = false;
        self.lines.push(Some(line));
    }

    /// Marks a removed section.
    pub(crate) fn cut(&mut self) {
        self.is_cut = true;
    }

    /// Returns the first paragraph as one line.
    pub(crate) fn summary(&self) -> String {
        let mut summary = String::new();
        for line in self.lines.iter().skip_while(|line| line.is_none()) {
            let Some(line) = line else { break };
            let is_first = summary.is_empty();
            let is_heading = is_heading(line);
            if line.is_blank() || !is_first && (line.fence == Fence::Open || is_heading) {
                break;
            }
            if !is_first {
                summary.push(' ');
            }
            summary.push_str(&line.text);
            if is_heading {
                break;
            }
        }
        summary
    }

    /// Returns all lines, without leading and trailing blank lines.
    pub(crate) fn text(&self) -> String {
        let lines: Vec<String> =
            self.lines.iter().map(|line| line.map(Line::indented).unwrap_or_default()).collect();
        lines.join("\n").trim().to_owned()
    }
}

fn is_heading(line: &Line) -> bool {
    Title::parse(line, None).is_some_and(|title| title.style == Style::Markdown)
}

#[cfg(test)]
mod tests {
    use super::Description;
    use crate::lines;

    /// Checks the summary and the text of a description, where a line `cut` is a removed section.
    fn check(text: &str, summary: &str, expected: &str) {
        let lines = lines::parse(text);
        let mut description = Description::default();
        for line in &lines {
            if line.text == "cut" {
                description.cut();
            } else {
                description.keep(line);
            }
        }
        assert_eq!(description.summary(), summary, "{text:?}");
        assert_eq!(description.text(), expected, "{text:?}");
    }

    #[test]
    fn one_blank_line_remains_at_a_cut() {
        check("", "", "");
        check("a\ncut\nb", "a", "a\n\nb");
        check("a\n\ncut\n\nb", "a", "a\n\nb");
        check("a\n\ncut\ncut\n\n\n\nb", "a", "a\n\nb");
        check("cut\n\na\ncut", "a", "a");
        check("a\n\n\n  b", "a", "a\n\n\nb");
        check("a\n\nb\n  c", "a", "a\n\nb\n  c");
    }

    #[test]
    fn the_summary_is_the_first_paragraph() {
        check("\n\n  a\n  b\n\n  c", "a b", "a\nb\n\nc");
        check("# Title\na", "# Title", "# Title\na");
        check("a\n# Title", "a", "a\n# Title");
        check("```\n\na\n```", "```", "```\n\na\n```");
        check("a\n```\nb\n\nc\n```", "a", "a\n```\nb\n\nc\n```");
    }
}
