//! The values of a YAML file.

use crate::config_error::ConfigError;
use crate::node::{Member, Node, Tree};
use saphyr_parser::{Event, Parser, ScalarStyle};

/// Values in values. The programs write three levels.
const DEEPEST: usize = 64;

/// A list or a table that is not complete.
struct Open {
    offset: usize,
    is_table: bool,
    nodes: Vec<Node>,
}

/// Parses a file with one document.
///
/// # Errors
/// [`ConfigError`] if the text is not valid YAML, or has aliases.
pub(crate) fn parse_yaml(text: &str) -> Result<Node, ConfigError> {
    let mut offsets: Vec<usize> = text.char_indices().map(|(offset, _)| offset).collect();
    offsets.push(text.len());
    let mut open: Vec<Open> = Vec::new();
    let mut root = None;
    for parsed in Parser::new_from_str(text) {
        let (event, span) = match parsed {
            Ok(parsed) => parsed,
            Err(error) => {
                let offset = offsets.get(error.marker().index()).copied().unwrap_or(text.len());
                let message = format!("the file is not valid YAML: {}", error.info());
                return Err(ConfigError::at(text, offset, "", message));
            }
        };
        let offset = offsets.get(span.start.index()).copied().unwrap_or(text.len());
        let node = match event {
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                let is_table = matches!(event, Event::MappingStart(..));
                open.push(Open { offset, is_table, nodes: Vec::new() });
                if open.len() > DEEPEST {
                    return Err(ConfigError::at(text, offset, "", "the file is nested too deeply"));
                }
                continue;
            }
            Event::MappingEnd | Event::SequenceEnd => match open.pop() {
                Some(closed) => closed.into_node(),
                None => continue,
            },
            Event::Scalar(value, style, ..) => {
                let is_plain = style == ScalarStyle::Plain;
                Node { offset, tree: if is_plain { plain(&value) } else { Tree::Text(value.into_owned()) } }
            }
            Event::Alias(_) => {
                return Err(ConfigError::at(text, offset, "", "aliases are not supported; write the value"));
            }
            _ => continue,
        };
        match open.last_mut() {
            Some(outer) => outer.nodes.push(node),
            None if root.is_some() => {
                return Err(ConfigError::at(text, offset, "", "the file has several documents; keep one"));
            }
            None => root = Some(node),
        }
    }
    Ok(root.unwrap_or(Node { offset: 0, tree: Tree::Table(Vec::new()) }))
}

impl Open {
    /// The nodes of a table are its keys and values in turn.
    fn into_node(self) -> Node {
        let Self { offset, is_table, nodes } = self;
        if !is_table {
            return Node { offset, tree: Tree::List(nodes) };
        }
        let mut members = Vec::new();
        let mut rest = nodes.into_iter();
        while let (Some(key), Some(value)) = (rest.next(), rest.next()) {
            members.push(Member { key: key.text().unwrap_or_default(), offset: key.offset, value });
        }
        Node { offset, tree: Tree::Table(members) }
    }
}

fn plain(text: &str) -> Tree {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Tree::Null,
        "true" | "True" | "TRUE" => Tree::Flag(true),
        "false" | "False" | "FALSE" => Tree::Flag(false),
        _ if text.parse::<f64>().is_ok() && text.contains(|c: char| c.is_ascii_digit()) => {
            Tree::Number(text.to_owned())
        }
        _ => Tree::Text(text.to_owned()),
    }
}

/// Returns a text in double quotes.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            _ if c.is_control() || ('\u{2028}'..='\u{2029}').contains(&c) || c == '\u{feff}' => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
