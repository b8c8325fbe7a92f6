//! Conversion of a normalised schema back to full JSON Schema, for dialects without `strict`.

use super::losses::Losses;
use super::merge::merge_open;
use super::node::{Entry, Form, Held, Node, Path};
use super::normal::{Tree, budget};
use super::refs::{DEEPEST, Refs};
use super::remarks::{in_words, of_schemas, remarks};
use crate::reference::escape;
use serde_json::{Map, Value, json};
use std::rc::Rc;

/// The maximum number of schemas in a sketch: a small copy of a schema for a remark.
const SKETCHED: usize = 64;

/// A writer for normalised schemas in full JSON Schema.
pub(super) struct Writer<'w, 'a> {
    pub(super) tree: &'w Tree<'a>,
    refs: &'w Refs<'a>,
    pub(super) losses: Losses,
    /// The remaining number of schemas to write or merge before the schema counts as too large.
    pub(super) left: usize,
    /// The targets of written references, in the order of first use.
    used: Vec<usize>,
}

impl<'w, 'a> Writer<'w, 'a> {
    pub(super) fn new(tree: &'w Tree<'a>, refs: &'w Refs<'a>, losses: Losses) -> Self {
        Self { tree, refs, losses, left: budget(refs.size), used: Vec::new() }
    }

    /// Writes a root schema, together with the definitions of all references in it. See
    /// [`schema`](Self::schema) for the meaning of `demands`.
    pub(super) fn document(&mut self, root: &Node<'a>, demands: bool) -> Value {
        let mut schema = self.schema(root, 0, demands);
        let mut definitions = Map::new();
        while let Some((name, node)) = self.definition(definitions.len()) {
            // A schema beside the reference may describe the properties that a definition requires.
            definitions.insert(name.to_owned(), self.schema(node, 0, false));
        }
        if let (Value::Object(schema), false) = (&mut schema, definitions.is_empty()) {
            schema.insert("$defs".to_owned(), definitions.into());
        }
        schema
    }

    /// Writes a schema.
    ///
    /// `demands` is `true` if every valid value must satisfy this schema. It is `false` inside `not` and
    /// `anyOf`, for example.
    fn schema(&mut self, node: &Node<'a>, depth: usize, demands: bool) -> Value {
        match node.form {
            Form::False => return Value::Bool(false),
            Form::True => return Value::Bool(true),
            Form::Object => {}
        }
        if self.left == 0 || depth > 2 * DEEPEST {
            self.left = 0;
            self.losses.widen(&node.path, "type", "the schema is too large, and cut off here");
            return json!({});
        }
        self.left -= 1;
        let mut schema = Map::new();
        for Entry { keyword, held, .. } in &node.entries {
            let demands = demands
                && !matches!(
                    *keyword,
                    "not" | "if" | "then" | "else" | "contains" | "anyOf" | "oneOf" | "dependentSchemas"
                );
            let mut write = |inside: &Node<'a>| self.schema(inside, depth + 1, demands);
            let value = match held {
                Held::Value(_) if *keyword == "required" => {
                    let Some(required) = self.required(node, demands) else { continue };
                    required
                }
                Held::Value(value) => value.clone().into_owned(),
                Held::Schema(inside) => write(inside),
                Held::Schemas(list) => list.iter().map(|inside| write(inside)).collect(),
                Held::Named(named) => named.iter().map(|(name, inside)| (*name, write(inside))).collect(),
                Held::Reference(target) => self.reference(*target).into(),
            };
            schema.insert((*keyword).to_owned(), value);
        }
        schema.into()
    }

    /// Returns the value of `required`, or `None` if there are no names, because older drafts forbid an empty
    /// list.
    ///
    /// If `demands` is `true` and the schema has properties, names without a property are dropped. If the
    /// schema has `$ref` or `allOf`, all names stay, because the schemas there may describe these properties.
    fn required(&mut self, node: &Node<'a>, demands: bool) -> Option<Value> {
        let mut required = node.required();
        if demands && node.has("properties") && !node.has("$ref") && !node.has("allOf") {
            let before = required.len();
            required.retain(|name| node.property(name).is_some());
            if required.len() < before {
                self.losses.widen(&node.path, "required", "it names no property");
            }
        }
        (!required.is_empty()).then(|| json!(required))
    }

    /// Returns the `$ref` string for the target with the index `number`, and marks the target as used.
    pub(super) fn reference(&mut self, number: usize) -> String {
        let target = self.refs.target(number).filter(|target| !target.path.is_empty());
        let Some(target) = target else { return "#".to_owned() };
        if !self.used.contains(&number) {
            self.used.push(number);
        }
        format!("#/$defs/{}", escape(&target.name))
    }

    /// Returns the name and the schema of a used target. `index` counts the targets in the order of first
    /// use.
    pub(super) fn definition(&self, index: usize) -> Option<(&'w str, &'w Rc<Node<'a>>)> {
        let number = self.used.get(index)?;
        Some((&self.refs.target(*number)?.name, self.tree.targets.get(number)?))
    }

    /// Writes a schema for use in a remark, without reporting losses.
    pub(super) fn sketch(&self, node: &Node<'a>) -> Value {
        self.small().schema(node, 0, false)
    }

    /// Writes a schema, together with the definitions of all references in it. If the schema itself is only a
    /// reference, its target is written.
    pub(super) fn excerpt(&self, node: &'w Node<'a>) -> Value {
        let target = node.reference().and_then(|target| self.tree.targets.get(&target));
        self.small().document(target.map_or(node, |target| target), false)
    }

    fn small(&self) -> Self {
        Self { left: SKETCHED, ..Self::new(self.tree, self.refs, Losses::default()) }
    }

    /// Returns remarks on the constraint set by a keyword, for the description.
    pub(super) fn remarks(&self, entry: &Entry<'a>) -> Vec<String> {
        remarks(entry.keyword, &entry.held, |node| self.sketch(node))
    }

    /// Merges a part of an `allOf` into the schema around it. If some constraints cannot be merged, also
    /// returns a remark on these constraints.
    pub(super) fn merge_part(
        &mut self,
        node: &Node<'a>,
        part: &Node<'a>,
        path: &Path,
    ) -> (Node<'a>, Option<String>) {
        let (mut merged, opened) = merge_open(node, part, &mut self.left);
        if opened {
            let reason = "its schemas forbid each other's properties; each may have them all instead";
            self.losses.widen(path, "allOf", reason);
        }
        let Some(Entry { held: Held::Schemas(apart), .. }) = merged.take("allOf") else {
            return (merged, None);
        };
        let apart: Vec<String> = apart.iter().map(|node| in_words(&self.sketch(node))).collect();
        self.losses.widen(path, "allOf", "its schemas do not merge; the description states the rest");
        (merged, of_schemas("allOf", &apart))
    }
}
