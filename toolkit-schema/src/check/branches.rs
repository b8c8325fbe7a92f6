//! The check of a value against the branches of a union.

use super::decoded::Reading;
use super::found::{Found, Message};
use super::{MOST, SEVERAL, Scope, Search, missing};
use crate::bounds::is_equal;
use crate::describe::describe_in;
use crate::discriminator::{Discriminator, discriminator, has_only_member, has_other_tag, may_be};
use crate::json::{Json, Kind};
use crate::optional::lacks_member;
use crate::own::names_of_type;
use crate::reference::{SchemaRef, resolve};
use crate::types::types;
use crate::violation::ViolationKind;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::ptr;

impl<'a, 'v> Search<'a, 'v, '_> {
    /// Inspects the branches of a union. If the value matches no branch, reports the violations of the most similar
    /// branch.
    pub(super) fn inspect_branches(
        &mut self,
        schema: &'a Value,
        keyword: &'static str,
        branches: &'a [Value],
        value: &Json<'v>,
    ) {
        let (fitting, closest) = self.closest_branch(keyword, branches, value);
        if fitting != 1 {
            let declared = |branch| {
                names_of_type(branch).is_some()
                    || resolve(self.root, branch).is_some_and(|own| names_of_type(own).is_some())
            };
            self.has_alias |= branches.iter().any(declared);
            self.add_unfit(schema, keyword, branches, value, fitting, closest);
        }
    }

    /// Returns the number of branches that the value matches, and the violations of the closest other branch.
    ///
    /// For `anyOf`, the search stops at the first matching branch, so the number is at most 1.
    ///
    /// For a decoded value, branches are first compared literally. Aliases and coerced forms are considered only if the
    /// value literally belongs to no branch.
    fn closest_branch(
        &mut self,
        keyword: &str,
        branches: &'a [Value],
        value: &Json<'v>,
    ) -> (usize, Option<Vec<Found<'a, 'v>>>) {
        let mut candidates = self.branches_of(keyword, branches, value);
        let widest = self.reading;
        if self.scope == Scope::Constraints && candidates.len() > 1 {
            for reading in [Reading::Literal, Reading::Names].into_iter().filter(|reading| *reading < widest)
            {
                self.reading = reading;
                let (fitting, closest) = self.closest_of(keyword, &mut candidates, value);
                self.reading = widest;
                let is_of_branch = |found: &Found<'_, '_>| found.kind == ViolationKind::Constraint;
                if fitting > 0 || closest.as_ref().is_some_and(|found| found.iter().all(is_of_branch)) {
                    return (fitting, closest);
                }
            }
        }
        self.closest_of(keyword, &mut candidates, value)
    }

    /// Returns the number of matching candidates, and the violations of the closest other candidate.
    ///
    /// Removes the candidates that turn out not to be the decoded variant, unless none would remain.
    fn closest_of(
        &mut self,
        keyword: &str,
        candidates: &mut Vec<&'a Value>,
        value: &Json<'v>,
    ) -> (usize, Option<Vec<Found<'a, 'v>>>) {
        let mut closest: Option<((usize, usize), Vec<Found<'a, 'v>>)> = None;
        let mut fitting = 0;
        let mut refuted: Vec<&Value> = Vec::new();
        for branch in candidates.iter().copied() {
            let found = self.violations_of(branch, value);
            if found.is_empty() {
                fitting += 1;
                if keyword == "anyOf" {
                    break;
                }
            } else if candidates.len() > 1
                && found.iter().all(|found| found.kind == ViolationKind::Constraint)
                && self.is_of_other_variant(branch, value)
            {
                refuted.push(branch);
            } else if let Some(rank) = self.rank(&found)
                && closest.as_ref().is_none_or(|(lower, _)| rank < *lower)
            {
                closest = Some((rank, found));
            }
        }
        if refuted.len() < candidates.len() {
            candidates.retain(|branch| !refuted.iter().any(|other| ptr::eq(*other, *branch)));
        }
        (fitting, closest.map(|(_, found)| found))
    }

    /// Returns the discriminator of the object branches. The schema of an untagged enum is an `anyOf`, so a constant
    /// member of its branches is no tag.
    fn choice(&self, keyword: &str, branches: &'a [Value]) -> Option<Discriminator<'a>> {
        let is_untagged = self.scope == Scope::Constraints && keyword == "anyOf";
        if is_untagged { None } else { discriminator(self.root, branches) }
    }

    fn branches_of(&self, keyword: &str, branches: &'a [Value], value: &Json<'_>) -> Vec<&'a Value> {
        let choice = self.choice(keyword, branches);
        let mut candidates = candidates(self.root, branches, choice.as_ref(), value);
        let is_of_type = |branch: &&&Value| has_type(self.root, branch, value);
        if self.scope == Scope::Constraints && candidates.iter().any(|branch| is_of_type(&branch)) {
            // A Rust type may decode a value of another JSON type, but prefers the branch with the value's own type.
            candidates.retain(|branch| is_of_type(&branch));
        }
        candidates
    }

    /// Adds violations for a value that matches no branch, or several branches of a `oneOf`.
    fn add_unfit(
        &mut self,
        schema: &'a Value,
        keyword: &'static str,
        branches: &'a [Value],
        value: &Json<'v>,
        fitting: usize,
        closest: Option<Vec<Found<'a, 'v>>>,
    ) {
        let is_decoded = self.scope == Scope::Constraints;
        let choice = self.choice(keyword, branches);
        if is_decoded && fitting == 0 {
            return self.inspect_other_forms(schema, keyword, choice.as_ref(), value, closest);
        }
        match (fitting, value.members(), choice, closest) {
            // Rust types may decode a struct from an array, so an array may match several structs.
            (2.., ..) if is_decoded && matches!(value.kind, Kind::Array(_)) => {}
            (2.., ..) => self.add_mismatch(ViolationKind::Constraint, schema, SEVERAL, value),
            (_, Some(_), Some(Discriminator::Tag(name, allowed)), _)
                if value.get(name).is_none_or(|given| !allowed.iter().any(|tag| is_equal(tag, given))) =>
            {
                let tag = json!({"enum": allowed});
                let parent = self.path.len();
                self.at_member(name, |this| match value.get(name) {
                    Some(given) => {
                        let (schema, text) = (Cow::Owned(tag), given.text);
                        let message = Message::Mismatch { schema, keyword: "enum", text };
                        this.add_found(this.path.len(), ViolationKind::WrongType, message);
                    }
                    None => {
                        this.add_named(parent, ViolationKind::Missing, missing(describe_in(this.root, &tag)));
                    }
                });
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

    /// Returns the distance between the value and a branch. `found` contains the violations of the branch. Returns
    /// `None` if these violations do not explain why the value is invalid.
    ///
    /// For a decoded value, the distance is the number of violations other than constraints, so the branch with the
    /// value's members and types is closest. Without a decoder, a branch with a violated constraint is always closer.
    ///
    /// For other values, the distance is the number of violations. They must all be inside the value.
    fn rank(&self, found: &[Found<'a, 'v>]) -> Option<(usize, usize)> {
        if self.scope == Scope::Constraints {
            let shapes = found.iter().filter(|found| found.kind != ViolationKind::Constraint).count();
            let is_doubtful = self.accepts.is_none() && shapes == found.len();
            return Some((usize::from(is_doubtful), shapes));
        }
        let is_inside = |found: &Found<'_, '_>| found.path.len() > self.path.len();
        found.iter().all(is_inside).then_some((0, found.len()))
    }
}

/// Returns the number of violations of a schema by a value, at most 64.
pub(crate) fn distance(schema: SchemaRef<'_>, value: &Json<'_>) -> usize {
    let mut search = Search::new(schema.root, value, "", Scope::All);
    search.inspect(schema.schema, value);
    if search.left == 0 { MOST } else { search.found.len() }
}

/// Returns the branches of a union that match the value's type and tag.
pub(crate) fn candidates<'a>(
    root: &Value,
    branches: &'a [Value],
    choice: Option<&Discriminator<'_>>,
    value: &Json<'_>,
) -> Vec<&'a Value> {
    let by_member = matches!(choice, Some(Discriminator::Members(_)));
    let may_be_of = |branch: &&Value| match &value.kind {
        Kind::Object(_) => {
            may_be(root, branch, "object")
                && !lacks_member(branch, value)
                && !has_other_tag(root, branch, choice, value)
                && (!by_member || has_only_member(root, branch, value))
        }
        // Rust types may decode a struct from an array.
        Kind::Array(_) => may_be(root, branch, "array") || may_be(root, branch, "object"),
        _ => true,
    };
    branches.iter().filter(may_be_of).collect()
}

/// Returns whether a branch allows the JSON type of the value. An array is also allowed in place of an object, because
/// a Rust type may decode a struct from an array.
fn has_type(root: &Value, branch: &Value, value: &Json<'_>) -> bool {
    let own = resolve(root, branch).and_then(|schema| schema.get("type"));
    let is_struct = |name: &str| name == "object" && matches!(value.kind, Kind::Array(_));
    own.is_none_or(|own| types(Some(own)).any(|name| value.is_of_type(name) || is_struct(name)))
}
