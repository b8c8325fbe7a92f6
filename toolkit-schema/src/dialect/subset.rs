//! Conversion of a parsed schema to a provider's subset.

use super::node::{Entry, Held, Node, join_lines};
use super::parse::{DEEPEST, TOO_LARGE};
use super::remarks::sentence;
use super::rules::Rules;
use super::unions::{Written, are_disjoint};
use super::writer::Writer;
use crate::keyword::Keyword;
use crate::keywords::Keywords;
use serde_json::{Map, Value, json};

/// The keywords that apply to values of all types.
const GENERAL: &[&str] = &["type", "enum", "const", "anyOf", "oneOf", "$ref"];

pub(super) struct Subset<'s, 'w, 'a> {
    pub(super) rules: &'static Rules,
    pub(super) writer: &'s mut Writer<'w, 'a>,
}

impl<'a> Subset<'_, '_, 'a> {
    /// Writes the root with the definitions that it needs.
    pub(super) fn document(&mut self, root: &Node<'a>) -> Value {
        let mut schema = match self.write(root, 0) {
            Some(Written { schema: Some(schema), .. }) => schema,
            _ => Map::new(),
        };
        let mut definitions = Map::new();
        while let Some((name, node)) = self.writer.definition(definitions.len()) {
            let definition = match self.schema(node, 1, false) {
                Some(definition) => definition,
                None => {
                    let reason = "no value is valid, which the provider cannot express";
                    self.writer.losses.widen(&node.path, "type", reason);
                    json!({"type": "string", "enum": ["none"]})
                }
            };
            definitions.set(name, definition);
        }
        if !definitions.is_empty() {
            schema.set("$defs", definitions.into());
        }
        schema.into()
    }

    /// Writes a schema, with `null` if `nullable`, or returns `None` if no value is valid.
    pub(super) fn schema(&mut self, node: &Node<'a>, depth: usize, nullable: bool) -> Option<Value> {
        let mut written = self.write(node, depth)?;
        if nullable {
            written.null.get_or_insert_default();
        }
        Some(written.complete(self.rules.nulls))
    }

    /// Writes a schema and leaves open how it allows `null`, or returns `None` if no value is valid.
    ///
    /// `depth` is 0 for the root.
    pub(super) fn write(&mut self, node: &Node<'a>, depth: usize) -> Option<Written> {
        if node.is_never {
            return None;
        }
        if depth > DEEPEST || self.writer.left == 0 {
            self.writer.losses.narrow(&node.path, "type", TOO_LARGE);
            return Some(Map::only("type", "string".into()).into());
        }
        self.writer.left -= 1;
        let mut notes = Vec::new();
        let mut node = node.clone();
        if let Some(Entry { held: Held::Schemas(parts), .. }) = node.take("allOf") {
            for part in parts {
                notes.extend(self.writer.merge_part(&mut node, &part));
            }
        }
        if node.is_never {
            return None;
        }
        let title = node.take_value("title");
        let description = node.take_value("description");
        let is_nullable = node.take_value("nullable") == Some(Value::Bool(true));
        let mut default = node.take("default");
        if !self.rules.default
            && let Some(default) = default.take()
        {
            self.move_to_notes(&default, &mut notes);
        }
        for entry in std::mem::take(&mut node.entries) {
            if has_place(entry.keyword) {
                node.entries.push(entry);
            } else {
                self.move_to_notes(&entry, &mut notes);
            }
        }
        let mut written = if let Some(target) = node.reference() {
            // The subset allows no keyword next to `$ref`.
            node.take("$ref");
            for entry in &node.entries {
                self.move_to_notes(entry, &mut notes);
            }
            Map::only("$ref", self.writer.reference(target).into()).into()
        } else if node.has("anyOf") || node.has("oneOf") {
            self.union(node, depth)?
        } else {
            self.typed(node, depth)?
        };
        if is_nullable {
            written.null.get_or_insert_default();
        }
        let (Written { schema: Some(annotated), .. } | Written { null: Some(annotated), .. }) = &mut written
        else {
            return Some(written);
        };
        annotate(annotated, title, description, &notes);
        if let Some(Entry { held: Held::Value(value), .. }) = default {
            annotated.set("default", value.into_owned());
        }
        Some(written)
    }

    /// Describes an unsupported keyword in `notes` and reports the loss, if it has any effect.
    pub(super) fn move_to_notes(&mut self, entry: &Entry<'a>, notes: &mut Vec<String>) {
        let keyword = entry.keyword;
        if let Held::Value(value) = &entry.held {
            let is_idle = match keyword {
                "default" => value.is_null(),
                "const" => false,
                _ => **value == false,
            };
            if is_idle {
                return;
            }
        }
        let remarks = self.writer.remarks(entry);
        let reason = if remarks.is_empty() {
            "unsupported by the provider"
        } else {
            "unsupported by the provider; stated in the description"
        };
        notes.extend(remarks);
        self.writer.losses.widen(&entry.path, keyword, reason);
    }

    /// Writes a union, with the other keywords merged into each branch.
    fn union(&mut self, mut node: Node<'a>, depth: usize) -> Option<Written> {
        let keyword = if node.has("anyOf") { "anyOf" } else { "oneOf" };
        let Some(Entry { held: Held::Schemas(branches), path, .. }) = node.take(keyword) else { return None };
        let tree = self.writer.tree;
        if keyword == "oneOf" && !are_disjoint(branches.iter().map(|branch| tree.resolved(branch))) {
            self.writer.losses.widen(&path, keyword, "a value may be valid against several of its schemas");
        }
        let mut written = Vec::new();
        for branch in &branches {
            let mut merged = Node::clone(branch);
            merged.merge(&node);
            written.extend(self.write(&merged, depth + 1));
        }
        Written::any_of(written)
    }

    pub(super) fn is_any(node: &Node<'a>) -> bool {
        !node.is_never && node.entries.iter().all(|entry| Keyword::is_annotation(entry.keyword))
    }
}

fn has_place(keyword: &str) -> bool {
    GENERAL.contains(&keyword) || Keyword::find(keyword).is_some_and(|it| !it.types.is_empty())
}

/// Adds title, description and notes after `type`.
fn annotate(
    schema: &mut Map<String, Value>,
    title: Option<Value>,
    description: Option<Value>,
    notes: &[String],
) {
    let outer = description.as_ref().and_then(Value::as_str);
    let written = schema.shift_remove("description");
    let inner = written.as_ref().and_then(Value::as_str).unwrap_or_default();
    let all_lines = join_lines(Some(&join_lines(outer, inner)), &sentence(notes));
    if title.is_none() && all_lines.is_empty() {
        return;
    }
    if schema.contains_key("$ref") {
        // The subset allows no keyword next to `$ref`, which moves into a union.
        let alone = Value::Object(std::mem::take(schema));
        *schema = Map::only("anyOf", vec![alone].into());
    }
    let mut annotated = Map::new();
    if let Some(kind) = schema.shift_remove("type") {
        annotated.set("type", kind);
    }
    if let Some(title) = title {
        annotated.set("title", title);
    }
    if !all_lines.is_empty() {
        annotated.set("description", all_lines.into());
    }
    annotated.append(schema);
    *schema = annotated;
}
