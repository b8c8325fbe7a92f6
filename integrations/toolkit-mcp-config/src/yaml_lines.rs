//! Edits of a YAML file by lines: a key, with all that is below it.
//!
//! A file in another form, such as a table on one line, is not edited: `None`.

use crate::node::{Member, Node};
use crate::written_entry::Written;
use crate::yaml_node::{parse_yaml, quoted};
use std::ops::Range;

/// Writes the members of an entry over `old`, the value of an entry of its name.
pub(crate) fn write_members(
    text: &str,
    path: [&str; 2],
    members: &[(&'static str, Written)],
    removed: &[String],
    old: Option<&Node>,
) -> Option<String> {
    let [container, name] = path;
    let mut edited = text.to_owned();
    for key in removed {
        edited = remove(&edited, &[container, name, key])?;
    }
    for (key, value) in members {
        let of_before = old.and_then(|old| old.get(key));
        if of_before.is_some_and(|node| value.is(node)) {
            continue;
        }
        let Written::Table(table) = value else {
            edited = set(&edited, &[container, name, key], &value.yaml())?;
            continue;
        };
        for member in of_before.and_then(Node::members).unwrap_or_default() {
            match table.get(&member.key) {
                Some(text) if member.value.text().as_ref() == Some(text) => {}
                Some(text) => edited = set(&edited, &[container, name, key, &member.key], &quoted(text))?,
                None => edited = remove(&edited, &[container, name, key, &member.key])?,
            }
        }
        for (inner, text) in table {
            if of_before.is_none_or(|known| known.get(inner).is_none()) {
                edited = set(&edited, &[container, name, key, inner], &quoted(text))?;
            }
        }
    }
    let (before, after) = (parse_yaml(text).ok()?, parse_yaml(&edited).ok()?);
    let entry = after.get(container)?.get(name)?;
    for (key, value) in members {
        if !value.is(entry.get(key)?) {
            return None;
        }
    }
    if is_same_beside(&before, &after, &path) { Some(edited) } else { None }
}

/// Removes an entry.
pub(crate) fn remove_entry_lines(text: &str, path: [&str; 2]) -> Option<String> {
    let rest = remove(text, &path)?;
    if is_same_beside(&parse_yaml(text).ok()?, &parse_yaml(&rest).ok()?, &path) { Some(rest) } else { None }
}

/// Returns whether two tables differ only at a path.
fn is_same_beside(before: &Node, after: &Node, path: &[&str]) -> bool {
    let Some((name, rest)) = path.split_first() else { return true };
    for [of, other] in [[before, after], [after, before]] {
        for Member { key, value, .. } in of.members().unwrap_or_default() {
            if key == name || value.is_null() {
                continue;
            }
            match other.get(key) {
                Some(same) if same.is_same(value) => {}
                _ => return false,
            }
        }
    }
    match (before.get(name), after.get(name)) {
        (Some(before), Some(after)) => is_same_beside(before, after, rest),
        _ => true,
    }
}

/// Sets the value of a path. Tables on the way are made.
fn set(text: &str, path: &[&str], value: &str) -> Option<String> {
    let root = parse_yaml(text).ok()?;
    let mut table = &root;
    let mut rest = path;
    let mut last = None;
    while let [key, deeper @ ..] = rest {
        let Some(member) = table.members().unwrap_or_default().iter().rfind(|member| member.key == *key)
        else {
            break;
        };
        last = Some(member);
        if deeper.is_empty() || member.value.is_off() {
            // The value of this key is replaced by all that is below it.
            let lines = lines_of(text, member)?;
            return Some(replaced(text, lines.clone(), &nested(rest, value, indent(text, &lines))));
        }
        (table, rest) = (&member.value, deeper);
    }
    let members = table.members()?;
    match (members.last(), last) {
        (Some(sibling), _) => {
            let lines = lines_of(text, sibling)?;
            let new = nested(rest, value, indent(text, &lines));
            Some(replaced(text, lines.end..lines.end, &new))
        }
        (None, Some(_)) => None,
        (None, None) => Some(replaced(text, text.len()..text.len(), &nested(rest, value, 0))),
    }
}

/// Removes a key. A table without keys is `{}`.
fn remove(text: &str, path: &[&str]) -> Option<String> {
    let root = parse_yaml(text).ok()?;
    let (name, above) = path.split_last()?;
    let mut table = &root;
    for key in above {
        table = table.get(key)?;
    }
    let members = table.members()?;
    if members.len() == 1 && !above.is_empty() {
        return set(text, above, "{}");
    }
    let lines = lines_of(text, members.iter().rfind(|member| member.key == *name)?)?;
    Some(replaced(text, lines, &[]))
}

/// Returns the lines of a key in a block, as bytes. Comments below it belong to what follows.
fn lines_of(text: &str, member: &Member) -> Option<Range<usize>> {
    let start = text[..member.offset].rfind('\n').map_or(0, |at| at + 1);
    let own = member.offset - start;
    if !text[start..member.offset].trim_start_matches('\u{feff}').trim_matches(' ').is_empty() {
        return None;
    }
    let (mut end, mut at) = (start, start);
    for line in text[start..].split_inclusive('\n') {
        let content = line.trim_start_matches(' ');
        let depth = line.len() - content.len();
        let is_text = !content.trim().is_empty() && !content.starts_with('#');
        // The items of a list may stand below the first letter of its key.
        let is_item = depth == own && (content.starts_with("- ") || content.trim_end() == "-");
        if at > start && is_text && depth <= own && !is_item {
            break;
        }
        at += line.len();
        if is_text {
            end = at;
        }
    }
    Some(start..end)
}

fn indent(text: &str, lines: &Range<usize>) -> usize {
    let line = &text[lines.clone()];
    line.len() - line.trim_start_matches(' ').len()
}

/// Returns the lines of keys, each below the one before, and the value of the last.
fn nested(keys: &[&str], value: &str, indent: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for (depth, key) in keys.iter().enumerate() {
        let value = if depth + 1 == keys.len() { format!(" {value}") } else { String::new() };
        let is_word = key.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
            && key.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
        let key = if is_word { (*key).to_owned() } else { quoted(key) };
        lines.push(format!("{}{key}:{value}", " ".repeat(indent + 2 * depth)));
    }
    lines
}

/// Replaces lines. A comment beside a value on one line stays.
fn replaced(text: &str, range: Range<usize>, new: &[String]) -> String {
    let (before, old, after) = (&text[..range.start], &text[range.clone()], &text[range.end..]);
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut edited = before.to_owned();
    if !before.is_empty() && !before.ends_with('\n') && !new.is_empty() {
        edited.push_str(line_end);
    }
    for (at, line) in new.iter().enumerate() {
        edited.push_str(line);
        if at == 0
            && old.trim_end().lines().count() == 1
            && let Some((_, comment)) = old.trim_end().rsplit_once(" #")
        {
            edited.push_str(&format!(" #{comment}"));
        }
        edited.push_str(line_end);
    }
    edited.push_str(after);
    edited
}
