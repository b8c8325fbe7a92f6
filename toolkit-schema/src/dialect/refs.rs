//! The references inside a schema, together with their targets.

use super::node::Path;
use crate::keyword::{Role, subschemas};
use crate::reference::escape;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ptr;

/// The maximum nesting depth of schemas to read.
pub(super) const DEEPEST: usize = 64;

/// Keywords that refer to another schema. Within one document, all of them mean the same as `$ref`.
pub(super) const REFERENCES: &[&str] = &["$ref", "$dynamicRef", "$recursiveRef"];

/// A schema that a reference points to.
#[derive(Debug)]
pub(super) struct Target<'a> {
    pub(super) path: Path,
    pub(super) schema: &'a Value,
    /// The unique name under which the target is written to `$defs`.
    pub(super) name: String,
}

/// All references inside a schema, together with their targets.
#[derive(Debug)]
pub(super) struct Refs<'a> {
    root: &'a Value,
    targets: Vec<Target<'a>>,
    numbers: HashMap<String, usize>,
    names: HashSet<String>,
    anchors: HashMap<&'a str, String>,
    /// The JSON pointers to all definitions in the document. The keys are the names of the definitions.
    definitions: HashMap<&'a str, String>,
    /// The number of schemas in the document.
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
        refs.survey();
        refs
    }

    pub(super) fn target(&self, number: usize) -> Option<&Target<'a>> {
        self.targets.get(number)
    }

    /// Finds the target of a reference. Returns the target with its index, or an explanation if there is no target.
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

    /// Adds the target of `reference` to `targets`. Does nothing if there is no target, or if it was added before.
    fn add(&mut self, reference: &str) {
        let Some(pointer) = self.pointer(reference).ok().filter(|known| !self.numbers.contains_key(known))
        else {
            return;
        };
        if let Some(schema) = self.root.pointer(&pointer) {
            let name = self.free_name(&pointer);
            self.targets.push(Target { path: pointer.as_str().into(), schema, name });
            self.numbers.insert(pointer, self.targets.len() - 1);
        }
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

    /// Finds all references, anchors and definitions, and counts the schemas.
    fn survey(&mut self) {
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        let mut open = vec![(self.root, String::new(), 0)];
        while !open.is_empty() {
            while let Some((schema, path, depth)) = open.pop() {
                seen.insert(ptr::from_ref(schema));
                self.size += 1;
                for keyword in ["$anchor", "$dynamicAnchor", "$id", "id"] {
                    let text = schema.get(keyword).and_then(Value::as_str);
                    let is_id = keyword.ends_with("id");
                    if let Some(name) = if is_id { text.and_then(|id| id.strip_prefix('#')) } else { text } {
                        self.anchors.entry(name).or_insert_with(|| path.clone());
                    }
                }
                found.extend(REFERENCES.iter().filter_map(|keyword| schema.get(keyword)?.as_str()));
                if depth < DEEPEST {
                    self.survey_inside(schema, &path, depth, &mut open);
                }
            }
            for reference in found.drain(..) {
                self.add(reference);
            }
            // Some targets are outside of the known keywords. Inspect these targets, too.
            let targets = self.targets.iter().filter(|target| !seen.contains(&ptr::from_ref(target.schema)));
            open.extend(targets.map(|target| (target.schema, target.path.to_string(), 0)));
        }
    }

    fn survey_inside(
        &mut self,
        schema: &'a Value,
        path: &str,
        depth: usize,
        open: &mut Vec<(&'a Value, String, usize)>,
    ) {
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
        // Reverse the new part of the stack, so the first schema is visited first. The indices and names of
        // targets then follow the order of the document.
        if let Some(new) = open.get_mut(before..) {
            new.reverse();
        }
    }
}

const NOWHERE: &str = "the reference leads nowhere";

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
