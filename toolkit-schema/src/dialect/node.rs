//! A schema parsed into keywords, each with its position in the original.

use crate::types::{names, types};
use serde_json::Value;
use std::borrow::Cow;
use std::rc::Rc;

/// A position in the original document, as a JSON pointer.
pub(super) type Path = Rc<str>;

/// A schema parsed into its keywords.
#[derive(Debug, Clone)]
pub(super) struct Node<'a> {
    pub(super) path: Path,
    /// Whether the schema is `false`; any other schema without entries is `true`.
    pub(super) is_never: bool,
    pub(super) entries: Vec<Entry<'a>>,
}

/// A keyword with its value.
#[derive(Debug, Clone)]
pub(super) struct Entry<'a> {
    pub(super) keyword: &'a str,
    /// The position of its schema in the original document.
    pub(super) path: Path,
    pub(super) held: Held<'a>,
}

/// The parsed value of a keyword.
#[derive(Debug, Clone)]
pub(super) enum Held<'a> {
    Value(Cow<'a, Value>),
    Schema(Rc<Node<'a>>),
    Schemas(Vec<Rc<Node<'a>>>),
    Named(Rc<Named<'a>>),
    /// A `$ref` that stays, with the index of its target.
    Reference(usize),
}

pub(super) type Named<'a> = Vec<(&'a str, Rc<Node<'a>>)>;

impl<'a> Node<'a> {
    /// Creates a schema for which every value is valid.
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.clone(), is_never: false, entries: Vec::new() }
    }

    /// Creates a schema for which no value is valid.
    pub(super) fn never(path: &Path) -> Self {
        Self { is_never: true, ..Self::new(path) }
    }

    /// Creates a schema with only a `$ref` to a target's index.
    pub(super) fn reference_to(target: usize, path: &Path) -> Self {
        let mut node = Self::new(path);
        node.set("$ref", path, Held::Reference(target));
        node
    }

    pub(super) fn get(&self, keyword: &str) -> Option<&Entry<'a>> {
        self.entries.iter().find(|entry| entry.keyword == keyword)
    }

    pub(super) fn has(&self, keyword: &str) -> bool {
        self.get(keyword).is_some()
    }

    pub(super) fn has_any(&self, keywords: &[&str]) -> bool {
        self.entries.iter().any(|entry| keywords.contains(&entry.keyword))
    }

    pub(super) fn value(&self, keyword: &str) -> Option<&Value> {
        if let Held::Value(value) = &self.get(keyword)?.held { Some(value) } else { None }
    }

    pub(super) fn schema(&self, keyword: &str) -> Option<&Rc<Self>> {
        if let Held::Schema(node) = &self.get(keyword)?.held { Some(node) } else { None }
    }

    pub(super) fn schemas(&self, keyword: &str) -> &[Rc<Self>] {
        if let Some(Entry { held: Held::Schemas(nodes), .. }) = self.get(keyword) { nodes } else { &[] }
    }

    pub(super) fn named(&self, keyword: &str) -> &[(&'a str, Rc<Self>)] {
        if let Some(Entry { held: Held::Named(named), .. }) = self.get(keyword) { named } else { &[] }
    }

    pub(super) fn property(&self, name: &str) -> Option<&Rc<Self>> {
        let (_, property) = self.named("properties").iter().find(|(own, _)| *own == name)?;
        Some(property)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.schema("additionalProperties").is_some_and(|rest| rest.is_never)
    }

    pub(super) fn required(&self) -> Vec<&str> {
        names(self.value("required")).collect()
    }

    /// Returns the types in `type`, if present.
    pub(super) fn types(&self) -> Option<Vec<&str>> {
        self.value("type").map(|names| types(Some(names)).collect())
    }

    /// Returns the index of the target of `$ref`, if present.
    pub(super) fn reference(&self) -> Option<usize> {
        if let Held::Reference(target) = self.get("$ref")?.held { Some(target) } else { None }
    }

    pub(super) fn set(&mut self, keyword: &'a str, path: &Path, held: Held<'a>) {
        match self.entries.iter_mut().find(|entry| entry.keyword == keyword) {
            Some(entry) => entry.held = held,
            None => self.entries.push(Entry { keyword, path: path.clone(), held }),
        }
    }

    pub(super) fn set_value(&mut self, keyword: &'a str, path: &Path, value: Value) {
        self.set(keyword, path, Held::Value(Cow::Owned(value)));
    }

    pub(super) fn take(&mut self, keyword: &str) -> Option<Entry<'a>> {
        let index = self.entries.iter().position(|entry| entry.keyword == keyword)?;
        Some(self.entries.remove(index))
    }

    pub(super) fn take_value(&mut self, keyword: &str) -> Option<Value> {
        if let Held::Value(value) = self.take(keyword)?.held { Some(value.into_owned()) } else { None }
    }

    /// Appends a line to the description.
    pub(super) fn note(&mut self, note: &str) {
        let path = self.path.clone();
        let description = join_lines(self.value("description").and_then(Value::as_str), note);
        self.set_value("description", &path, description.into());
    }
}

/// Joins two paragraphs with a line break, leaving out `more` if `text` contains it.
pub(super) fn join_lines(text: Option<&str>, more: &str) -> String {
    match text {
        None | Some("") => more.to_owned(),
        Some(text) if more.is_empty() || text.contains(more) => text.to_owned(),
        Some(text) => format!("{text}\n{more}"),
    }
}
