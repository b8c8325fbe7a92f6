//! Writing a schema in a provider's subset of JSON Schema.

use super::keywords::{ANNOTATIONS, speaks_of};
use super::losses::Losses;
use super::merge::{both, open_both};
use super::node::{Form, Keyword, Node, Part, escape, join_lines};
use super::normal::Tree;
use super::plain::sketch;
use super::refs::{DEEPEST, Refs};
use super::rules::Rules;
use super::words;
use serde_json::{Map, Value, json};
use std::rc::Rc;

/// Writes the schemas that a tree holds.
pub(super) struct Subset<'s, 'a> {
    pub(super) rules: &'static Rules,
    pub(super) tree: &'s Tree<'a>,
    pub(super) refs: &'s Refs<'a>,
    pub(super) losses: &'s mut Losses,
    /// How many more schemas may be written.
    pub(super) left: usize,
    /// The targets that are referred to, in the order in which they are met.
    pub(super) used: Vec<usize>,
}

/// A schema that was written.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Written {
    /// `None` if only `null` is valid.
    pub(super) schema: Option<Map<String, Value>>,
    /// Whether `null` is valid.
    pub(super) nullable: bool,
}

impl From<Map<String, Value>> for Written {
    fn from(schema: Map<String, Value>) -> Self {
        Self { schema: Some(schema), nullable: false }
    }
}

impl<'a> Subset<'_, 'a> {
    /// The root with the definitions that it needs.
    pub(super) fn document(&mut self, root: Node<'a>) -> Value {
        let written = self.write(&Rc::new(root), 0).and_then(|written| written.schema);
        let mut schema = written.unwrap_or_default();
        let mut definitions = Map::new();
        let mut next = 0;
        while let Some(number) = self.used.get(next).copied() {
            next += 1;
            if let (Some(node), Some(target)) = (self.tree.targets.get(&number), self.refs.target(number)) {
                let definition = self.schema(node, 1, false).unwrap_or_else(|| self.nothing(&node.path));
                definitions.insert(target.name.clone(), definition);
            }
        }
        if !definitions.is_empty() {
            schema.insert("$defs".to_owned(), definitions.into());
        }
        Value::Object(schema)
    }

    /// One schema, complete; `None` if no value is valid.
    pub(super) fn schema(&mut self, node: &Rc<Node<'a>>, depth: usize, nullable: bool) -> Option<Value> {
        let mut written = self.write(node, depth)?;
        written.nullable |= nullable;
        Some(self.complete(written))
    }

    /// One schema, that of the root at depth 0; `None` if no value is valid.
    pub(super) fn write(&mut self, node: &Rc<Node<'a>>, depth: usize) -> Option<Written> {
        if node.is_never() {
            return None;
        }
        let cut = match () {
            () if depth > DEEPEST => Some("it is nested too deep, and cut off here"),
            () if self.left == 0 => Some("the schema is too large, and cut off here"),
            () => None,
        };
        if let Some(reason) = cut {
            self.losses.narrow(&node.path, "type", reason);
            return Some(Map::from_iter([("type".to_owned(), json!("string"))]).into());
        }
        self.left -= 1;
        let mut notes = Vec::new();
        let mut node = self.without_all_of((**node).clone(), &mut notes);
        if node.is_never() {
            return None;
        }
        let (title, description) = (take_text(&mut node, "title"), take_text(&mut node, "description"));
        let default = node.take("default");
        if let (Some(default), false) = (&default, self.rules.default) {
            self.move_to_words(default, &mut notes);
        }
        self.general(&mut node, &mut notes);
        let flag = node.take("nullable");
        let mut written = if node.has("$ref") {
            Some(self.reference(&mut node, &mut notes))
        } else if node.has("anyOf") || node.has("oneOf") {
            self.union(node, depth)
        } else {
            self.kinds(node, depth)
        }?;
        written.nullable |=
            matches!(flag, Some(Keyword { part: Part::Value(flag), .. }) if *flag == json!(true));
        let schema = written.schema.get_or_insert_default();
        let mut described = describe(std::mem::take(schema), title, description, &notes);
        if let (Some(Keyword { part: Part::Value(value), .. }), true) = (default, self.rules.default) {
            described.insert("default".to_owned(), value.into_owned());
        }
        written.schema = Some(described).filter(|schema| !schema.is_empty());
        Some(written)
    }

    /// Merges what stands side by side.
    fn without_all_of(&mut self, mut node: Node<'a>, notes: &mut Vec<String>) -> Node<'a> {
        let Some(Keyword { part: Part::List(list), path, .. }) = node.take("allOf") else { return node };
        for inside in list {
            let (merged, opened) = open_both(&Rc::new(node), &inside, &mut self.left);
            node = merged;
            if opened {
                self.losses.widen(
                    &path,
                    "allOf",
                    "its schemas forbid each other's properties, and are read as one",
                );
            }
            if let Some(Keyword { part: Part::List(apart), .. }) = node.take("allOf") {
                let apart: Vec<Value> = apart.iter().map(|node| sketch(node, self.tree, self.refs)).collect();
                notes.extend(words::of_list("allOf", &apart));
                self.losses.widen(
                    &path,
                    "allOf",
                    "its schemas cannot be written as one; the description says the rest",
                );
            }
        }
        node
    }

    /// Takes out what speaks of values of all kinds and has no place in the subset.
    fn general(&mut self, node: &mut Node<'a>, notes: &mut Vec<String>) {
        let known = ["type", "enum", "const", "anyOf", "oneOf", "$ref", "format", "nullable"];
        let (out, stays): (Vec<_>, Vec<_>) = std::mem::take(&mut node.keywords)
            .into_iter()
            .partition(|keyword| speaks_of(keyword.name).is_none() && !known.contains(&keyword.name));
        node.keywords = stays;
        for keyword in &out {
            self.move_to_words(keyword, notes);
        }
    }

    /// Says in the description what a keyword demands, and reports it.
    pub(super) fn move_to_words(&mut self, keyword: &Keyword<'a>, notes: &mut Vec<String>) {
        let Keyword { name, path, part } = keyword;
        let mut remarks = Vec::new();
        match part {
            Part::Value(value) => {
                // Demands nothing.
                let idle = [("uniqueItems", json!(false)), ("default", Value::Null), ("minItems", json!(0))];
                let says_no =
                    ANNOTATIONS.contains(name) && value.as_ref() == &json!(false) && *name != "default";
                if says_no
                    || idle.iter().any(|(idle, idle_value)| idle == name && idle_value == value.as_ref())
                {
                    return;
                }
                remarks.extend(words::of_value(name, value));
            }
            Part::One(schema) => {
                remarks.extend(words::of_schema(name, &sketch(schema, self.tree, self.refs)));
            }
            Part::List(list) => {
                let list: Vec<Value> = list.iter().map(|node| sketch(node, self.tree, self.refs)).collect();
                remarks.extend(words::of_list(name, &list));
            }
            Part::Named(named) => {
                for (key, schema) in named.iter().take(20) {
                    remarks.extend(words::of_named(name, key, &sketch(schema, self.tree, self.refs)));
                }
            }
            Part::Ref(_) => {}
        }
        let reason = match remarks.is_empty() {
            true => "the provider does not know it",
            false => "the provider does not know it; the description says it",
        };
        notes.extend(remarks);
        self.losses.widen(path, name, reason);
    }

    /// A reference, which may have nothing beside it.
    fn reference(&mut self, node: &mut Node<'a>, notes: &mut Vec<String>) -> Written {
        let number = node.reference();
        node.take("$ref");
        for keyword in &std::mem::take(&mut node.keywords) {
            self.move_to_words(keyword, notes);
        }
        let target = number.and_then(|number| Some((number, self.refs.target(number)?)));
        let reference = match target {
            Some((_, target)) if target.path.is_empty() => "#".to_owned(),
            Some((number, target)) => {
                if !self.used.contains(&number) {
                    self.used.push(number);
                }
                format!("#/$defs/{}", escape(&target.name))
            }
            None => "#".to_owned(),
        };
        Map::from_iter([("$ref".to_owned(), reference.into())]).into()
    }

    /// A union. What stands beside it is demanded of each branch.
    fn union(&mut self, mut node: Node<'a>, depth: usize) -> Option<Written> {
        let name = if node.has("anyOf") { "anyOf" } else { "oneOf" };
        let Some(Keyword { part: Part::List(branches), path, .. }) = node.take(name) else { return None };
        if name == "oneOf" && !super::unions::are_disjoint(&branches, self.tree) {
            self.losses.widen(&path, name, "a value may be valid against several of its schemas");
        }
        let rest = Rc::new(node);
        let mut written = Vec::new();
        for branch in &branches {
            let branch = match rest.keywords.is_empty() {
                true => branch.clone(),
                false => Rc::new(both(branch, &rest, &mut self.left)),
            };
            written.extend(self.write(&branch, depth + 1));
        }
        super::unions::combine(written)
    }

    /// A definition that no value fits, which no subset can say.
    fn nothing(&mut self, path: &str) -> Value {
        self.losses.widen(path, "type", "no value is valid, which cannot be said");
        json!({"type": "string", "enum": ["none"]})
    }

    /// Whether a schema allows every value.
    pub(super) fn is_any(node: &Node<'a>) -> bool {
        node.form == Form::True
            || (node.form == Form::Object
                && node.keywords.iter().all(|keyword| ANNOTATIONS.contains(&keyword.name)))
    }
}

fn take_text(node: &mut Node<'_>, name: &str) -> Option<String> {
    match node.take(name)?.part {
        Part::Value(text) => text.as_str().map(str::to_owned),
        _ => None,
    }
}

/// Adds title and description, after the type and before all else.
fn describe(
    mut schema: Map<String, Value>,
    title: Option<String>,
    description: Option<String>,
    notes: &[String],
) -> Map<String, Value> {
    let inner = match schema.shift_remove("description") {
        Some(Value::String(inner)) => inner,
        _ => String::new(),
    };
    let description = join_lines(description.as_deref(), &inner);
    let description = join_lines(Some(&description), &words::sentence(notes));
    if title.is_none() && description.is_empty() {
        return schema;
    }
    let mut described = Map::new();
    if schema.contains_key("$ref") {
        // Nothing may stand beside a reference.
        schema = Map::from_iter([("anyOf".to_owned(), json!([schema]))]);
    }
    if let Some(kind) = schema.shift_remove("type") {
        described.insert("type".to_owned(), kind);
    }
    if let Some(title) = title {
        described.insert("title".to_owned(), title.into());
    }
    if !description.is_empty() {
        described.insert("description".to_owned(), description.into());
    }
    described.extend(schema);
    described
}
