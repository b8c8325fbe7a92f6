//! The section that the parser is reading, and its rules for lines.

use crate::item::Item;
use crate::lines::Line;
use crate::numpy;
use crate::title::{self, Kind, Style, Title};
use crate::type_spec::looks_like_type;

/// A section about parameters, the return value or errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) kind: Kind,
    pub(crate) style: Style,
    /// Whether entries have bullets. `None` before the first entry.
    bulleted: Option<bool>,
    indent: usize,
    /// Whether the first line is not indented under the title.
    flush: bool,
}

impl Section {
    /// Begins the section, if its title announces parameters, a return value or errors.
    pub(crate) fn open(title: Title, line: &Line, body: &[Line]) -> Option<Self> {
        if title.kind == Kind::Other {
            return None;
        }
        let first = body.iter().find(|line| !line.is_blank());
        Some(Self {
            kind: title.kind,
            style: title.style,
            bulleted: None,
            indent: line.indent,
            flush: first.is_some_and(|first| first.indent <= line.indent),
        })
    }

    /// Returns the section after an entry. The first one decides whether entries must have bullets.
    pub(crate) fn after_entry(self, bulleted: bool) -> Self {
        Self { bulleted: self.bulleted.or(Some(bulleted)), ..self }
    }

    /// Returns whether `line` belongs to the section, by its place and indentation.
    pub(crate) fn contains(self, line: &Line) -> bool {
        if self.style != Style::Google || line.indent > self.indent {
            return true;
        }
        match (self.kind, self.item(line)) {
            (Kind::Params, Some(item)) if line.after_blank || item.text.is_empty() => {
                self.flush && (item.bulleted || !item.is_capitalised())
            }
            (Kind::Params, Some(item)) => self.flush || !item.is_capitalised(),
            (Kind::Params, None) => self.continues(line),
            _ => self.continues(line) || self.flush && self.bulleted.is_none(),
        }
    }

    /// Returns whether `line` continues the previous entry, by its place and indentation.
    pub(crate) fn continues(self, line: &Line) -> bool {
        let inside = self.style != Style::Google || line.indent > self.indent;
        inside || self.flush && !line.after_blank
    }

    /// Returns whether `line`, which is not an entry, ends the section.
    pub(crate) fn ends_with_prose(self, line: &Line) -> bool {
        let open_ended = self.flush || self.style != Style::Google;
        open_ended && self.bulleted.is_some() && line.after_blank
    }

    /// Parses `line` as the first line of a parameter entry.
    pub(crate) fn item(self, line: &Line) -> Option<Item<'_>> {
        let shallow = line.indent <= self.indent || self.style == Style::Markdown;
        if self.kind != Kind::Params || shallow && title::inline_section(&line.text).is_some() {
            return None;
        }
        let mut read = (None, 1);
        if self.style == Style::Numpy {
            read = line.read(numpy::item, |_, joined| is_followed_by_type(joined));
        }
        if read.0.is_none() {
            read = line.read(Item::parse, |alone, joined| has_type(joined) && !has_type(alone));
        }
        let (item, height) = read;
        let item = Item { height, ..item? };
        if self.bulleted.is_none_or(|bulleted| bulleted == item.bulleted) { Some(item) } else { None }
    }

    /// Returns whether a line like a title is an entry, such as a parameter called `example`.
    pub(crate) fn has_entry_like(self, title: Title, line: &Line) -> bool {
        let inside = title.style == Style::Google && self.style == Style::Google && line.indent > self.indent;
        let is_title = title.kind != Kind::Other && line.text.starts_with(char::is_uppercase);
        inside && !is_title && (self.kind != Kind::Params || self.item(line).is_some())
    }
}

/// Returns whether the text after the colon is a type, as in a NumPy section.
fn is_followed_by_type(item: &Option<Item<'_>>) -> bool {
    item.as_ref().is_some_and(|item| looks_like_type(item.text))
}

fn has_type(item: &Option<Item<'_>>) -> bool {
    item.as_ref().is_some_and(|item| item.spec.ty.is_some())
}

#[cfg(test)]
mod tests {
    use super::Section;
    use crate::lines;
    use crate::title::Title;

    /// Checks the kind of each line after the title of a section: `i` for an entry, `t` for text, and `.`
    /// for a line outside.
    fn check(text: &str, expected: &str) {
        let lines = lines::parse(&format!("\n.\n{text}"));
        let mut body = lines.iter().skip(2);
        let opened = body.next().and_then(|line| {
            let title = Title::parse(line, lines.get(3))?;
            Section::open(title, line, lines.get(3..)?)
        });
        let found: Option<String> = opened.map(|section| {
            body.filter(|line| !line.is_blank())
                .map(|line| match (section.contains(line), section.item(line)) {
                    (true, Some(_)) => 'i',
                    (true, None) => 't',
                    (false, _) => '.',
                })
                .collect()
        });
        assert_eq!(found.as_deref().unwrap_or("none"), expected, "{text:?}");
    }

    #[test]
    fn a_google_section_contains_indented_lines() {
        check("Args:\n  a: A\n  text\n\n  b: B\n\nc: C", "iti.");
        check("Args:\n  a: A\nb: B\nb:\nB: b\ntext", "ii...");
        check("Returns:\n  a: A\n\n  text\ntext", "tt.");
        check("  Args:\n    a: A\n\n  b: B", "i.");
    }

    #[test]
    fn an_unindented_google_section_ends_at_prose() {
        check("Args:\na: A\nb:\nB: b\ntext", "iiit");
        check("Args:\na: A\n\nb: B\n\n- c: C\n\nD: d\n\ntext", "iii..");
        check("Args:\n\na: A", "i");
        check("Args:\na: A\nNote: text", "it");
    }

    #[test]
    fn markdown_and_numpy_sections_are_open_ended() {
        check("# Args\n\ntext\n\n* `a` - A\n\nb: B", "tii");
        check("Parameters\n---\na : int\n\nb\nsome text", "tiit");
    }

    #[test]
    fn other_titles_open_no_section() {
        check("Note:\n  a: A", "none");
        check("# Panics\na: A", "none");
    }
}
