//! The section that a line stands in.

use crate::item::Item;
use crate::lines::Line;
use crate::numpy;
use crate::title::{self, Kind, Style, Title};

/// An open section whose lines are read, not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) kind: Kind,
    pub(crate) style: Style,
    /// Whether the first entry has a bullet, once it has been read; the others are like it.
    bulleted: Option<bool>,
    /// How far the title is indented.
    indent: usize,
    /// Whether the body is indented no deeper than the title.
    flush: bool,
}

impl Section {
    /// The section below a title; nothing if it is one whose text stays in the description.
    pub(crate) fn below(title: Title, line: &Line, body: &[Line]) -> Option<Self> {
        let first = body.iter().find(|line| !line.is_blank());
        let section = Self {
            kind: title.kind,
            style: title.style,
            bulleted: None,
            indent: line.indent,
            flush: first.is_some_and(|first| first.indent <= line.indent),
        };
        (title.kind != Kind::Other).then_some(section)
    }

    /// The section after an entry has been read.
    pub(crate) fn after_entry(self, bulleted: bool) -> Self {
        Self { bulleted: self.bulleted.or(Some(bulleted)), ..self }
    }

    /// Whether a line belongs to the section, going by where it stands.
    pub(crate) fn holds(self, line: &Line) -> bool {
        if self.style != Style::Google || line.indent > self.indent {
            return true;
        }
        match (self.kind, self.item(line)) {
            (Kind::Params, Some(item)) if line.after_blank || item.text.is_empty() => {
                self.flush && (item.bulleted || !item.is_capitalised())
            }
            (Kind::Params, Some(item)) => self.flush || !item.is_capitalised(),
            (Kind::Params, None) => self.holds_more(line),
            _ => self.holds_more(line) || self.flush && self.bulleted.is_none(),
        }
    }

    /// Whether a line belongs to the entry before it, going by where it stands.
    pub(crate) fn holds_more(self, line: &Line) -> bool {
        let inside = self.style != Style::Google || line.indent > self.indent;
        inside || self.flush && !line.after_blank
    }

    /// Whether prose on this line ends the section for good.
    pub(crate) fn ends_with_prose(self, line: &Line) -> bool {
        let open_ended = self.flush || self.style != Style::Google;
        open_ended && self.bulleted.is_some() && line.after_blank
    }

    /// The parameter that the line begins to describe.
    pub(crate) fn item(self, line: &Line) -> Option<Item<'_>> {
        let shallow = line.indent <= self.indent || self.style == Style::Markdown;
        if self.kind != Kind::Params || shallow && title::is_run_in(&line.text, |_| true) {
            return None;
        }
        let numpy = || (self.style == Style::Numpy).then(|| numpy::head(&line.text)).flatten();
        numpy()
            .or_else(|| Item::read(&line.text))
            .filter(|item| self.bulleted.is_none_or(|bulleted| bulleted == item.bulleted))
    }

    /// Whether a line that looks like a title is an entry named like one, such as `example:`.
    pub(crate) fn claims(self, title: Title, line: &Line) -> bool {
        let inside = title.style == Style::Google && self.style == Style::Google && line.indent > self.indent;
        let is_title = title.kind != Kind::Other && line.text.starts_with(char::is_uppercase);
        inside && !is_title && (self.kind != Kind::Params || self.item(line).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::Section;
    use crate::lines;
    use crate::title::Title;

    /// Opens the section on the first line, and tells which of the others it holds until it holds one no more.
    fn check(text: &str, expected: &str) {
        let lines = lines::read(&format!("\n.\n{text}"));
        let mut body = lines.iter().skip(2);
        let opened = body.next().and_then(|line| {
            let title = Title::read(line, lines.get(3))?;
            Section::below(title, line, lines.get(3..)?)
        });
        let found: Option<String> = opened.map(|section| {
            body.filter(|line| !line.is_blank())
                .map(|line| match (section.holds(line), section.item(line)) {
                    (true, Some(_)) => 'i',
                    (true, None) => 't',
                    (false, _) => '.',
                })
                .collect()
        });
        assert_eq!(found.as_deref().unwrap_or("none"), expected, "{text:?}");
    }

    #[test]
    fn holds_what_is_indented() {
        check("Args:\n  a: A\n  text\n\n  b: B\n\nc: C", "iti.");
        check("Args:\n  a: A\nb: B\nb:\nB: b\ntext", "ii...");
        check("Returns:\n  a: A\n\n  text\ntext", "tt.");
        check("  Args:\n    a: A\n\n  b: B", "i.");
    }

    #[test]
    fn holds_what_is_not_indented_until_it_is_prose() {
        check("Args:\na: A\nb:\nB: b\ntext", "iiit");
        check("Args:\na: A\n\nb: B\n\n- c: C\n\nD: d\n\ntext", "iii..");
        check("Args:\n\na: A", "i");
        check("Args:\na: A\nNote: text", "it");
    }

    #[test]
    fn is_open_ended_below_headings() {
        check("# Args\n\ntext\n\n* `a` - A\n\nb: B", "tii");
        check("Parameters\n---\na : int\n\nb\nsome text", "tiit");
    }

    #[test]
    fn is_none_below_other_titles() {
        check("Note:\n  a: A", "none");
        check("# Panics\na: A", "none");
    }
}
