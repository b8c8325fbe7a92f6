//! The schemas that apply to one value.

use super::found::{Found, Message};
use super::{Checks, Search, property_names, rounded_integers};
use crate::json::{Json, Kind, budget};
use crate::normal::{is_listed, is_untagged, publishes};
use crate::plan::constrains;
use crate::reference::{referenced, resolve};
use crate::violation::{Violation, ViolationKind};
use serde_json::Value;
use std::ptr;

impl<'a> Checks<'a> {
    /// Returns whether a value has a schema's structure, whatever constraints it violates.
    pub(crate) fn has_structure(&self, schema: &'a Value, value: &Json<'_>, left: &mut usize) -> bool {
        self.within(left, 0, |search| search.has_structure(schema, value))
    }

    /// Returns all schemas for `value`: the schema, its parts, and the targets and branches that apply.
    pub(crate) fn parts(&self, schema: &'a Value, value: &Json<'_>, left: &mut usize) -> Vec<&'a Value> {
        self.within(left, 0, |search| search.parts(schema, value).applied)
    }

    /// Returns the names that a schema lists for an object, also in possible branches that other members
    /// would choose.
    pub(crate) fn member_names(&self, schema: &'a Value, object: &Json<'_>) -> Vec<&'a str> {
        let Parts { applied, mut possible } =
            self.within(&mut budget(object), 0, |search| search.parts(schema, object));
        for part in &applied {
            for keyword in ["if", "then", "else"] {
                possible.extend(part.get(keyword));
            }
            if let Some(Value::Object(dependent)) = part.get("dependentSchemas") {
                possible.extend(dependent.values());
            }
        }
        let targets = possible.iter().filter_map(|part| resolve(self.root, part));
        let mut names = Vec::new();
        for part in applied.iter().chain(&possible).copied().chain(targets) {
            for name in property_names(part) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }
}

struct Parts<'a> {
    applied: Vec<&'a Value>,
    /// The branches of unions without an applied branch, not followed further.
    possible: Vec<&'a Value>,
}

impl<'a, 'v> Search<'a, 'v, '_> {
    pub(super) fn has_structure(&mut self, schema: &'a Value, value: &Json<'v>) -> bool {
        let found = self.violations_of(schema, value);
        self.left > 0 && found.iter().all(|found| !found.is_structure)
    }

    fn parts(&mut self, schema: &'a Value, value: &Json<'v>) -> Parts<'a> {
        let mut parts: Vec<&'a Value> = Vec::new();
        let mut possible: Vec<&'a Value> = Vec::new();
        let mut open = vec![schema];
        while let Some(schema) = open.pop() {
            let Some(left) = self.left.checked_sub(1) else { break };
            self.left = left;
            if !schema.is_object() || parts.iter().any(|part| ptr::eq(*part, schema)) {
                continue;
            }
            parts.push(schema);
            open.extend(referenced(self.root, schema));
            open.extend(schema.get("allOf").and_then(Value::as_array).into_iter().flatten());
            for keyword in ["anyOf", "oneOf"] {
                if let Some(branches) = schema.get(keyword).and_then(Value::as_array) {
                    let candidates = self.branches_of(keyword, branches, value);
                    match candidates.iter().find(|branch| self.has_structure(branch, value)) {
                        Some(branch) => open.push(branch),
                        None if candidates.is_empty() => possible.extend(branches),
                        None => possible.extend(candidates),
                    }
                }
            }
        }
        Parts { applied: parts, possible }
    }

    /// Reports each integer that a Rust type would round in a branch for any value.
    pub(super) fn inspect_integers(&mut self, schema: &'a Value, value: &Json<'v>) {
        if self.has_any_branch(schema) {
            for Violation { path, kind, message } in rounded_integers(value, &self.path) {
                self.push(Found { path, kind, is_structure: false, message: Message::Text(message) });
            }
        }
    }

    fn has_any_branch(&self, schema: &'a Value) -> bool {
        let mut seen = Vec::new();
        let mut open = vec![schema];
        while let Some(schema) = open.pop() {
            let Some(own) = resolve(self.root, schema) else { continue };
            match own {
                Value::Object(keywords) if constrains(keywords, &[]) => {}
                own => return own != &Value::Bool(false),
            }
            if seen.contains(&ptr::from_ref(own)) {
                continue;
            }
            seen.push(ptr::from_ref(own));
            for keyword in ["allOf", "anyOf", "oneOf"] {
                open.extend(own.get(keyword).and_then(Value::as_array).into_iter().flatten());
            }
        }
        false
    }

    /// Reports each unpublished member, unless these are ignored. None is ignored below an untagged union,
    /// because without it the value could belong to another branch.
    pub(super) fn inspect_published(&mut self, schema: &'a Value, value: &Json<'v>) {
        let Kind::Object(members) = &value.kind else { return };
        let is_closed = schema.get("additionalProperties").is_some();
        let is_whole =
            !["$ref", "allOf", "anyOf", "oneOf"].iter().any(|keyword| schema.get(keyword).is_some());
        if is_closed && is_whole || self.found.len() >= self.most {
            return;
        }
        let parts = self.parts(schema, value).applied;
        let is_refused = self.checks.refuses_unpublished || self.untagged > 0;
        if !is_listed(&parts) || !is_refused && !parts.iter().any(|part| is_untagged(part)) {
            return;
        }
        for (name, _) in members {
            if !parts.iter().any(|part| publishes(part, name)) {
                let message = Message::Unknown { schema, name: name.to_string(), object: value.text };
                self.at_member(name, |this| this.add_unpublished(message));
            }
        }
    }

    /// Adds a violation for the member at the path, unless it has one.
    fn add_unpublished(&mut self, message: Message<'a, 'v>) {
        for found in &self.found {
            if found.kind == ViolationKind::Unknown && found.path == self.path {
                return;
            }
        }
        // Serde ignores the member, so the value keeps its branch.
        self.add_found(ViolationKind::Unknown, message, false);
    }
}
