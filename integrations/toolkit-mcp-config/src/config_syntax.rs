//! The text of a file: JSON with comments, TOML or YAML.

use crate::config_error::ConfigError;
use crate::node::{Member, Node, Tree};
use crate::yaml_node::parse_yaml;
use jsonc_parser::ast::{ObjectProp, ObjectPropName, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use std::ops::Range;
use toml_edit::{Document, Item, TableLike};

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
