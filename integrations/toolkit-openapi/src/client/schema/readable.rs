//! Texts of a document, as a model should read them.

use toolkit_core::foreign::{clean, shorten};

/// The HTML tags in descriptions, between blanks.
const TAGS: &str = " a b blockquote br code details div em font h1 h2 h3 h4 h5 hr i img li ol p pre small span strong sub \
    summary sup table tbody td th thead tr ul ";

const ENTITIES: [(&str, &str); 6] =
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", " "), ("&amp;", "&")];

/// The bytes of a text that are read for each character of the description.
const READ: usize = 32;

/// Returns the part of a text that a description of `limit` characters needs.
pub(crate) fn head(text: &str, limit: usize) -> &str {
    let mut end = text.len().min(limit.saturating_mul(READ));
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns plain text of at most `limit` characters, without hidden characters, HTML tags and link targets. A
/// longer text ends with the last sentence that fits.
pub(crate) fn readable(text: &str, limit: usize) -> String {
    let mut plain = without_links(&without_tags(&clean(head(text, limit))));
    for (entity, character) in ENTITIES {
        if plain.contains(entity) {
            plain = plain.replace(entity, character);
        }
    }
    let mut lines: Vec<String> = Vec::new();
    for line in plain.lines() {
        let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
        if !words.is_empty() || lines.last().is_some_and(|last| !last.is_empty()) {
            lines.push(words);
        }
    }
    let joined = lines.join("\n");
    let description = joined.trim();
    match description.char_indices().nth(limit) {
        Some((end, _)) => cut(description, end, limit),
        None => description.to_owned(),
    }
}

/// Cuts a text at the end of a sentence before the byte `end`, unless over half would be lost.
fn cut(text: &str, end: usize, limit: usize) -> String {
    let fits = &text[..end];
    let mut sentence_end = 0;
    for mark in [". ", ".\n", "\n\n"] {
        if let Some(at) = fits.rfind(mark) {
            sentence_end = sentence_end.max(at + 1);
        }
    }
    if sentence_end > end / 2 {
        return fits[..sentence_end].trim_end().to_owned();
    }
    shorten(text.to_owned(), limit)
}

/// The places of a character, asked for in ascending order, so that the text is searched once.
struct Occurrences<'t> {
    text: &'t str,
    character: char,
    /// The last found place; `None` if there is none further on.
    next: Option<usize>,
}

impl<'t> Occurrences<'t> {
    fn new(text: &'t str, character: char) -> Self {
        Self { text, character, next: text.find(character) }
    }

    fn after(&mut self, start: usize) -> Option<usize> {
        if self.next.is_some_and(|next| next < start) {
            self.next = self.text[start..].find(self.character).map(|next| start + next);
        }
        self.next
    }
}

fn without_tags(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut ends = Occurrences::new(text, '>');
    let mut rest = 0;
    while let Some(start) = text[rest..].find('<').map(|start| rest + start) {
        plain.push_str(&text[rest..start]);
        let tag = text[start + 1..].trim_start_matches('/');
        let length = tag.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(tag.len());
        let name = tag[..length].to_ascii_lowercase();
        match ends.after(start + 1) {
            Some(end) if TAGS.contains(&format!(" {name} ")) => {
                let breaks = matches!(name.as_str(), "br" | "p" | "li" | "tr" | "div");
                plain.push_str(if breaks { "\n" } else { "" });
                rest = end + 1;
            }
            _ => {
                plain.push('<');
                rest = start + 1;
            }
        }
    }
    plain + &text[rest..]
}

/// Replaces Markdown links by their words.
fn without_links(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut ends = Occurrences::new(text, ')');
    let mut rest = 0;
    while let Some(middle) = text[rest..].find("](").map(|middle| rest + middle) {
        let start = text[rest..middle].rfind('[').map(|start| rest + start);
        match (start, ends.after(middle)) {
            (Some(start), Some(end)) => {
                plain.push_str(text[rest..start].trim_end_matches('!'));
                plain.push_str(&text[start + 1..middle]);
                rest = end + 1;
            }
            _ => {
                plain.push_str(&text[rest..middle + 2]);
                rest = middle + 2;
            }
        }
    }
    plain + &text[rest..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_become_plain_text() {
        for (text, plain) in [
            ("See \"[Checks](https://example.com/a)\" now.", "See \"Checks\" now."),
            ("![logo](x.png) A [b] (c) [d](e", "logo A [b] (c) [d](e"),
            ("<p>One.</p><p class=\"x\">Two &amp; <b>three</b></p>", "One.\n\nTwo & three"),
            ("a < b, <owner>/<repo>", "a < b, <owner>/<repo>"),
            ("  a  \n\n\n b\u{e0041}\r\n", "a\n\nb"),
        ] {
            assert_eq!(readable(text, 100), plain, "{text}");
        }
        assert_eq!(readable("First sentence. Second one. Third", 30), "First sentence. Second one.");
        assert_eq!(readable("word word word word", 9), "word word…");
    }
}
