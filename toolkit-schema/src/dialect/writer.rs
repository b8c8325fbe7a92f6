//! Writes a normalised schema as full JSON Schema, for dialects without `strict`.

use super::losses::Losses;
use super::merge::merge_open;
use super::node::{Entry, Form, Held, Node, Path};
use super::normal::{Tree, budget};
use super::refs::{DEEPEST, Refs};
use super::remarks::{in_words, of_schemas, remarks};
use super::rules::Needed;
use crate::keyword::takes_boolean;
use crate::reference::escape;
use crate::types::types;
use serde_json::{Map, Value, json};
use std::rc::Rc;

/// The maximum number of schemas in a sketch, which is a small copy of a schema for a remark in a description.
const SKETCHED: usize = 64;

/// Writes normalised schemas as full JSON Schema.
pub(super) struct Writer<'w, 'a> {
    pub(super) tree: &'w Tree<'a>,
    refs: &'w Refs<'a>,
    pub(super) losses: Losses,
    /// The remaining number of schemas to write or merge. At 0, the schema is too large.
    pub(super) left: usize,
    /// The keywords that a type needs.
    needed: &'static [Needed],
    /// The targets of references in the written schema, in the order of first use.
    used: Vec<usize>,
}

impl<'w, 'a> Writer<'w, 'a> {
    pub(super) fn new(
        tree: &'w Tree<'a>,
        refs: &'w Refs<'a>,
        losses: Losses,
        needed: &'static [Needed],
    ) -> Self {
        Self { tree, refs, losses, left: budget(refs.size), needed, used: Vec::new() }
    }

    /// Writes a root schema, together with the definitions that its references need.
    ///
    /// The parameter `demands` has the same meaning as in [`schema`](Self::schema).
    pub(super) fn document(&mut self, root: &Node<'a>, demands: bool) -> Value {
        let mut schema = self.schema(root, 0, demands);
        let mut definitions = Map::new();
        while let Some((name, node)) = self.definition(definitions.len()) {
            // A schema with a reference to the definition may describe the properties that the definition requires.
            definitions.insert(name.to_owned(), self.schema(node, 0, false));
        }
        if let (Value::Object(schema), false) = (&mut schema, definitions.is_empty()) {
            schema.insert("$defs".to_owned(), definitions.into());
        }
        schema
    }

    /// Writes a schema as full JSON Schema.
    ///
    /// `demands` is `true` if every valid value must satisfy this schema. It is `false` inside `not` and `anyOf`, for
    /// example.
    fn schema(&mut self, node: &Node<'a>, depth: usize, demands: bool) -> Value {
        match node.form {
            Form::False => return json!({"not": {}}),
            Form::True => return json!({}),
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
            if *keyword == "unevaluatedItems" && !self.needed.is_empty() && !node.has("items") {
                let reason = "without effect beside `items`, which the provider needs";
                self.losses.widen(&node.path, keyword, reason);
                continue;
            }
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
                Held::Schema(inside) if inside.form != Form::Object && takes_boolean(keyword) => {
                    (inside.form == Form::True).into()
                }
                Held::Schema(inside) => write(inside),
                Held::Schemas(list) => list.iter().map(|inside| write(inside)).collect(),
                Held::Named(named) => named.iter().map(|(name, inside)| (*name, write(inside))).collect(),
                Held::Reference(target) => self.reference(*target).into(),
            };
            schema.insert((*keyword).to_owned(), value);
        }
        for (name, keyword) in self.needed {
            if types(schema.get("type")).any(|known| known == *name) {
                let named = if *keyword == "properties" { required_only(&schema) } else { json!({}) };
                schema.entry(*keyword).or_insert(named);
            }
        }
        schema.into()
    }

    /// Returns the value of `required`, or `None` if the list would be empty. Older drafts forbid an empty list.
    ///
    /// If `demands` is `true` and the schema has a property, names without a property are dropped. If the schema also
    /// has `$ref` or `allOf`, all names stay, because the schemas there may describe these properties.
    fn required(&mut self, node: &Node<'a>, demands: bool) -> Option<Value> {
        let mut required = node.required();
        if demands && !node.named("properties").is_empty() && !node.has("$ref") && !node.has("allOf") {
            let before = required.len();
            required.retain(|name| node.property(name).is_some());
            if required.len() < before {
                self.losses.widen(&node.path, "required", "it names no property");
            }
        }
        (!required.is_empty()).then(|| json!(required))
    }

    /// Returns the `$ref` string that refers to the target with the index `number`, and marks that target as used.
    pub(super) fn reference(&mut self, number: usize) -> String {
        let target = self.refs.target(number).filter(|target| !target.path.is_empty());
        let Some(target) = target else { return "#".to_owned() };
        if !self.used.contains(&number) {
            self.used.push(number);
        }
        format!("#/$defs/{}", escape(&target.name))
    }

    /// Returns the name and the schema of the reference target at `index`, in the order of first use.
    pub(super) fn definition(&self, index: usize) -> Option<(&'w str, &'w Rc<Node<'a>>)> {
        let number = self.used.get(index)?;
        Some((&self.refs.target(*number)?.name, self.tree.targets.get(number)?))
    }

    /// Writes a small copy of a schema for a remark in a description, without reporting losses.
    pub(super) fn sketch(&self, node: &Node<'a>) -> Value {
        self.small().schema(node, 0, false)
    }

    /// Writes a small copy of a schema, together with the definitions that its references need.
    ///
    /// If the schema is only a reference, its target is written instead.
    pub(super) fn excerpt(&self, node: &'w Node<'a>) -> Value {
        let target = node.reference().and_then(|target| self.tree.targets.get(&target));
        self.small().document(target.map_or(node, |target| target), false)
    }

    fn small(&self) -> Self {
        Self { left: SKETCHED, ..Self::new(self.tree, self.refs, Losses::default(), &[]) }
    }

    /// Returns remarks for the description that state the constraint of a keyword.
    pub(super) fn remarks(&self, entry: &Entry<'a>) -> Vec<String> {
        remarks(entry.keyword, &entry.held, |node| self.sketch(node))
    }

    /// Merges `part`, an item of `allOf`, into the schema `node`.
    ///
    /// If some constraints cannot be merged, also returns a remark that states them.
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

/// Returns properties for the names that an object without `properties` requires: a list that names no property is
/// refused. They take any value, so they are added only if the schema says nothing of other members.
fn required_only(schema: &Map<String, Value>) -> Value {
    let is_open = ["additionalProperties", "unevaluatedProperties"]
        .iter()
        .all(|keyword| schema.get(*keyword).is_none_or(|others| others == true));
    let required = schema.get("required").and_then(Value::as_array).filter(|_| is_open);
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    names.map(|name| (name.to_owned(), json!({}))).collect::<Map<_, _>>().into()
}
