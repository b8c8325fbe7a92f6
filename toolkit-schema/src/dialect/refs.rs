//! Where references lead, and which of them lead back to themselves.

use super::keywords::{Shape, shape};
use super::node::{Path, escape};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Schemas nested deeper than this are cut off.
pub(super) const DEEPEST: usize = 64;

/// How many schemas are looked at in search of references that lead back to themselves.
const LOOKED_AT: usize = 100_000;

/// Keywords that refer to another schema. Inside one document the dynamic ones mean the same.
pub(super) const REFERENCES: &[&str] = &["$ref", "$dynamicRef", "$recursiveRef"];

/// A schema that something refers to.
#[derive(Debug)]
pub(super) struct Target<'a> {
    pub(super) path: Path,
    pub(super) schema: &'a Value,
    /// Whether it refers to itself, directly or not.
    pub(super) is_recursive: bool,
    /// The name of its definition.
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
    /// Definitions that stand deeper than in the root, by their names.
    nested: HashMap<&'a str, String>,
    /// How many schemas there are.
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
            nested: HashMap::new(),
            size: 0,
        };
        let mut found = Vec::new();
        refs.size = refs.survey(&mut found);
        let mut left = LOOKED_AT;
        for reference in found {
            refs.add(reference);
        }
        let mut leads_to: Vec<Vec<usize>> = Vec::new();
        while let Some(target) = refs.targets.get(leads_to.len()) {
            let inside = references_in(target.schema, &mut left);
            let next: Vec<usize> = inside.into_iter().filter_map(|text| refs.add(text)).collect();
            leads_to.push(next);
        }
        // What was not looked at may be recursive, and is treated so.
        let is_recursive = if left == 0 { vec![true; leads_to.len()] } else { on_cycles(&leads_to) };
        for (target, is_recursive) in refs.targets.iter_mut().zip(is_recursive) {
            target.is_recursive = is_recursive;
        }
        refs
    }

    pub(super) fn target(&self, number: usize) -> Option<&Target<'a>> {
        self.targets.get(number)
    }

    /// The number of the target, or why there is none.
    pub(super) fn resolve(&self, reference: &str) -> Result<usize, &'static str> {
        let pointer = self.pointer(reference)?;
        self.numbers.get(&pointer).copied().ok_or("it leads nowhere")
    }

    /// The pointer behind a reference.
    fn pointer(&self, reference: &str) -> Result<String, &'static str> {
        let base = self.root.get("$id").and_then(Value::as_str).map(|id| id.trim_end_matches('#'));
        let local = base.filter(|base| !base.is_empty()).and_then(|base| reference.strip_prefix(base));
        let fragment = match local.unwrap_or(reference) {
            "" => "",
            local => local.strip_prefix('#').ok_or("it leads to another document")?,
        };
        let fragment = percent_decoded(fragment);
        if fragment.is_empty() {
            return Ok(fragment);
        }
        if !fragment.starts_with('/') {
            return self.anchors.get(fragment.as_str()).cloned().ok_or("it leads nowhere");
        }
        if self.root.pointer(&fragment).is_some() {
            return Ok(fragment);
        }
        let name = fragment.strip_prefix("/$defs/").or_else(|| fragment.strip_prefix("/definitions/"));
        name.and_then(|name| self.nested.get(name)).cloned().ok_or("it leads nowhere")
    }

    /// Remembers what a reference leads to.
    fn add(&mut self, reference: &str) -> Option<usize> {
        let pointer = self.pointer(reference).ok()?;
        if let Some(number) = self.numbers.get(&pointer) {
            return Some(*number);
        }
        let schema = self.root.pointer(&pointer)?;
        let number = self.targets.len();
        let name = self.free_name(&pointer);
        let path = pointer.as_str().into();
        self.targets.push(Target { path, schema, is_recursive: false, name });
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

    /// Finds anchors, definitions and references, and counts the schemas.
    fn survey(&mut self, found: &mut Vec<&'a str>) -> usize {
        let mut open = vec![(self.root, String::new(), 0)];
        let mut size = 0;
        while let Some((schema, path, depth)) = open.pop() {
            size += 1;
            for anchor in ["$anchor", "$dynamicAnchor", "$id", "id"] {
                let Some(name) = schema.get(anchor).and_then(Value::as_str) else { continue };
                let name = if anchor.ends_with("id") { name.strip_prefix('#') } else { Some(name) };
                if let Some(name) = name {
                    self.anchors.entry(name).or_insert_with(|| path.clone());
                }
            }
            found.extend(references_of(schema));
            if depth == DEEPEST {
                continue;
            }
            let before = open.len();
            each_inside(schema, true, &mut |keyword, step, inside| {
                let path = match step {
                    Step::Name(name) => format!("{path}/{keyword}/{}", escape(name)),
                    Step::Index(index) => format!("{path}/{keyword}/{index}"),
                    Step::None => format!("{path}/{keyword}"),
                };
                if let (Step::Name(name), "$defs" | "definitions") = (step, keyword) {
                    self.nested.entry(name).or_insert_with(|| path.clone());
                }
                open.push((inside, path, depth + 1));
            });
            // The first is taken up first, so that numbers and names go in the order of the text.
            if let Some(new) = open.get_mut(before..) {
                new.reverse();
            }
        }
        size
    }
}

/// The references inside a schema, without its definitions.
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
            each_inside(schema, false, &mut |_, _, inside| open.push((inside, depth + 1)));
        }
    }
    found
}

fn references_of(schema: &Value) -> impl Iterator<Item = &str> {
    REFERENCES.iter().filter_map(|keyword| schema.get(keyword)?.as_str())
}

/// Where a schema stands under its keyword.
#[derive(Clone, Copy)]
enum Step<'a> {
    None,
    Name(&'a str),
    Index(usize),
}

/// The schemas directly inside a schema, each with its keyword.
fn each_inside<'a>(
    schema: &'a Value,
    definitions: bool,
    visit: &mut dyn FnMut(&'a str, Step<'a>, &'a Value),
) {
    let Value::Object(schema) = schema else { return };
    for (keyword, value) in schema {
        let keyword = keyword.as_str();
        if !definitions && matches!(keyword, "$defs" | "definitions") {
            continue;
        }
        // Draft 7 has lists as `items`.
        let is_list = shape(keyword) == Shape::List || keyword == "items";
        match (shape(keyword), value) {
            (Shape::Named, Value::Object(named)) => {
                named.iter().for_each(|(name, inside)| visit(keyword, Step::Name(name), inside));
            }
            (_, Value::Array(list)) if is_list => {
                list.iter().enumerate().for_each(|(index, inside)| {
                    visit(keyword, Step::Index(index), inside);
                });
            }
            (Shape::One, Value::Object(_)) => visit(keyword, Step::None, value),
            _ => {}
        }
    }
}

/// Which nodes of a graph lie on a cycle, or on a way from one cycle to another.
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

/// What is left when nodes that lead nowhere are taken away, again and again.
fn without_dead_ends(leads_to: &[Vec<usize>], comes_from: &[Vec<usize>]) -> Vec<bool> {
    let mut ways: Vec<usize> = leads_to.iter().map(Vec::len).collect();
    let mut stays = vec![true; ways.len()];
    let mut dead: Vec<usize> = (0..ways.len()).filter(|node| ways.get(*node) == Some(&0)).collect();
    while let Some(node) = dead.pop() {
        if let Some(stays) = stays.get_mut(node) {
            *stays = false;
        }
        for from in comes_from.get(node).into_iter().flatten() {
            if let Some(ways) = ways.get_mut(*from) {
                *ways -= 1;
                if *ways == 0 {
                    dead.push(*from);
                }
            }
        }
    }
    stays
}

fn percent_decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
