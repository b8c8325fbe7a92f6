//! Descriptions from elsewhere.

use super::{Note, ToolIssueKind, clean, hides_text};

/// Returns a description without invisible characters and with at most `limit` characters.
pub fn description(text: &str, limit: usize, notes: &mut Vec<Note>) -> String {
    let mut clean = clean(text);
    if hides_text(text) {
        let message = "has invisible characters in its description, which were removed";
        notes.push((ToolIssueKind::Description, message.to_owned()));
    }
    let length = clean.chars().count();
    if length > limit {
        clean = shorten(clean, limit);
        let message = format!("has a description of {length} characters, which was cut to {limit}");
        notes.push((ToolIssueKind::Description, message));
    }
    clean
}

/// Returns the text, cut to at most `limit` characters.
#[must_use]
pub fn shorten(mut text: String, limit: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(limit) {
        text.truncate(end);
        text.push('…');
    }
    text
}
