//! The values of a file, read from JSON with comments or from TOML.

use crate::config_error::ConfigError;
use crate::yaml_node::parse_yaml;
use jsonc_parser::ast::{ObjectProp, ObjectPropName, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use std::ops::Range;
use toml_edit::{Document, Item, TableLike};

/// A value with its byte offset in the file.
pub(crate) struct Node {
    pub(crate) offset: usize,
    pub(crate) tree: Tree,
}

pub(crate) enum Tree {
    Null,
    Flag(bool),
    /// As it is written.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Table(Vec<Member>),
}

pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) offset: usize,
    pub(crate) value: Node,
}

impl Node {
    pub(crate) fn kind(&self) -> &'static str {
        match self.tree {
            Tree::Null => "null",
            Tree::Flag(_) => "a boolean",
            Tree::Number(_) => "a number",
            Tree::Text(_) => "a string",
            Tree::List(_) => "a list",
            Tree::Table(_) => "an object",
        }
    }

    pub(crate) fn members(&self) -> Option<&[Member]> {
        match &self.tree {
            Tree::Table(members) => Some(members),
            _ => None,
        }
    }

    pub(crate) fn items(&self) -> Option<&[Self]> {
        match &self.tree {
            Tree::List(items) => Some(items),
            _ => None,
        }
    }

    /// Numbers and booleans count as strings.
    pub(crate) fn text(&self) -> Option<String> {
        match &self.tree {
            Tree::Text(text) | Tree::Number(text) => Some(text.clone()),
            Tree::Flag(flag) => Some(flag.to_string()),
            _ => None,
        }
    }

    pub(crate) fn flag(&self) -> Option<bool> {
        match self.tree {
            Tree::Flag(flag) => Some(flag),
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.tree, Tree::Null)
    }

    /// Returns `true` for `false`, null, and nothing at all.
    pub(crate) fn is_off(&self) -> bool {
        match &self.tree {
            Tree::Null | Tree::Flag(false) => true,
            Tree::Text(text) => text.is_empty(),
            Tree::List(items) => items.is_empty(),
            Tree::Table(members) => members.is_empty(),
            Tree::Flag(true) | Tree::Number(_) => false,
        }
    }

    /// Returns the value behind a path of keys, such as `mcp/servers`; `.` is the value itself.
    pub(crate) fn at(&self, path: &str) -> Option<&Self> {
        let mut node = self;
        for key in path.split('/') {
            if key != "." {
                node = node.get(key)?;
            }
        }
        Some(node)
    }

    /// Returns whether both have the same values, in the same order.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (&self.tree, &other.tree) {
            (Tree::List(own), Tree::List(items)) => {
                own.len() == items.len() && own.iter().zip(items).all(|(own, item)| own.is_same(item))
            }
            (Tree::Table(own), Tree::Table(members)) => {
                let is_same = |(own, member): (&Member, &Member)| {
                    own.key == member.key && own.value.is_same(&member.value)
                };
                own.len() == members.len() && own.iter().zip(members).all(is_same)
            }
            (Tree::Null, Tree::Null) => true,
            _ => self.kind() == other.kind() && self.text() == other.text() && self.text().is_some(),
        }
    }

    /// Null is no value.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        let found = self.members()?.iter().rfind(|member| member.key == key)?;
        if found.value.is_null() { None } else { Some(&found.value) }
    }
}

/// Returns the members with a value, each with whether a later one replaces it.
pub(crate) fn members_with_value(members: &[Member]) -> Vec<(bool, &Member)> {
    let mut with_value = Vec::new();
    for (at, member) in members.iter().enumerate() {
        if !member.value.is_null() {
            let is_replaced = members[at + 1..].iter().any(|later| later.key == member.key);
            with_value.push((is_replaced, member));
        }
    }
    with_value
}

/// Parses JSON with comments, or TOML or YAML, whose first keys end with `=` and `:`.
///
/// # Errors
/// [`ConfigError`] if the text is nothing of these.
pub(crate) fn parse(text: &str) -> Result<Node, ConfigError> {
    if text.trim_start().starts_with(['{', '/']) {
        return parse_json(text);
    }
    for line in text.lines().map(str::trim) {
        let end_of_key = line.find(['=', ':']).map(|at| &line[at..]);
        if line == "---" || (!line.starts_with('[') && end_of_key.is_some_and(|rest| rest.starts_with(':'))) {
            return parse_yaml(text);
        }
        if !line.is_empty() && !line.starts_with('#') {
            break;
        }
    }
    match Document::parse(text) {
        Ok(document) => Ok(Node { offset: 0, tree: toml_table(document.as_table()) }),
        Err(error) => {
            let message = format!("the file is neither a JSON object nor valid TOML: {}", error.message());
            Err(ConfigError::at(text, error.span().unwrap_or_default().start, "", message))
        }
    }
}

fn parse_json(text: &str) -> Result<Node, ConfigError> {
    match parse_to_ast(text, &CollectOptions::default(), &options()) {
        Ok(parsed) => {
            parsed.value.map(json).ok_or_else(|| ConfigError::at(text, 0, "", "the file has no value"))
        }
        Err(error) => {
            let message = format!("the file is not valid JSON: {}", error.kind());
            Err(ConfigError::at(text, error.range().start, "", message))
        }
    }
}

/// Allows the extensions of the parser, but no missing comma.
pub(crate) fn options() -> ParseOptions {
    ParseOptions { allow_missing_commas: false, ..ParseOptions::default() }
}

fn json(value: Value<'_>) -> Node {
    let offset = value.start();
    let tree = match value {
        Value::StringLit(text) => Tree::Text(text.value.into_owned()),
        Value::NumberLit(number) => Tree::Number(number.value.to_owned()),
        Value::BooleanLit(flag) => Tree::Flag(flag.value),
        Value::Object(object) => Tree::Table(object.properties.into_iter().map(json_member).collect()),
        Value::Array(array) => Tree::List(array.elements.into_iter().map(json).collect()),
        Value::NullKeyword(_) => Tree::Null,
    };
    Node { offset, tree }
}

fn json_member(property: ObjectProp<'_>) -> Member {
    Member {
        offset: property.start(),
        key: match property.name {
            ObjectPropName::String(name) => name.value.into_owned(),
            ObjectPropName::Word(name) => name.value.to_owned(),
        },
        value: json(property.value),
    }
}

fn start(span: Option<Range<usize>>, otherwise: usize) -> usize {
    span.map_or(otherwise, |span| span.start)
}

fn toml_table(table: &dyn TableLike) -> Tree {
    let mut members = Vec::new();
    for (key, item) in table.iter() {
        let offset = start(table.get_key_value(key).and_then(|(key, _)| key.span()), 0);
        members.push(Member { key: key.to_owned(), offset, value: toml_item(item, offset) });
    }
    Tree::Table(members)
}

/// A table without a header of its own is at the place of its key.
fn toml_item(item: &Item, offset_of_key: usize) -> Node {
    let offset = start(item.span(), offset_of_key);
    let tree = match item {
        Item::None => Tree::Null,
        Item::Value(value) => return toml_value(value, offset),
        Item::Table(table) => toml_table(table),
        Item::ArrayOfTables(tables) => {
            Tree::List(tables.iter().map(|table| Node { offset, tree: toml_table(table) }).collect())
        }
    };
    Node { offset, tree }
}

fn toml_value(value: &toml_edit::Value, offset_of_key: usize) -> Node {
    let offset = start(value.span(), offset_of_key);
    let tree = match value {
        toml_edit::Value::String(text) => Tree::Text(text.value().clone()),
        toml_edit::Value::Integer(number) => Tree::Number(number.value().to_string()),
        toml_edit::Value::Float(number) => Tree::Number(number.value().to_string()),
        toml_edit::Value::Boolean(flag) => Tree::Flag(*flag.value()),
        toml_edit::Value::Datetime(time) => Tree::Text(time.value().to_string()),
        toml_edit::Value::Array(items) => {
            Tree::List(items.iter().map(|item| toml_value(item, offset)).collect())
        }
        toml_edit::Value::InlineTable(table) => toml_table(table),
    };
    Node { offset, tree }
}
