//! Writing a schema for a model that is not held to it: everything stays that a reader understands.

use super::losses::Losses;
use super::node::{Form, Node, Part, escape};
use super::normal::Tree;
use super::refs::{DEEPEST, Refs};
use serde_json::{Map, Value, json};
use std::rc::Rc;

/// How the schemas are written that a tree holds.
pub(super) struct Plain<'p, 'a> {
    pub(super) tree: &'p Tree<'a>,
    pub(super) refs: &'p Refs<'a>,
    pub(super) losses: &'p mut Losses,
    /// How many more schemas may be written.
    pub(super) left: usize,
    /// The targets that are referred to, in the order in which they are met.
    pub(super) used: Vec<usize>,
}

impl<'a> Plain<'_, 'a> {
    /// The root with the definitions that it needs.
    pub(super) fn document(&mut self, root: &Node<'a>) -> Value {
        let mut schema = self.schema(root, 0, true);
        let mut definitions = Map::new();
        let mut next = 0;
        while let Some(target) = self.used.get(next).copied() {
            next += 1;
            if let (Some(node), Some(target)) = (self.tree.targets.get(&target), self.refs.target(target)) {
                let definition = self.schema(node, 0, true);
                definitions.insert(target.name.clone(), definition);
            }
        }
        if let (Value::Object(schema), false) = (&mut schema, definitions.is_empty()) {
            schema.insert("$defs".to_owned(), definitions.into());
        }
        schema
    }

    /// One schema. `demands` says whether a value must be valid against it for the whole to be valid.
    pub(super) fn schema(&mut self, node: &Node<'a>, depth: usize, demands: bool) -> Value {
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
        for keyword in &node.keywords {
            let demands = demands && !matches!(keyword.name, "not" | "if" | "then" | "else" | "contains");
            let value = match &keyword.part {
                Part::Value(_) if keyword.name == "required" => {
                    let Some(required) = self.required(node, demands) else { continue };
                    required
                }
                Part::Value(value) => value.clone().into_owned(),
                Part::One(inside) => self.schema(inside, depth + 1, demands),
                Part::List(list) => {
                    let demands = demands && matches!(keyword.name, "prefixItems" | "allOf");
                    list.iter().map(|inside| self.schema(inside, depth + 1, demands)).collect()
                }
                Part::Named(named) => {
                    let demands = demands && keyword.name != "dependentSchemas";
                    let named = named.iter();
                    named
                        .map(|(name, inside)| ((*name).to_owned(), self.schema(inside, depth + 1, demands)))
                        .collect()
                }
                Part::Ref(target) => self.reference(*target),
            };
            schema.insert(keyword.name.to_owned(), value);
        }
        Value::Object(schema)
    }

    /// The names of `required` that are properties; an empty list is left out, because older drafts
    /// forbid it.
    fn required(&mut self, node: &Node<'a>, demands: bool) -> Option<Value> {
        let properties = node.named("properties");
        let mut required = node.required();
        if demands && node.has("properties") {
            required.retain(|name| properties.iter().any(|(property, _)| property == name));
            let missing = node.required().len() - required.len();
            if missing > 0 {
                self.losses.widen(&node.path, "required", "it names what is no property");
            }
        }
        (!required.is_empty()).then(|| json!(required))
    }

    fn reference(&mut self, number: usize) -> Value {
        let Some(target) = self.refs.target(number) else { return json!("#") };
        if target.path.is_empty() {
            return json!("#");
        }
        if !self.used.contains(&number) {
            self.used.push(number);
        }
        json!(format!("#/$defs/{}", escape(&target.name)))
    }
}

/// A schema as it is, for a description in words.
pub(super) fn sketch<'a>(node: &Rc<Node<'a>>, tree: &Tree<'a>, refs: &Refs<'a>) -> Value {
    let mut unheard = Losses::default();
    let mut plain = Plain { tree, refs, losses: &mut unheard, left: 64, used: Vec::new() };
    plain.schema(node, 0, false)
}
