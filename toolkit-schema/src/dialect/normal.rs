//! Taking a schema apart: references are followed, `allOf` is merged, older drafts are read as the newest.

use super::keywords::{Shape, shape, takes};
use super::losses::Losses;
use super::merge::both;
use super::node::{Form, Keyword, Node, Part, Path, escape};
use super::refs::{DEEPEST, REFERENCES, Refs};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

/// How many schemas of an `allOf` are merged one by one.
const GROUP: usize = 16;

/// Which references stay references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// None: recursion is cut off.
    None,
    /// Those of recursive schemas.
    Recursive,
    /// All: the schema would be too large otherwise.
    All,
    /// All but those of recursive schemas, which are cut off.
    Flat,
}

/// A schema taken apart, with the targets of the references that are left.
#[derive(Debug)]
pub(super) struct Tree<'a> {
    pub(super) root: Rc<Node<'a>>,
    pub(super) targets: HashMap<usize, Rc<Node<'a>>>,
    /// Whether nothing was cut off for its size.
    pub(super) is_complete: bool,
}

pub(super) fn normal<'a>(refs: &Refs<'a>, root: &'a Value, keep: Keep, losses: &mut Losses) -> Tree<'a> {
    let mut reader = Reader {
        refs,
        keep,
        losses,
        active: Vec::new(),
        inlined: HashMap::new(),
        wanted: Vec::new(),
        left: allowed(refs.size),
    };
    let root = reader.schema(root, &"".into(), 0);
    let mut targets = HashMap::new();
    while let Some(number) = reader.wanted.pop() {
        if targets.contains_key(&number) {
            continue;
        }
        if let Some(target) = refs.target(number) {
            let node = reader.schema(target.schema, &target.path, 0);
            targets.insert(number, node);
        }
    }
    Tree { root, targets, is_complete: reader.left > 0 }
}

/// How many schemas may come of so many.
pub(super) fn allowed(schemas: usize) -> usize {
    schemas.saturating_mul(2).saturating_add(5_000)
}

struct Reader<'r, 'a> {
    refs: &'r Refs<'a>,
    keep: Keep,
    losses: &'r mut Losses,
    /// The targets that are being read.
    active: Vec<usize>,
    /// Those that were read and hold no way back to themselves.
    inlined: HashMap<usize, Rc<Node<'a>>>,
    /// The targets of references that stay.
    wanted: Vec<usize>,
    /// How many more schemas may be read.
    left: usize,
}

impl<'a> Reader<'_, 'a> {
    fn schema(&mut self, schema: &'a Value, path: &Path, depth: usize) -> Rc<Node<'a>> {
        let form = match schema {
            Value::Bool(false) => Form::False,
            Value::Object(_) => Form::Object,
            _ => Form::True,
        };
        let mut node = Node::new(path, form);
        match schema {
            Value::Bool(_) => {}
            Value::Object(_) if self.left == 0 => {
                self.losses.narrow(path, "type", "the schema is too large, and cut off here");
            }
            Value::Object(_) if depth > DEEPEST => {
                self.losses.narrow(path, "type", format!("it is nested deeper than {DEEPEST} schemas"));
            }
            Value::Object(fields) => {
                self.left -= 1;
                return self.object(fields, node, depth);
            }
            _ => self.losses.widen(path, "type", "it is no schema, and taken for one that allows everything"),
        }
        node.keywords.clear();
        Rc::new(node)
    }

    fn object(
        &mut self,
        fields: &'a serde_json::Map<String, Value>,
        mut node: Node<'a>,
        depth: usize,
    ) -> Rc<Node<'a>> {
        let path = node.path.clone();
        let is_tuple = fields.get("items").is_some_and(Value::is_array);
        let mut parts = Vec::new();
        for (keyword, value) in fields {
            let keyword = keyword.as_str();
            if REFERENCES.contains(&keyword) {
                parts.extend(self.reference(keyword, value, &path, depth));
                continue;
            }
            // Names and bases of schemas mean nothing once the references are followed.
            if keyword.starts_with('$') || keyword == "definitions" || keyword == "id" {
                continue;
            }
            let (keyword, name) = match keyword {
                "items" if is_tuple => (keyword, "prefixItems"),
                "additionalItems" if is_tuple => (keyword, "items"),
                "additionalItems" => continue,
                _ => (keyword, keyword),
            };
            if keyword == "allOf" {
                let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
                for (index, inside) in list.iter().enumerate() {
                    parts.push(self.schema(inside, &format!("{path}/allOf/{index}").into(), depth + 1));
                }
                continue;
            }
            if let Some(part) = self.keyword(fields, keyword, name, value, &path, depth) {
                node.keywords.push(Keyword { name, path: path.clone(), part });
            }
        }
        // In groups: each step copies what was merged so far, which a long list would make quadratic.
        while parts.len() > GROUP {
            parts = parts.chunks(GROUP).map(|group| self.merged(group)).collect();
        }
        let whole: Vec<Rc<Node<'a>>> = std::iter::once(Rc::new(node)).chain(parts).collect();
        self.merged(&whole)
    }

    /// What all of them demand; there is at least one.
    fn merged(&mut self, nodes: &[Rc<Node<'a>>]) -> Rc<Node<'a>> {
        let mut nodes = nodes.iter().cloned();
        let first = nodes.next().unwrap_or_else(|| Rc::new(Node::new(&"".into(), Form::True)));
        nodes.fold(first, |merged, node| Rc::new(both(&merged, &node, &mut self.left)))
    }

    fn keyword(
        &mut self,
        fields: &'a serde_json::Map<String, Value>,
        keyword: &str,
        name: &'a str,
        value: &'a Value,
        path: &Path,
        depth: usize,
    ) -> Option<Part<'a>> {
        // Draft 4 has booleans here, which say how to read the bound beside them.
        let exclusive = match keyword {
            "minimum" | "exclusiveMinimum" => Some(("exclusiveMinimum", "minimum")),
            "maximum" | "exclusiveMaximum" => Some(("exclusiveMaximum", "maximum")),
            _ => None,
        };
        if let Some((exclusive, bound)) = exclusive
            && let Some(Value::Bool(is_exclusive)) = fields.get(exclusive)
        {
            let taken = if *is_exclusive { exclusive } else { bound };
            let value = fields.get(bound).filter(|value| keyword == taken && value.is_number());
            return value.map(|value| Part::Value(Cow::Borrowed(value)));
        }
        if !takes(name, value) {
            self.losses.widen(path, keyword, "its value is none that the keyword takes");
            return None;
        }
        let place = |step: &str| -> Path { format!("{path}/{keyword}{step}").into() };
        Some(match (shape(name), value) {
            (Shape::Named, Value::Object(named)) => {
                let named = named.iter().map(|(name, inside)| {
                    let place = place(&format!("/{}", escape(name)));
                    (name.as_str(), self.schema(inside, &place, depth + 1))
                });
                Part::Named(Rc::new(named.collect()))
            }
            (Shape::List, Value::Array(list)) => {
                let list = list.iter().enumerate();
                let schemas =
                    list.map(|(index, inside)| self.schema(inside, &place(&format!("/{index}")), depth + 1));
                Part::List(schemas.collect())
            }
            (Shape::One, _) => Part::One(self.schema(value, &place(""), depth + 1)),
            _ => Part::Value(Cow::Borrowed(value)),
        })
    }

    /// What a reference leads to, or the reference itself.
    fn reference(
        &mut self,
        keyword: &'a str,
        value: &'a Value,
        path: &Path,
        depth: usize,
    ) -> Option<Rc<Node<'a>>> {
        let number = match value.as_str().ok_or("it is no text").and_then(|text| self.refs.resolve(text)) {
            Ok(number) => number,
            Err(reason) => {
                self.losses.widen(path, keyword, reason);
                return None;
            }
        };
        if let Some(node) = self.inlined.get(&number) {
            return Some(node.clone());
        }
        let target = self.refs.target(number)?;
        let stays = match self.keep {
            Keep::None => false,
            Keep::Recursive => target.is_recursive,
            Keep::All => true,
            Keep::Flat => !target.is_recursive,
        };
        if stays {
            self.wanted.push(number);
            let mut node = Node::new(path, Form::Object);
            node.set("$ref", path, Part::Ref(number));
            return Some(Rc::new(node));
        }
        if self.active.contains(&number) {
            self.left = self.left.saturating_sub(1);
            self.losses.narrow(path, keyword, "it leads back to a schema that holds it, and is cut off here");
            let mut node = Node::new(path, Form::Object);
            if let Some(kind) = target.schema.get("type").filter(|kind| takes("type", kind)) {
                node.set("type", path, Part::Value(Cow::Borrowed(kind)));
            }
            node.note(&format!("Built like `{}`, inside which it stands.", target.name));
            return Some(Rc::new(node));
        }
        self.active.push(number);
        let node = self.schema(target.schema, &target.path, depth + 1);
        self.active.pop();
        if !target.is_recursive {
            self.inlined.insert(number, node.clone());
        }
        Some(node)
    }
}
