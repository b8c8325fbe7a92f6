//! Parsing of schemas: follows or keeps references, and reads tuples of older drafts as draft 2020-12.

use super::losses::Losses;
use super::node::{Entry, Held, Node, Path};
use crate::depth::MAX_DEPTH;
use crate::index::Names;
use crate::keyword::{Holds, Keyword};
use crate::reference::{escape, target};
use crate::types::types;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt::Display;
use std::rc::Rc;

/// The maximum nesting of schemas, also behind references.
pub(super) const DEEPEST: usize = MAX_DEPTH.div_ceil(2);

/// The maximum number of schemas in a document with copies for references.
pub(super) const MOST: usize = 20_000;

pub(super) const TOO_LARGE: &str = "the schema is too large, and cut off here";

/// The treatment of references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum References {
    /// All references stay.
    Kept,
    /// Recursive references stay, and targets replace all others.
    Recursive,
    /// Targets replace all references, and recursion is cut off.
    CutOff,
}

/// A target of a reference.
#[derive(Debug)]
pub(super) struct Target<'a> {
    pub(super) path: Path,
    /// Its unique name in `$defs`.
    pub(super) name: String,
    /// The parsed target, absent during parsing, or if its recursion is cut off.
    pub(super) node: Option<Rc<Node<'a>>>,
    schema: &'a Value,
    /// Whether it refers back to itself.
    is_recursive: bool,
}

/// A parsed schema with the targets of its references.
#[derive(Debug)]
pub(super) struct Tree<'a> {
    pub(super) root: Rc<Node<'a>>,
    pub(super) targets: Vec<Target<'a>>,
}

impl<'a> Tree<'a> {
    pub(super) fn parse(root: &'a Value, references: References, losses: &mut Losses) -> Self {
        let mut parser = Parser {
            root,
            references,
            losses,
            targets: Vec::new(),
            numbers: Names::default(),
            active: Vec::new(),
            left: MOST,
        };
        let root = parser.schema(root, Place { path: &"".into(), depth: 0 });
        let mut next = 0;
        while let Some(Target { schema, path, node, .. }) = parser.targets.get(next) {
            if references == References::Kept && node.is_none() {
                let schema = *schema;
                let path = path.clone();
                let node = parser.schema(schema, Place { path: &path, depth: 0 });
                parser.set_target(next, node);
            }
            next += 1;
        }
        Self { root, targets: parser.targets }
    }

    pub(super) fn target(&self, number: usize) -> Option<&Rc<Node<'a>>> {
        self.targets.get(number)?.node.as_ref()
    }

    /// Returns the target of a schema that is a reference, or else the schema.
    pub(super) fn resolved<'n>(&'n self, node: &'n Rc<Node<'a>>) -> Option<&'n Rc<Node<'a>>> {
        match node.reference() {
            Some(number) => self.target(number),
            None => Some(node),
        }
    }
}

/// The position of a schema in the original document.
#[derive(Clone, Copy)]
struct Place<'p> {
    path: &'p Path,
    /// The number of enclosing schemas.
    depth: usize,
}

struct Parser<'r, 'a> {
    root: &'a Value,
    references: References,
    losses: &'r mut Losses,
    targets: Vec<Target<'a>>,
    /// The indices of targets by their references.
    numbers: Names<'a>,
    /// The targets that are being parsed.
    active: Vec<usize>,
    /// The number of schemas to parse until the schema counts as too large.
    left: usize,
}

impl<'a> Parser<'_, 'a> {
    fn schema(&mut self, schema: &'a Value, at: Place<'_>) -> Rc<Node<'a>> {
        match schema {
            Value::Object(keywords) if is_never(keywords) => return Rc::new(Node::never(at.path)),
            Value::Bool(false) => return Rc::new(Node::never(at.path)),
            Value::Bool(true) => {}
            Value::Object(_) if self.left == 0 || at.depth > DEEPEST => {
                self.losses.narrow(at.path, "type", TOO_LARGE);
            }
            Value::Object(keywords) => {
                self.left -= 1;
                return self.object(keywords, at);
            }
            _ => self.losses.widen(at.path, "type", "this is no schema; any value is allowed instead"),
        }
        Rc::new(Node::new(at.path))
    }

    fn object(&mut self, keywords: &'a Map<String, Value>, at: Place<'_>) -> Rc<Node<'a>> {
        let mut node = Node::new(at.path);
        let is_tuple = keywords.get("items").is_some_and(Value::is_array);
        let mut parts = Vec::new();
        for (written, value) in keywords {
            let keyword = match written.as_str() {
                "$ref" => {
                    parts.extend(self.reference(value, at));
                    continue;
                }
                "allOf" => {
                    for (index, part) in value.as_array().into_iter().flatten().enumerate() {
                        parts.push(self.inner(part, at, format_args!("allOf/{index}")));
                    }
                    continue;
                }
                "$dynamicRef" | "$recursiveRef" => {
                    self.losses.widen(at.path, written, "only `$ref` is followed");
                    continue;
                }
                "items" if is_tuple => "prefixItems",
                "additionalItems" if is_tuple => "items",
                // References are resolved, so names and ids of schemas are not needed.
                "additionalItems" | "definitions" | "id" => continue,
                name if name.starts_with('$') => continue,
                keyword => keyword,
            };
            if let Some(held) = self.held(written, keyword, value, at) {
                node.entries.push(Entry { keyword, path: at.path.clone(), held });
            }
        }
        for part in &parts {
            node.merge(part);
        }
        Rc::new(node)
    }

    /// Parses a schema inside another one, with `step` as the path to it.
    fn inner(&mut self, schema: &'a Value, at: Place<'_>, step: impl Display) -> Rc<Node<'a>> {
        let path = format!("{}/{step}", at.path).into();
        self.schema(schema, Place { path: &path, depth: at.depth + 1 })
    }

    /// Parses the value of `keyword`, `written` in the original as in `items` for `prefixItems`.
    ///
    /// Returns `None` and reports a loss if its type is wrong.
    fn held(&mut self, written: &str, keyword: &str, value: &'a Value, at: Place<'_>) -> Option<Held<'a>> {
        let entry = Keyword::find(keyword);
        if entry.is_some_and(|entry| !entry.takes(value)) {
            self.losses.widen(at.path, written, "the keyword takes no such value");
            return None;
        }
        Some(match (entry.map(|entry| entry.holds), value) {
            (Some(Holds::NamedSchemas), Value::Object(members)) => {
                let mut named = Vec::with_capacity(members.len());
                for (name, inside) in members {
                    let schema = self.inner(inside, at, format_args!("{written}/{}", escape(name)));
                    named.push((name.as_str(), schema));
                }
                Held::Named(Rc::new(named))
            }
            (Some(Holds::Schemas), Value::Array(items)) => {
                let mut list = Vec::with_capacity(items.len());
                for (index, inside) in items.iter().enumerate() {
                    list.push(self.inner(inside, at, format_args!("{written}/{index}")));
                }
                Held::Schemas(list)
            }
            (Some(Holds::Schema), _) => Held::Schema(self.inner(value, at, written)),
            _ => Held::Value(Cow::Borrowed(value)),
        })
    }

    /// Parses a reference's target, or returns a schema with only `$ref` if it stays.
    ///
    /// Returns `None` and reports a loss without a target.
    fn reference(&mut self, value: &'a Value, at: Place<'_>) -> Option<Rc<Node<'a>>> {
        let Some(number) = value.as_str().and_then(|reference| self.number(reference)) else {
            self.losses.widen(at.path, "$ref", "the reference leads nowhere in this document");
            return None;
        };
        if self.references == References::Kept {
            return Some(Rc::new(Node::reference_to(number, at.path)));
        }
        if let Some(place) = self.active.iter().position(|active| *active == number) {
            for number in self.active.iter().skip(place) {
                if let Some(target) = self.targets.get_mut(*number) {
                    target.is_recursive = true;
                }
            }
            return Some(match self.references {
                References::CutOff => self.cut_off(number, at.path),
                _ => Rc::new(Node::reference_to(number, at.path)),
            });
        }
        let target = self.targets.get(number)?;
        let node = match &target.node {
            Some(node) => node.clone(),
            None => {
                let schema = target.schema;
                let path = target.path.clone();
                self.active.push(number);
                let node = self.schema(schema, Place { path: &path, depth: at.depth + 1 });
                self.active.pop();
                // The schemas around it determine the form of a target whose recursion is cut off.
                if self.references == References::Recursive || !self.is_recursive(number) {
                    self.set_target(number, node.clone());
                }
                node
            }
        };
        let is_kept = self.references == References::Recursive && self.is_recursive(number);
        Some(if is_kept { Rc::new(Node::reference_to(number, at.path)) } else { node })
    }

    /// Returns the index of a reference's target, if it has one.
    fn number(&mut self, reference: &'a str) -> Option<usize> {
        if let Some(number) = self.numbers.get(reference) {
            return Some(number);
        }
        let schema = target(self.root, reference)?;
        let last = match reference.rsplit(['/', '#']).next() {
            None | Some("") => "root",
            Some(last) => last,
        };
        let mut plain = String::new();
        for c in last.chars().take(64) {
            let is_plain = c.is_ascii_alphanumeric() || "_.-".contains(c);
            plain.push(if is_plain { c } else { '_' });
        }
        let number = self.targets.len();
        let is_taken = self.targets.iter().any(|target| target.name == plain);
        let name = if is_taken { format!("{plain}_{number}") } else { plain };
        let path = reference.trim_start_matches('#').into();
        self.targets.push(Target { path, name, node: None, schema, is_recursive: false });
        self.numbers.set(reference.into(), number);
        Some(number)
    }

    fn is_recursive(&self, number: usize) -> bool {
        self.targets.get(number).is_some_and(|target| target.is_recursive)
    }

    fn set_target(&mut self, number: usize, node: Rc<Node<'a>>) {
        if let Some(target) = self.targets.get_mut(number) {
            target.node = Some(node);
        }
    }

    fn cut_off(&mut self, number: usize, path: &Path) -> Rc<Node<'a>> {
        let reason = "the reference leads back to a schema around it, and is cut off here";
        self.losses.narrow(path, "$ref", reason);
        let mut node = Node::new(path);
        if let Some(Target { schema, name, .. }) = self.targets.get(number) {
            if let Some(names) = schema.get("type")
                && types(Some(names)).next().is_some()
            {
                node.set("type", path, Held::Value(Cow::Borrowed(names)));
            }
            node.note(&format!("Built like `{name}`, inside which it stands."));
        }
        Rc::new(node)
    }
}

/// Returns whether a schema is `{"not": {}}`, the form of `false` as an object.
fn is_never(keywords: &Map<String, Value>) -> bool {
    let excludes_all = match keywords.get("not") {
        Some(Value::Bool(excluded)) => *excluded,
        Some(Value::Object(excluded)) => excluded.is_empty(),
        _ => false,
    };
    excludes_all && keywords.len() == 1
}
