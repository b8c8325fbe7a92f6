//! The check of a value against a union.

use super::found::{Found, Message};
use super::{Origin, SEVERAL, Search, missing};
use crate::bounds::is_equal;
use crate::describe::describe_in;
use crate::discriminator::{Discriminator, discriminator, has_other_tag, may_be, only_member};
use crate::json::{Json, Kind};
use crate::normal::is_untagged;
use crate::plan::constrains;
use crate::reference::resolve;
use crate::types::has_name;
use crate::violation::ViolationKind;
use serde_json::{Value, json};
use std::borrow::Cow;

impl<'a, 'v> Search<'a, 'v, '_> {
    /// Inspects the branches of a union, and reports the violations of the most similar one if none matches.
    ///
    /// A Rust type decodes the first branch with the value's structure, so the value must satisfy this one
    /// even if it matches a later one.
    pub(super) fn inspect_branches(
        &mut self,
        schema: &'a Value,
        keyword: &'static str,
        branches: &'a [Value],
        value: &Json<'v>,
    ) {
        let is_of_type = self.is_of_type(branches);
        let may_be_unclear = is_of_type && self.checks.refuses_unclear && keyword == "anyOf";
        if may_be_unclear && self.is_unclear(branches, value) {
            let message = "a list here may also be read as an object; write the object with its names";
            return self.add(ViolationKind::Constraint, message.to_owned());
        }
        let is_untagged = is_of_type && is_untagged(schema);
        self.untagged += usize::from(is_untagged);
        self.inspect_candidates(schema, keyword, branches, value, is_of_type);
        self.untagged -= usize::from(is_untagged);
    }

    fn inspect_candidates(
        &mut self,
        schema: &'a Value,
        keyword: &'static str,
        branches: &'a [Value],
        value: &Json<'v>,
        is_of_type: bool,
    ) {
        let is_first = is_of_type || keyword == "anyOf";
        let mut closest: Option<Vec<Found<'a, 'v>>> = None;
        let mut fitting = 0;
        for branch in self.branches_of(keyword, branches, value) {
            let found = self.violations_of(branch, value);
            if found.is_empty() {
                fitting += 1;
                if is_first {
                    return;
                }
            } else if is_of_type && found.iter().all(|found| !found.is_structure) {
                return self.found.extend(found);
            } else if self.explain(&found)
                && closest.as_ref().is_none_or(|closest| found.len() < closest.len())
            {
                closest = Some(found);
            }
        }
        if fitting != 1 {
            self.add_unfit(schema, keyword, branches, value, fitting, closest);
        }
    }

    /// Returns whether a Rust type would decode a list as an earlier variant's struct, although it has a
    /// later variant's structure.
    fn is_unclear(&mut self, branches: &'a [Value], value: &Json<'v>) -> bool {
        let Kind::Array(items) = &value.kind else { return false };
        for branch in branches {
            if let Some(object) = resolve(self.root, branch)
                && may_be(self.root, branch, "object")
            {
                if self.are_fields(object, items) {
                    return true;
                }
            } else if self.has_structure(branch, value) {
                return false;
            }
        }
        false
    }

    /// Returns whether items may be a struct's fields, in order and with all required ones.
    fn are_fields(&mut self, object: &'a Value, items: &[Json<'v>]) -> bool {
        let Some(fields) = object.get("properties").and_then(Value::as_object) else { return false };
        let mut left = fields.iter();
        for item in items {
            let Some((_, field)) = left.next() else { return false };
            if !self.has_structure(field, item) {
                return false;
            }
        }
        left.all(|(name, _)| !has_name(object.get("required"), name))
    }

    /// Returns whether a union comes from the variants of a Rust type. Each variant has a type or takes any
    /// value, while a branch with constraints alone comes from an attribute.
    pub(super) fn is_of_type(&self, branches: &'a [Value]) -> bool {
        if self.origin != Origin::RustType {
            return false;
        }
        let kinds = ["type", "enum", "const", "$ref", "allOf", "anyOf", "oneOf", "properties"];
        for branch in branches {
            let Some(Value::Object(keywords)) = resolve(self.root, branch) else { continue };
            let has_kind = kinds.iter().any(|keyword| keywords.contains_key(*keyword));
            if !has_kind && constrains(keywords, &[]) {
                return false;
            }
        }
        true
    }

    /// Returns the discriminator of the object branches, without tags for `anyOf`, the schema of untagged
    /// enums.
    fn choice(&self, keyword: &str, branches: &'a [Value]) -> Option<Discriminator<'a>> {
        let is_untagged = self.origin == Origin::RustType && keyword == "anyOf";
        if is_untagged { None } else { discriminator(self.root, branches) }
    }

    pub(super) fn branches_of(
        &self,
        keyword: &str,
        branches: &'a [Value],
        value: &Json<'_>,
    ) -> Vec<&'a Value> {
        let choice = self.choice(keyword, branches);
        candidates(self.root, branches, choice.as_ref(), value)
    }

    /// Adds violations for a value that matches no branch, or several of a `oneOf`.
    fn add_unfit(
        &mut self,
        schema: &'a Value,
        keyword: &'static str,
        branches: &'a [Value],
        value: &Json<'v>,
        fitting: usize,
        closest: Option<Vec<Found<'a, 'v>>>,
    ) {
        match (fitting, value.members(), self.choice(keyword, branches), closest) {
            (2.., ..) => self.add_mismatch(ViolationKind::Constraint, schema, SEVERAL, value),
            (_, Some(_), Some(Discriminator::Tag(name, allowed)), _)
                if !has_tag(value.get(name), &allowed) =>
            {
                self.at_member(name, |this| this.add_wrong_tag(&allowed, value.get(name)));
            }
            (_, Some(_), Some(Discriminator::Members(names)), _)
                if !names.iter().any(|name| value.get(name).is_some()) =>
            {
                self.add_mismatch(ViolationKind::WrongType, schema, keyword, value);
            }
            (.., Some(found)) => self.found.extend(found),
            (.., None) => self.add_mismatch(ViolationKind::WrongType, schema, keyword, value),
        }
    }

    /// Adds a violation for a tag that is absent or not among `allowed`.
    fn add_wrong_tag(&mut self, allowed: &[&Value], given: Option<&Json<'v>>) {
        let tag = json!({"enum": allowed});
        let Some(Json { text, .. }) = given else {
            let expected = describe_in(self.root, &tag);
            return self.add(ViolationKind::Missing, missing(expected));
        };
        let message = Message::Mismatch { schema: Cow::Owned(tag), keyword: "enum", text };
        self.add_found(ViolationKind::WrongType, message, true);
    }

    /// Returns whether a branch's violations are all inside the value, and so explain it.
    fn explain(&self, found: &[Found<'a, 'v>]) -> bool {
        found.iter().all(|found| found.path.len() > self.path.len())
    }
}

fn has_tag(given: Option<&Json<'_>>, allowed: &[&Value]) -> bool {
    let Some(given) = given else { return false };
    allowed.iter().any(|tag| is_equal(tag, given))
}

/// Returns the branches that match the value's type and tag.
pub(crate) fn candidates<'a>(
    root: &Value,
    branches: &'a [Value],
    choice: Option<&Discriminator<'_>>,
    value: &Json<'_>,
) -> Vec<&'a Value> {
    let by_member = matches!(choice, Some(Discriminator::Members(_)));
    let mut candidates = Vec::new();
    for branch in branches {
        let is_candidate = match &value.kind {
            Kind::Object(_) => {
                may_be(root, branch, "object")
                    && !has_other_tag(root, branch, choice, value)
                    && (!by_member || only_member(root, branch).is_none_or(|name| value.get(name).is_some()))
            }
            Kind::Array(_) => may_be(root, branch, "array"),
            _ => true,
        };
        if is_candidate {
            candidates.push(branch);
        }
    }
    candidates
}
