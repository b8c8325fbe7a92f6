//! The text that is left when the documented parts are taken out.

use crate::fence::Fence;
use crate::lines::Line;
use crate::title::{Style, Title};

/// The lines that stay, in their order.
#[derive(Debug, Default)]
pub(crate) struct Description<'a> {
    lines: Vec<Option<&'a Line>>,
    is_cut: bool,
}

impl<'a> Description<'a> {
    /// A line stays.
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

    /// Something is taken out here: the texts around it are no longer one paragraph.
    pub(crate) fn cut(&mut self) {
        self.is_cut = true;
    }

    /// The first paragraph, in one line.
    pub(crate) fn summary(&self) -> String {
        let text: Vec<&Line> = self
            .lines
            .iter()
            .skip_while(|line| line.is_none())
            .map_while(|line| line.filter(|line| !line.is_blank()))
            .collect();
        let first_heading = text.first().is_some_and(|line| is_heading(line));
        let length = if first_heading {
            1
        } else {
            text.iter().skip(1).position(|line| ends_summary(line)).map_or(text.len(), |place| place + 1)
        };
        let words: Vec<&str> = text.iter().take(length).map(|line| line.text.as_str()).collect();
        words.join(" ")
    }

    /// All lines, the blank ones at both ends left out.
    pub(crate) fn text(&self) -> String {
        let lines: Vec<String> =
            self.lines.iter().map(|line| line.map(Line::indented).unwrap_or_default()).collect();
        lines.join("\n").trim().to_owned()
    }
}

fn is_heading(line: &Line) -> bool {
    Title::read(line, None).is_some_and(|title| title.style == Style::Markdown)
}

fn ends_summary(line: &Line) -> bool {
    line.fence == Fence::Open || is_heading(line)
}

#[cfg(test)]
mod tests {
    use super::Description;
    use crate::lines;

    /// Keeps all lines but those that say `cut`.
    fn check(text: &str, summary: &str, expected: &str) {
        let lines = lines::read(text);
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
    fn closes_the_gaps() {
        check("", "", "");
        check("a\ncut\nb", "a", "a\n\nb");
        check("a\n\ncut\n\nb", "a", "a\n\nb");
        check("a\n\ncut\ncut\n\n\n\nb", "a", "a\n\nb");
        check("cut\n\na\ncut", "a", "a");
        check("a\n\n\n  b", "a", "a\n\n\nb");
        check("a\n\nb\n  c", "a", "a\n\nb\n  c");
    }

    #[test]
    fn joins_the_summary() {
        check("\n\n  a\n  b\n\n  c", "a b", "a\nb\n\nc");
        check("# Title\na", "# Title", "# Title\na");
        check("a\n# Title", "a", "a\n# Title");
        check("```\n\na\n```", "```", "```\n\na\n```");
        check("a\n```\nb\n\nc\n```", "a", "a\n```\nb\n\nc\n```");
    }
}
