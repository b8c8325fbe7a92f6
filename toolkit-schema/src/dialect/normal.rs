//! Normalisation of schemas: references are resolved, `allOf` is merged, and older drafts are read as draft 2020-12.

use super::losses::Losses;
use super::merge::merge;
use super::node::{Entry, Form, Held, Node, Path};
use super::refs::{DEEPEST, REFERENCES, Refs, Target};
use crate::keyword::{Holds, Keyword};
use crate::reference::escape;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::rc::Rc;

/// The number of `allOf` parts that are merged into one schema at a time.
const GROUP: usize = 16;

/// The references that stay in the schema. All other references are replaced by their targets.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keep<'k> {
    /// Whether references to recursive schemas stay. Otherwise, recursion is cut off.
    pub(super) recursive: bool,
    /// If set, all references stay, because the schema would otherwise be too large.
    ///
    /// The set contains the targets of recursive references. A reference to one of them stays only if `recursive` is
    /// `true`.
    pub(super) others: Option<&'k HashSet<usize>>,
}

/// A normalised schema, together with the targets of all references left in it.
#[derive(Debug)]
pub(super) struct Tree<'a> {
    pub(super) root: Rc<Node<'a>>,
    pub(super) targets: HashMap<usize, Rc<Node<'a>>>,
    /// The targets of references that directly or indirectly refer to themselves.
    pub(super) recursive: HashSet<usize>,
    /// Whether the whole schema was read. Otherwise, it was too large, and parts were cut off.
    pub(super) is_complete: bool,
}

impl<'a> Tree<'a> {
    pub(super) fn new(refs: &Refs<'a>, root: &'a Value, keep: Keep<'_>, losses: &mut Losses) -> Self {
        let mut reader = Reader {
            refs,
            keep,
            losses,
            active: Vec::new(),
            recursive: HashSet::new(),
            read: HashMap::new(),
            wanted: Vec::new(),
            left: budget(refs.size),
        };
        let root = reader.schema(root, Place { path: &"".into(), depth: 0 });
        while let Some(number) = reader.wanted.pop() {
            if let (false, Some(target)) = (reader.read.contains_key(&number), refs.target(number)) {
                let node = reader.schema(target.schema, Place { path: &target.path, depth: 0 });
                reader.read.insert(number, node);
            }
        }
        Self { root, targets: reader.read, recursive: reader.recursive, is_complete: reader.left > 0 }
    }
}

/// Returns the maximum number of schemas to read or write for a document that contains `schemas` schemas.
pub(super) fn budget(schemas: usize) -> usize {
    schemas.saturating_mul(2).saturating_add(5_000)
}

/// The position of a schema in the original document.
#[derive(Clone, Copy)]
struct Place<'p> {
    path: &'p Path,
    /// The number of schemas that enclose this schema.
    depth: usize,
}

struct Reader<'r, 'a> {
    refs: &'r Refs<'a>,
    keep: Keep<'r>,
    losses: &'r mut Losses,
    /// The targets of references that are currently being read.
    active: Vec<usize>,
    /// The targets of references that were found to refer back to themselves.
    recursive: HashSet<usize>,
    /// The targets of references that have already been read.
    ///
    /// If recursion is cut off, recursive targets are not stored here, because their form depends on the enclosing
    /// schemas.
    read: HashMap<usize, Rc<Node<'a>>>,
    /// The targets of references that must still be read, because the references stay in the schema.
    wanted: Vec<usize>,
    /// The remaining number of schemas to read before the schema counts as too large.
    left: usize,
}

impl<'a> Reader<'_, 'a> {
    fn schema(&mut self, schema: &'a Value, at: Place<'_>) -> Rc<Node<'a>> {
        let path = at.path;
        let form = match schema {
            Value::Bool(false) => Form::False,
            Value::Object(keywords) if is_never(keywords) => Form::False,
            Value::Object(_) => Form::Object,
            _ => Form::True,
        };
        match schema {
            Value::Bool(_) => {}
            Value::Object(_) if form == Form::False => {}
            Value::Object(_) if self.left == 0 => {
                self.losses.narrow(path, "type", "the schema is too large, and cut off here");
            }
            Value::Object(_) if at.depth > DEEPEST => {
                self.losses.narrow(
                    path,
                    "type",
                    format!("the schema is nested deeper than {DEEPEST} levels"),
                );
            }
            Value::Object(keywords) => {
                self.left -= 1;
                return self.object(keywords, at);
            }
            _ => self.losses.widen(path, "type", "this is no schema; any value is allowed instead"),
        }
        Rc::new(Node::new(path, form))
    }

    fn object(&mut self, keywords: &'a Map<String, Value>, at: Place<'_>) -> Rc<Node<'a>> {
        let mut node = Node::new(at.path, Form::Object);
        let is_tuple = keywords.get("items").is_some_and(Value::is_array);
        let mut parts = Vec::new();
        for (written, value) in keywords {
            let keyword = match written.as_str() {
                reference if REFERENCES.contains(&reference) => {
                    parts.extend(self.reference(reference, value, at));
                    continue;
                }
                "allOf" => {
                    let list = value.as_array().into_iter().flatten().enumerate();
                    parts.extend(
                        list.map(|(index, part)| self.inner(part, at, format_args!("allOf/{index}"))),
                    );
                    continue;
                }
                "items" if is_tuple => "prefixItems",
                "additionalItems" if is_tuple => "items",
                // References are resolved, so the names and ids of schemas are not needed any more.
                "additionalItems" | "definitions" | "id" => continue,
                name if name.starts_with('$') => continue,
                keyword => keyword,
            };
            let held = self.held(written, keyword, value, at);
            node.entries.extend(held.map(|held| Entry { keyword, path: at.path.clone(), held }));
        }
        parts.insert(0, Rc::new(node));
        // Merge in groups, because each merge copies the previous result. Merging a long list one by one would take
        // quadratic time.
        while parts.len() > 1 {
            parts = parts.chunks(GROUP).map(|group| self.merged(group)).collect();
        }
        parts.swap_remove(0)
    }

    fn merged(&mut self, nodes: &[Rc<Node<'a>>]) -> Rc<Node<'a>> {
        let merged = nodes.iter().cloned().reduce(|one, other| Rc::new(merge(&one, &other, &mut self.left)));
        merged.unwrap_or_else(|| Rc::new(Node::new(&"".into(), Form::True)))
    }

    /// Reads a schema inside another schema. `step` is the path from the outer schema to the inner schema.
    fn inner(&mut self, schema: &'a Value, at: Place<'_>, step: impl Display) -> Rc<Node<'a>> {
        let path = format!("{}/{step}", at.path).into();
        self.schema(schema, Place { path: &path, depth: at.depth + 1 })
    }

    /// Reads the value of `keyword`. `written` is the name of the keyword in the original schema, such as `definitions`
    /// for `$defs`.
    ///
    /// Returns `None` and reports a loss if the value has the wrong type.
    fn held(&mut self, written: &str, keyword: &str, value: &'a Value, at: Place<'_>) -> Option<Held<'a>> {
        let entry = Keyword::find(keyword);
        if entry.is_some_and(|entry| !entry.takes(value)) {
            self.losses.widen(at.path, written, "the keyword takes no such value");
            return None;
        }
        Some(match (entry.map(|entry| entry.holds), value) {
            (Some(Holds::NamedSchemas), Value::Object(named)) => {
                let named = named.iter().map(|(name, inside)| {
                    (name.as_str(), self.inner(inside, at, format_args!("{written}/{}", escape(name))))
                });
                Held::Named(Rc::new(named.collect()))
            }
            (Some(Holds::Schemas), Value::Array(list)) => {
                let list = list.iter().enumerate();
                let list =
                    list.map(|(index, inside)| self.inner(inside, at, format_args!("{written}/{index}")));
                Held::Schemas(list.collect())
            }
            (Some(Holds::Schema), _) => Held::Schema(self.inner(value, at, written)),
            _ => Held::Value(Cow::Borrowed(value)),
        })
    }

    /// Reads the target of a reference.
    ///
    /// Returns a schema with only a `$ref` if the reference must stay. Returns `None` and reports a loss if the
    /// reference cannot be resolved.
    fn reference(&mut self, keyword: &str, value: &'a Value, at: Place<'_>) -> Option<Rc<Node<'a>>> {
        let path = at.path;
        let found = value.as_str().ok_or("the reference is no string");
        let (number, target) = match found.and_then(|reference| self.refs.resolve(reference)) {
            Ok(found) => found,
            Err(reason) => {
                self.losses.widen(path, keyword, reason);
                return None;
            }
        };
        if self.keep.others.is_some_and(|recursive| self.keep.recursive || !recursive.contains(&number)) {
            self.wanted.push(number);
            return Some(Rc::new(Node::reference_to(number, path)));
        }
        if let Some(place) = self.active.iter().position(|active| *active == number) {
            self.recursive.extend(self.active.iter().skip(place));
            return Some(if self.keep.recursive {
                Rc::new(Node::reference_to(number, path))
            } else {
                self.cut_off(keyword, target, path)
            });
        }
        let node = match self.read.get(&number) {
            Some(node) => node.clone(),
            None => {
                self.active.push(number);
                let node = self.schema(target.schema, Place { path: &target.path, depth: at.depth + 1 });
                self.active.pop();
                if self.keep.recursive || !self.recursive.contains(&number) {
                    self.read.insert(number, node.clone());
                }
                node
            }
        };
        let is_kept = self.keep.recursive && self.recursive.contains(&number);
        Some(if is_kept { Rc::new(Node::reference_to(number, path)) } else { node })
    }

    fn cut_off(&mut self, keyword: &str, target: &Target<'a>, path: &Path) -> Rc<Node<'a>> {
        self.left = self.left.saturating_sub(1);
        self.losses.narrow(
            path,
            keyword,
            "the reference leads back to a schema around it, and is cut off here",
        );
        let mut node = Node::new(path, Form::Object);
        let is_valid = |names: &&Value| Keyword::find("type").is_some_and(|entry| entry.takes(names));
        if let Some(names) = target.schema.get("type").filter(is_valid) {
            node.set("type", path, Held::Value(Cow::Borrowed(names)));
        }
        node.note(&format!("Built like `{}`, inside which it stands.", target.name));
        Rc::new(node)
    }
}

/// Returns whether a schema is `{"not": {}}`, the form of `false` as an object.
fn is_never(keywords: &Map<String, Value>) -> bool {
    let is_any =
        |schema: &Value| schema.as_bool() == Some(true) || schema.as_object().is_some_and(Map::is_empty);
    keywords.len() == 1 && keywords.get("not").is_some_and(is_any)
}
