//! The root of a tool's parameters, which providers want to be one object.

use super::losses::Losses;
use super::merge::{both, open_both};
use super::node::{Form, Keyword, Node, Part, Path};
use super::normal::Tree;
use super::plain::sketch;
use super::refs::{DEEPEST, Refs};
use super::words;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// How many schemas are merged at most.
const MERGED: usize = 10_000;

/// Makes one object of a root, whatever it is.
pub(super) struct Root<'r, 'a> {
    pub(super) tree: &'r Tree<'a>,
    pub(super) refs: &'r Refs<'a>,
    pub(super) losses: &'r mut Losses,
    /// How many more schemas may be merged.
    left: usize,
    /// The targets that are being merged into the root.
    active: Vec<usize>,
}

impl<'r, 'a> Root<'r, 'a> {
    pub(super) fn new(tree: &'r Tree<'a>, refs: &'r Refs<'a>, losses: &'r mut Losses) -> Self {
        Self { tree, refs, losses, left: MERGED, active: Vec::new() }
    }

    pub(super) fn object(&mut self) -> Node<'a> {
        let mut node = self.flat(&self.tree.root.clone(), 0);
        let path = node.path.clone();
        if node.is_never() {
            self.losses.widen(&path, "type", "no arguments are valid, which cannot be said of a tool");
            node.form = Form::Object;
        }
        for name in ["not", "enum", "const"] {
            let Some(keyword) = node.take(name) else { continue };
            let remark = match &keyword.part {
                Part::Value(value) => words::of_value(name, value),
                Part::One(inside) => words::of_schema(name, &sketch(inside, self.tree, self.refs)),
                _ => None,
            };
            node.note(&words::sentence(&remark.into_iter().collect::<Vec<_>>()));
            self.losses.widen(&keyword.path, name, "parameters cannot have it; the description says it");
        }
        match node.types() {
            Some(kinds) if !kinds.contains(&"object") => {
                let remark = words::in_words(&sketch(&Rc::new(node.clone()), self.tree, self.refs));
                self.losses.narrow(&path, "type", "the arguments of a tool are an object");
                let mut object = Node::new(&path, Form::Object);
                if let Some(description) = node.text("description") {
                    object.note(description);
                }
                object.note(&words::sentence(&[format!("meant as {remark}")]));
                node = object;
            }
            _ => {}
        }
        if node.value("type") != Some(&json!("object")) {
            // The type comes first, as everybody writes it.
            node.take("type");
            let mut first = Node::new(&path, Form::Object);
            first.set_value("type", &path, json!("object"));
            first.keywords.append(&mut node.keywords);
            node = first;
        }
        node
    }

    /// The schema without references, `allOf` and unions at its top.
    fn flat(&mut self, node: &Rc<Node<'a>>, depth: usize) -> Node<'a> {
        let mut node = (**node).clone();
        if depth > DEEPEST || self.left == 0 {
            return node;
        }
        self.left -= 1;
        if let Some(number) = node.reference() {
            node.take("$ref");
            // A schema that demands itself demands nothing more.
            if let (Some(target), false) = (self.tree.targets.get(&number), self.active.contains(&number)) {
                self.active.push(number);
                let target = self.flat(target, depth + 1);
                self.active.pop();
                node = both(&Rc::new(node), &Rc::new(target), &mut self.left);
            }
        }
        if let Some(keyword) = node.take("allOf")
            && let Part::List(list) = keyword.part
        {
            for inside in list {
                let inside = self.flat(&inside, depth + 1);
                node = self.merged(node, inside, &keyword.path);
            }
        }
        for name in ["anyOf", "oneOf"] {
            if let Some(keyword) = node.take(name)
                && let Part::List(branches) = keyword.part
            {
                node = self.chosen(node, name, &keyword.path, &branches, depth);
            }
        }
        node
    }

    fn merged(&mut self, node: Node<'a>, inside: Node<'a>, path: &Path) -> Node<'a> {
        let (mut merged, opened) = open_both(&Rc::new(node), &Rc::new(inside), &mut self.left);
        if opened {
            self.losses.widen(
                path,
                "allOf",
                "its schemas forbid each other's properties, and are read as one",
            );
        }
        if let Some(Keyword { part: Part::List(apart), .. }) = merged.take("allOf") {
            let apart: Vec<Value> = apart.iter().map(|node| sketch(node, self.tree, self.refs)).collect();
            merged.note(&words::sentence(&words::of_list("allOf", &apart).into_iter().collect::<Vec<_>>()));
            self.losses.widen(
                path,
                "allOf",
                "its schemas cannot be written as one; the description says the rest",
            );
        }
        merged
    }

    /// The properties of all branches; those are required that every branch requires.
    fn chosen(
        &mut self,
        node: Node<'a>,
        name: &'static str,
        path: &Path,
        branches: &[Rc<Node<'a>>],
        depth: usize,
    ) -> Node<'a> {
        let mut flat = Vec::new();
        for branch in branches {
            let branch = self.flat(branch, depth + 1);
            let is_object = branch.types().is_none_or(|kinds| kinds.contains(&"object"));
            if is_object && !branch.is_never() {
                flat.push(branch);
            }
        }
        match flat.as_slice() {
            [] => {
                self.losses.widen(path, name, "none of its schemas is that of an object");
                return node;
            }
            [only] => return self.merged(node, only.clone(), path),
            _ => {}
        }
        self.losses.widen(path, name, "parameters have no unions; those of all its schemas are listed, and the description says which go together");
        let mut all = Node::new(path, Form::Object);
        let mut names: Vec<&'a str> = Vec::new();
        let mut found: HashMap<&'a str, Vec<Rc<Node<'a>>>> = HashMap::new();
        for (name, schema) in flat.iter().flat_map(|branch| branch.named("properties")) {
            let variants = found.entry(name).or_default();
            if variants.is_empty() {
                names.push(name);
            }
            variants.push(schema.clone());
        }
        let own: HashSet<&str> = node.named("properties").iter().map(|(name, _)| *name).collect();
        let properties = names.iter().map(|name| {
            let found = found.remove(name).unwrap_or_default();
            // The schema around them says more of it.
            let is_open = own.contains(name) && found.len() < flat.len();
            (*name, if is_open { Rc::new(Node::new(path, Form::True)) } else { variants(found, path) })
        });
        let properties = properties.collect();
        all.set("properties", path, Part::Named(Rc::new(properties)));
        let required = flat.first().map(Node::required).unwrap_or_default();
        let in_all = |name: &&str| flat.iter().all(|branch| branch.required().contains(name));
        let required: Vec<&str> = required.into_iter().filter(in_all).collect();
        if !required.is_empty() {
            all.set_value("required", path, json!(required));
        }
        let closed =
            |branch: &Node<'a>| branch.one("additionalProperties").is_some_and(|rest| rest.is_never());
        if flat.iter().all(closed) {
            all.set("additionalProperties", path, Part::One(Rc::new(Node::new(path, Form::False))));
        }
        let groups: Vec<String> = flat.iter().map(parameters).collect();
        let mut merged = self.merged(node, all, path);
        merged.note(&format!("The parameters are one of these sets: {}.", groups.join("; or ")));
        merged
    }
}

/// What a parameter may be in any of the branches.
fn variants<'a>(found: Vec<Rc<Node<'a>>>, path: &Path) -> Rc<Node<'a>> {
    let mut known = HashSet::new();
    let different: Vec<Rc<Node<'a>>> =
        found.into_iter().filter(|schema| known.insert(schema.path.clone())).collect();
    match different.as_slice() {
        [only] => only.clone(),
        _ => {
            let mut union = Node::new(path, Form::Object);
            union.set("anyOf", path, Part::List(different));
            Rc::new(union)
        }
    }
}

/// The names of a branch's parameters, those that may be left out marked.
fn parameters(branch: &Node<'_>) -> String {
    let required = branch.required();
    let mut names: Vec<String> = Vec::new();
    for (name, schema) in branch.named("properties") {
        let value = schema.value("const").map(Value::to_string);
        let value = value.map(|value| format!(" {value}")).unwrap_or_default();
        let optional = if required.contains(name) { "" } else { " (optional)" };
        names.push(format!("`{name}`{value}{optional}"));
    }
    for name in required {
        if !branch.named("properties").iter().any(|(own, _)| *own == name) {
            names.push(format!("`{name}`"));
        }
    }
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
