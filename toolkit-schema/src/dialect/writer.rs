//! Writing a schema in full, for models that read it and are not held to it.

use super::losses::Losses;
use super::merge::merge_open;
use super::node::{Entry, Form, Held, Node, Path};
use super::normal::{Tree, budget};
use super::refs::{DEEPEST, Refs};
use super::remarks::{in_words, of_schemas, remarks};
use crate::reference::escape;
use serde_json::{Map, Value, json};
use std::rc::Rc;

/// Schemas that a sketch holds at most.
const SKETCHED: usize = 64;

/// Writes the schemas of a tree.
pub(super) struct Writer<'w, 'a> {
    pub(super) tree: &'w Tree<'a>,
    refs: &'w Refs<'a>,
    pub(super) losses: Losses,
    /// The number of schemas that may still be written or merged.
    pub(super) left: usize,
    /// The targets of written references, in their order.
    used: Vec<usize>,
}

impl<'w, 'a> Writer<'w, 'a> {
    pub(super) fn new(tree: &'w Tree<'a>, refs: &'w Refs<'a>, losses: Losses) -> Self {
        Self { tree, refs, losses, left: budget(refs.size), used: Vec::new() }
    }

    /// Writes a root with the definitions that it needs. `demands` as in [`schema`](Self::schema).
    pub(super) fn document(&mut self, root: &Node<'a>, demands: bool) -> Value {
        let mut schema = self.schema(root, 0, demands);
        let mut definitions = Map::new();
        while let Some((name, node)) = self.definition(definitions.len()) {
            definitions.insert(name.to_owned(), self.schema(node, 0, demands));
        }
        if let (Value::Object(schema), false) = (&mut schema, definitions.is_empty()) {
            schema.insert("$defs".to_owned(), definitions.into());
        }
        schema
    }

    /// Writes a schema. `demands` says whether a value must be valid against it for the whole to be valid.
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

    /// Returns the names of `required` that are properties; `None` if no name is left, because older drafts
    /// forbid an empty list.
    fn required(&mut self, node: &Node<'a>, demands: bool) -> Option<Value> {
        let mut required = node.required();
        if demands && node.has("properties") {
            let before = required.len();
            required.retain(|name| node.property(name).is_some());
            if required.len() < before {
                self.losses.widen(&node.path, "required", "it names no property");
            }
        }
        (!required.is_empty()).then(|| json!(required))
    }

    /// Writes a reference, and remembers that its target is needed.
    pub(super) fn reference(&mut self, number: usize) -> String {
        let target = self.refs.target(number).filter(|target| !target.path.is_empty());
        let Some(target) = target else { return "#".to_owned() };
        if !self.used.contains(&number) {
            self.used.push(number);
        }
        format!("#/$defs/{}", escape(&target.name))
    }

    /// Returns the `index`th target of the written references, with its name.
    pub(super) fn definition(&self, index: usize) -> Option<(&'w str, &'w Rc<Node<'a>>)> {
        let number = self.used.get(index)?;
        Some((&self.refs.target(*number)?.name, self.tree.targets.get(number)?))
    }

    /// Writes a schema as it is, for a remark.
    pub(super) fn sketch(&self, node: &Node<'a>) -> Value {
        self.small().schema(node, 0, false)
    }

    /// Writes a schema, or the target of a reference, with the definitions that it needs.
    pub(super) fn excerpt(&self, node: &'w Node<'a>) -> Value {
        let target = node.reference().and_then(|target| self.tree.targets.get(&target));
        self.small().document(target.map_or(node, |target| target), false)
    }

    fn small(&self) -> Self {
        Self { left: SKETCHED, ..Self::new(self.tree, self.refs, Losses::default()) }
    }

    /// Returns the demand of an entry in words.
    pub(super) fn remarks(&self, entry: &Entry<'a>) -> Vec<String> {
        remarks(entry.keyword, &entry.held, |node| self.sketch(node))
    }

    /// Merges a part of an `allOf` into its schema. Returns a remark on the rest, if not all merges.
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
