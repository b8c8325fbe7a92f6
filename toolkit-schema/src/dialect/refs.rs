//! The references of a schema, their targets, and the recursion among them.

use super::node::Path;
use crate::keyword::{Role, subschemas};
use crate::reference::escape;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Levels of nested schemas that are read.
pub(super) const DEEPEST: usize = 64;

/// Schemas that are searched for recursive references.
const SEARCHED: usize = 100_000;

/// Keywords that refer to another schema. Inside one document the dynamic ones mean the same.
pub(super) const REFERENCES: &[&str] = &["$ref", "$dynamicRef", "$recursiveRef"];

/// The target of a reference.
#[derive(Debug)]
pub(super) struct Target<'a> {
    pub(super) path: Path,
    pub(super) schema: &'a Value,
    /// Whether the schema refers to itself, directly or not.
    pub(super) is_recursive: bool,
    /// The name of the definition.
    pub(super) name: String,
}

/// All references of a schema.
#[derive(Debug)]
pub(super) struct Refs<'a> {
    root: &'a Value,
    targets: Vec<Target<'a>>,
    numbers: HashMap<String, usize>,
    names: HashSet<String>,
    anchors: HashMap<&'a str, String>,
    /// The pointers to definitions at any depth.
    definitions: HashMap<&'a str, String>,
    /// The number of schemas.
    pub(super) size: usize,
}

impl<'a> Refs<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        let mut refs = Self {
            root,
            targets: Vec::new(),
            numbers: HashMap::new(),
            names: HashSet::new(),
            anchors: HashMap::new(),
            definitions: HashMap::new(),
            size: 0,
        };
        for reference in refs.survey() {
            refs.add(reference);
        }
        let mut left = SEARCHED;
        let mut leads_to: Vec<Vec<usize>> = Vec::new();
        while let Some(target) = refs.targets.get(leads_to.len()) {
            let inside = references_in(target.schema, &mut left);
            leads_to.push(inside.into_iter().filter_map(|reference| refs.add(reference)).collect());
        }
        // What was not searched may be recursive, and is treated so.
        let is_recursive = if left == 0 { vec![true; leads_to.len()] } else { on_cycles(&leads_to) };
        for (target, is_recursive) in refs.targets.iter_mut().zip(is_recursive) {
            target.is_recursive = is_recursive;
        }
        refs
    }

    pub(super) fn target(&self, number: usize) -> Option<&Target<'a>> {
        self.targets.get(number)
    }

    /// Returns the target of a reference with its number, or why there is none.
    pub(super) fn resolve(&self, reference: &str) -> Result<(usize, &Target<'a>), &'static str> {
        let pointer = self.pointer(reference)?;
        let number = self.numbers.get(&pointer).copied();
        number.and_then(|number| Some((number, self.target(number)?))).ok_or(NOWHERE)
    }

    fn pointer(&self, reference: &str) -> Result<String, &'static str> {
        let base = self.root.get("$id").and_then(Value::as_str).map(|id| id.trim_end_matches('#'));
        let local = base.filter(|base| !base.is_empty()).and_then(|base| reference.strip_prefix(base));
        let fragment = match local.unwrap_or(reference) {
            "" => "",
            local => local.strip_prefix('#').ok_or("the reference leads to another document")?,
        };
        let fragment = percent_decoded(fragment);
        if fragment.is_empty() {
            return Ok(fragment);
        }
        if !fragment.starts_with('/') {
            return self.anchors.get(fragment.as_str()).cloned().ok_or(NOWHERE);
        }
        if self.root.pointer(&fragment).is_some() {
            return Ok(fragment);
        }
        let name = fragment.strip_prefix("/$defs/").or_else(|| fragment.strip_prefix("/definitions/"));
        name.and_then(|name| self.definitions.get(name)).cloned().ok_or(NOWHERE)
    }

    /// Adds the target of a reference, and returns its number.
    fn add(&mut self, reference: &str) -> Option<usize> {
        let pointer = self.pointer(reference).ok()?;
        if let Some(number) = self.numbers.get(&pointer) {
            return Some(*number);
        }
        let schema = self.root.pointer(&pointer)?;
        let number = self.targets.len();
        let name = self.free_name(&pointer);
        self.targets.push(Target { path: pointer.as_str().into(), schema, is_recursive: false, name });
        self.numbers.insert(pointer, number);
        Some(number)
    }

    fn free_name(&mut self, pointer: &str) -> String {
        let last = pointer.rsplit('/').next().filter(|last| !last.is_empty()).unwrap_or("root");
        let plain = |c: char| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '_' };
        let name: String = last.chars().map(plain).take(64).collect();
        let mut free = name.clone();
        let mut number = 1;
        while !self.names.insert(free.clone()) {
            number += 1;
            free = format!("{name}_{number}");
        }
        free
    }

    /// Returns all references; collects anchors and definitions on the way, and counts the schemas.
    fn survey(&mut self) -> Vec<&'a str> {
        let mut found = Vec::new();
        let mut open = vec![(self.root, String::new(), 0)];
        while let Some((schema, path, depth)) = open.pop() {
            self.size += 1;
            for keyword in ["$anchor", "$dynamicAnchor", "$id", "id"] {
                let text = schema.get(keyword).and_then(Value::as_str);
                let name =
                    if keyword.ends_with("id") { text.and_then(|id| id.strip_prefix('#')) } else { text };
                if let Some(name) = name {
                    self.anchors.entry(name).or_insert_with(|| path.clone());
                }
            }
            found.extend(references_of(schema));
            if depth == DEEPEST {
                continue;
            }
            let before = open.len();
            for inside in subschemas(schema) {
                let mut path = format!("{path}/{}", inside.keyword);
                if let Some(key) = &inside.key {
                    path.extend(["/", &escape(key)]);
                }
                if let (Role::Definitions, Some(Cow::Borrowed(name))) = (inside.role, inside.key) {
                    self.definitions.entry(name).or_insert_with(|| path.clone());
                }
                open.push((inside.schema, path, depth + 1));
            }
            // The first is taken up first, so that numbers and names follow the order of the text.
            if let Some(new) = open.get_mut(before..) {
                new.reverse();
            }
        }
        found
    }
}

const NOWHERE: &str = "the reference leads nowhere";

/// Returns the references inside a schema, without those of its definitions.
fn references_in<'a>(schema: &'a Value, left: &mut usize) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut open = vec![(schema, 0)];
    while let Some((schema, depth)) = open.pop() {
        *left = left.saturating_sub(1);
        if *left == 0 {
            return found;
        }
        found.extend(references_of(schema));
        if depth < DEEPEST {
            let inside = subschemas(schema).filter(|inside| inside.role != Role::Definitions);
            open.extend(inside.map(|inside| (inside.schema, depth + 1)));
        }
    }
    found
}

fn references_of(schema: &Value) -> impl Iterator<Item = &str> {
    REFERENCES.iter().filter_map(|keyword| schema.get(keyword)?.as_str())
}

/// Finds the nodes of a graph on cycles, and on ways from one cycle to another.
fn on_cycles(leads_to: &[Vec<usize>]) -> Vec<bool> {
    let mut comes_from = vec![Vec::new(); leads_to.len()];
    for (from, to) in leads_to.iter().enumerate() {
        for to in to {
            if let Some(sources) = comes_from.get_mut(*to) {
                sources.push(from);
            }
        }
    }
    let ends = without_dead_ends(leads_to, &comes_from);
    let starts = without_dead_ends(&comes_from, leads_to);
    ends.iter().zip(starts).map(|(ends, starts)| *ends && starts).collect()
}

/// Finds the nodes that stay when those without a way out are removed, again and again.
fn without_dead_ends(leads_to: &[Vec<usize>], comes_from: &[Vec<usize>]) -> Vec<bool> {
    let mut ways: Vec<usize> = leads_to.iter().map(Vec::len).collect();
    let mut dead: Vec<usize> = (0..ways.len()).filter(|node| ways.get(*node) == Some(&0)).collect();
    while let Some(node) = dead.pop() {
        for from in comes_from.get(node).into_iter().flatten() {
            if let Some(ways) = ways.get_mut(*from) {
                *ways -= 1;
                if *ways == 0 {
                    dead.push(*from);
                }
            }
        }
    }
    ways.into_iter().map(|ways| ways > 0).collect()
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after.get(..2).filter(|_| *first == b'%').and_then(|code| std::str::from_utf8(code).ok());
        let decoded = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        bytes.push(decoded.unwrap_or(*first));
        rest = if decoded.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
