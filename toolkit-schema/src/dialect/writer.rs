//! Writes a normalised schema as full JSON Schema.

use super::losses::Losses;
use super::node::{Entry, Held, Node};
use super::parse::{MOST, TOO_LARGE, Target, Tree};
use super::remarks::{in_words, of_schemas, remarks};
use super::rules::Needed;
use crate::depth::MAX_DEPTH;
use crate::keyword::takes_boolean;
use crate::keywords::Keywords;
use crate::types::{has_type, names};
use serde_json::{Map, Value};
use std::rc::Rc;

/// The maximum size in schemas of a sketch, a small copy for a remark in a description.
const SKETCHED: usize = 64;

/// The keywords with schemas that a valid value need not satisfy.
const CONDITIONS: [&str; 8] = ["not", "if", "then", "else", "contains", "anyOf", "oneOf", "dependentSchemas"];

pub(super) struct Writer<'w, 'a> {
    pub(super) tree: &'w Tree<'a>,
    pub(super) losses: Losses,
    /// The number of schemas that may still be written.
    pub(super) left: usize,
    /// The keywords that a type needs.
    needed: &'static [Needed],
    /// The targets of references, in the order of first use.
    used: Vec<usize>,
    /// Whether valid values may violate the schema, as inside `anyOf`.
    is_condition: bool,
}

impl<'w, 'a> Writer<'w, 'a> {
    pub(super) fn new(tree: &'w Tree<'a>, losses: Losses, needed: &'static [Needed]) -> Self {
        Self { tree, losses, left: MOST, needed, used: Vec::new(), is_condition: false }
    }

    /// Writes a root schema with the definitions that it needs.
    pub(super) fn document(&mut self, root: &Node<'a>) -> Value {
        let mut schema = self.schema(root, 0);
        let mut definitions = Map::new();
        // A schema that refers to the definition may describe the properties required here.
        self.is_condition = true;
        while let Some((name, node)) = self.definition(definitions.len()) {
            definitions.set(name, self.schema(node, 0));
        }
        if let (Value::Object(schema), false) = (&mut schema, definitions.is_empty()) {
            schema.set("$defs", definitions.into());
        }
        schema
    }

    fn schema(&mut self, node: &Node<'a>, depth: usize) -> Value {
        if node.is_never || node.entries.is_empty() {
            return if node.is_never {
                Map::only("not", Map::new().into()).into()
            } else {
                Map::new().into()
            };
        }
        if self.left == 0 || depth > MAX_DEPTH {
            self.left = 0;
            self.losses.widen(&node.path, "type", TOO_LARGE);
            return Map::new().into();
        }
        self.left -= 1;
        let mut schema = Map::new();
        for Entry { keyword, held, .. } in &node.entries {
            if *keyword == "unevaluatedItems" && !self.needed.is_empty() && !node.has("items") {
                let reason = "without effect beside `items`, which the provider needs";
                self.losses.widen(&node.path, keyword, reason);
                continue;
            }
            let is_condition = self.is_condition;
            self.is_condition |= CONDITIONS.contains(keyword);
            let mut write = |inside: &Node<'a>| self.schema(inside, depth + 1);
            let value = match held {
                Held::Value(_) if *keyword == "required" => self.required(node).into(),
                Held::Value(value) => value.clone().into_owned(),
                Held::Schema(inside) if inside.entries.is_empty() && takes_boolean(keyword) => {
                    (!inside.is_never).into()
                }
                Held::Schema(inside) => write(inside),
                Held::Schemas(list) => list.iter().map(|inside| write(inside)).collect(),
                Held::Named(named) => named.iter().map(|(name, inside)| (*name, write(inside))).collect(),
                Held::Reference(target) => self.reference(*target).into(),
            };
            self.is_condition = is_condition;
            if *keyword != "required" || value != Value::Array(Vec::new()) {
                schema.set(keyword, value);
            }
        }
        for (name, keyword) in self.needed {
            if has_type(schema.get("type"), name) {
                let empty =
                    if *keyword == "properties" { required_properties(&schema) } else { Map::new().into() };
                schema.entry(*keyword).or_insert(empty);
            }
        }
        schema.into()
    }

    /// Returns the names in `required`, without those that no property describes if the schema stands alone,
    /// because providers refuse them.
    fn required(&mut self, node: &Node<'a>) -> Vec<String> {
        let mut required = node.required();
        let is_alone = !self.is_condition && !node.has("$ref") && !node.has("allOf");
        if is_alone && !node.named("properties").is_empty() {
            let before = required.len();
            required.retain(|name| node.property(name).is_some());
            if required.len() < before {
                self.losses.widen(&node.path, "required", "it names no property");
            }
        }
        required.into_iter().map(str::to_owned).collect()
    }

    /// Marks a target as used, and returns the `$ref` to it.
    pub(super) fn reference(&mut self, number: usize) -> String {
        match self.tree.targets.get(number) {
            Some(Target { name, path, .. }) if !path.is_empty() => {
                if !self.used.contains(&number) {
                    self.used.push(number);
                }
                format!("#/$defs/{name}")
            }
            _ => "#".to_owned(),
        }
    }

    /// Returns the name and schema of a target, by its order of first use.
    pub(super) fn definition(&self, index: usize) -> Option<(&'w str, &'w Rc<Node<'a>>)> {
        let Target { name, node, .. } = self.tree.targets.get(*self.used.get(index)?)?;
        Some((name, node.as_ref()?))
    }

    /// Writes a small copy of a schema for a remark, without reporting losses.
    pub(super) fn sketch(&self, node: &Node<'a>) -> Value {
        let writer = Self::new(self.tree, Losses::default(), &[]);
        Self { left: SKETCHED, is_condition: true, ..writer }.schema(node, 0)
    }

    /// Returns remarks that state a keyword's constraint.
    pub(super) fn remarks(&self, entry: &Entry<'a>) -> Vec<String> {
        remarks(entry.keyword, &entry.held, |node| self.sketch(node))
    }

    /// Merges a schema for the same value into `node`, and returns remarks on what cannot be merged, which is
    /// reported as lost.
    pub(super) fn merge_part(&mut self, node: &mut Node<'a>, part: &Node<'a>) -> Vec<String> {
        node.merge(part);
        let Some(Entry { held: Held::Schemas(apart), .. }) = node.take("allOf") else { return Vec::new() };
        for Entry { path, keyword, .. } in apart.iter().flat_map(|apart| &apart.entries) {
            let reason = "another schema for the same value has this keyword, too; stated in the description";
            self.losses.widen(path, keyword, reason);
        }
        let words: Vec<String> = apart.iter().map(|apart| in_words(&self.sketch(apart))).collect();
        of_schemas("allOf", &words).into_iter().collect()
    }
}

/// Returns the missing `properties` of an object, because a list without the required members is refused.
/// They take any value, and are listed only if the schema says nothing of other members.
fn required_properties(schema: &Map<String, Value>) -> Value {
    let mut properties = Map::new();
    for keyword in ["additionalProperties", "unevaluatedProperties"] {
        if schema.get(keyword).is_some_and(|others| others != true) {
            return properties.into();
        }
    }
    for name in names(schema.get("required")) {
        properties.set(name, Map::new().into());
    }
    properties.into()
}
