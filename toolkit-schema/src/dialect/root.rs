//! Conversion of a tool's parameters to one object schema, as providers require.

use super::node::{Entry, Held, Node, Path};
use super::parse::{DEEPEST, MOST};
use super::remarks::{in_words, sentence};
use super::writer::Writer;
use crate::index::Names;
use serde_json::{Value, json};
use std::rc::Rc;

pub(super) fn object_root<'a>(writer: &mut Writer<'_, 'a>) -> Node<'a> {
    let tree = writer.tree;
    let mut node = Root { writer, active: Vec::new(), left: MOST }.flatten(&tree.root, 0);
    let path = node.path.clone();
    if node.is_never {
        writer.losses.widen(&path, "type", "no arguments are valid, which a tool cannot express");
        node.is_never = false;
    }
    for keyword in ["not", "enum", "const"] {
        let Some(entry) = node.take(keyword) else { continue };
        node.note(&sentence(&writer.remarks(&entry)));
        writer.losses.widen(&entry.path, keyword, "unsupported for parameters; stated in the description");
    }
    if node.types().is_some_and(|names| !names.contains(&"object")) {
        let remark = in_words(&writer.sketch(&node));
        writer.losses.narrow(&path, "type", "the arguments of a tool are an object");
        let description = node.take("description");
        node = Node::new(&path);
        node.entries.extend(description);
        node.note(&sentence(&[format!("meant as {remark}")]));
    }
    node.set_value("type", &path, json!("object"));
    node
}

struct Root<'r, 'w, 'a> {
    writer: &'r mut Writer<'w, 'a>,
    /// The targets that are being merged.
    active: Vec<usize>,
    /// The number of schemas that may still be merged.
    left: usize,
}

impl<'a> Root<'_, '_, 'a> {
    /// Merges references, `allOf` and unions at the top into one object schema.
    fn flatten(&mut self, node: &Node<'a>, depth: usize) -> Node<'a> {
        let mut node = node.clone();
        if depth > DEEPEST || self.left == 0 {
            return node;
        }
        self.left -= 1;
        if let Some(number) = node.reference() {
            node.take("$ref");
            // A reference to itself adds no constraint.
            if let (Some(target), false) = (self.writer.tree.target(number), self.active.contains(&number)) {
                self.active.push(number);
                let target = self.flatten(target, depth + 1);
                self.active.pop();
                node.merge(&target);
            }
        }
        if let Some(Entry { held: Held::Schemas(parts), .. }) = node.take("allOf") {
            for part in parts {
                let part = self.flatten(&part, depth + 1);
                self.merge(&mut node, &part);
            }
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Entry { held: Held::Schemas(branches), path, .. }) = node.take(keyword) {
                let mut objects = Vec::new();
                for branch in &branches {
                    let flat = self.flatten(branch, depth + 1);
                    if flat.types().is_none_or(|names| names.contains(&"object")) && !flat.is_never {
                        objects.push(flat);
                    }
                }
                self.unite(&mut node, keyword, &path, &objects);
            }
        }
        node
    }

    fn merge(&mut self, node: &mut Node<'a>, part: &Node<'a>) {
        let remarks = self.writer.merge_part(node, part);
        if !remarks.is_empty() {
            node.note(&sentence(&remarks));
        }
    }

    /// Merges the branches of a union into one object with all their properties, required if they are in all.
    fn unite(&mut self, node: &mut Node<'a>, keyword: &'static str, path: &Path, branches: &[Node<'a>]) {
        let (first, others) = match branches {
            [] => {
                self.writer.losses.widen(path, keyword, "none of its schemas is that of an object");
                return;
            }
            [only] => return self.merge(node, only),
            [first, others @ ..] => (first, others),
        };
        let reason = "parameters have no unions; those of all its schemas are listed, and the description states \
                      which go together";
        self.writer.losses.widen(path, keyword, reason);
        let mut numbers = Names::default();
        let mut found: Vec<(&'a str, Vec<Rc<Node<'a>>>)> = Vec::new();
        for (name, schema) in branches.iter().flat_map(|branch| branch.named("properties")) {
            let number = numbers.get_or_set((*name).into(), found.len());
            match found.get_mut(number) {
                Some((_, variants)) => variants.push(schema.clone()),
                None => found.push((name, vec![schema.clone()])),
            }
        }
        let mut properties = Vec::with_capacity(found.len());
        for (name, variants) in found {
            // If a branch does not describe the property, only the outer schema's description counts.
            let is_open = variants.len() < branches.len() && node.property(name).is_some();
            let schema = if is_open { Rc::new(Node::new(path)) } else { any_of(variants, path) };
            properties.push((name, schema));
        }
        let mut all = Node::new(path);
        all.set("properties", path, Held::Named(Rc::new(properties)));
        let mut required = first.required();
        for branch in others {
            let names = branch.required();
            required.retain(|name| names.contains(name));
        }
        if !required.is_empty() {
            all.set_value("required", path, json!(required));
        }
        if branches.iter().all(Node::is_closed) {
            all.set("additionalProperties", path, Held::Schema(Rc::new(Node::never(path))));
        }
        self.merge(node, &all);
        let sets: Vec<String> = branches.iter().map(parameters).collect();
        node.note(&format!("The parameters are one of these sets: {}.", sets.join("; or ")));
    }
}

/// Returns the schema of a property in several branches: an `enum` of different constants, or a union.
fn any_of<'a>(found: Vec<Rc<Node<'a>>>, path: &Path) -> Rc<Node<'a>> {
    let mut seen = Names::default();
    let different: Vec<Rc<Node<'a>>> =
        found.into_iter().filter(|schema| seen.add(schema.path.to_string().into())).collect();
    let first = match different.as_slice() {
        [] => return Rc::new(Node::new(path)),
        [only] => return only.clone(),
        [first, ..] => first,
    };
    let mut united = Node::new(path);
    if let Some(values) = constants(&different) {
        united.entries.extend(first.get("type").cloned());
        united.set_value("enum", path, values.into());
    } else {
        united.set("anyOf", path, Held::Schemas(different));
    }
    Rc::new(united)
}

/// Returns the constants of schemas with one type, each once, or `None` unless all are plain constants.
fn constants(schemas: &[Rc<Node<'_>>]) -> Option<Vec<Value>> {
    let kind = schemas.first()?.value("type");
    let mut seen = Names::default();
    let mut values = Vec::new();
    for schema in schemas {
        let is_plain = schema.entries.iter().all(|entry| matches!(entry.keyword, "type" | "const"));
        if !is_plain || schema.value("type") != kind {
            return None;
        }
        let value = schema.value("const")?;
        if seen.add(value.to_string().into()) {
            values.push(value.clone());
        }
    }
    Some(values)
}

/// Lists a branch's properties, with optional ones marked.
fn parameters(branch: &Node<'_>) -> String {
    let required = branch.required();
    let mut names = Vec::new();
    for (name, schema) in branch.named("properties") {
        let value = schema.value("const").map(|value| format!(" {value}")).unwrap_or_default();
        let optional = if required.contains(name) { "" } else { " (optional)" };
        names.push(format!("`{name}`{value}{optional}"));
    }
    let undescribed = required.iter().filter(|name| branch.property(name).is_none());
    names.extend(undescribed.map(|name| format!("`{name}`")));
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
