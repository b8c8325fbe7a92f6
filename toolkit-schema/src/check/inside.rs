//! The check of members and items.

use super::found::Message;
use super::{Origin, Search, expected, missing, refused_name};
use crate::describe::describe_in;
use crate::index::{AddressMap, Names, address};
use crate::json::{Json, Kind, quoted};
use crate::keyword::{Role, Subschema, subschemas};
use crate::properties::{item_schema, member_schemas, property};
use crate::reference::referenced;
use crate::types::{has_name, names};
use crate::violation::ViolationKind;
use serde_json::Value;
use std::borrow::Cow;

/// Looking up this many members counts as applying one schema.
const MEMBERS_PER_STEP: usize = 16;

impl<'a, 'v> Search<'a, 'v, '_> {
    pub(super) fn inspect_members(
        &mut self,
        schema: &'a Value,
        members: &[(Cow<'v, str>, Json<'v>)],
        object: &Json<'v>,
    ) {
        self.left = self.left.saturating_sub(members.len() / MEMBERS_PER_STEP);
        for (name, value) in members {
            if self.left == 0 || self.found.len() >= self.most {
                break;
            }
            self.at_member(name, |this| this.inspect_member(schema, name, value));
        }
        self.inspect_required(schema, members);
        for (name, needs) in schema.get("dependentSchemas").and_then(Value::as_object).into_iter().flatten() {
            if members.iter().any(|(given, _)| given == name) {
                self.inspect(needs, object);
            }
        }
        if schema.get("unevaluatedProperties").is_some() {
            self.inspect_unevaluated(schema, members, object);
        }
    }

    fn inspect_member(&mut self, schema: &'a Value, name: &str, value: &Json<'v>) {
        let (named, other) = member_schemas(schema, name);
        for property in named {
            if !self.is_absent(property, value) || has_name(schema.get("required"), name) {
                self.inspect_whole(property, value);
            }
        }
        match other {
            Some(Value::Bool(false)) => self.add(ViolationKind::Unknown, refused_name(schema, name)),
            Some(other) => self.inspect_whole(other, value),
            None => {}
        }
        if let Some(of_names) = schema.get("propertyNames") {
            self.inspect_name(of_names, name);
        }
    }

    /// Returns whether a Rust type takes `null` for the absence of an optional member.
    fn is_absent(&self, property: &Value, value: &Json<'v>) -> bool {
        let has_default = !property.get("default").is_none_or(Value::is_null);
        self.origin == Origin::RustType && matches!(value.kind, Kind::Null) && !has_default
    }

    fn inspect_required(&mut self, schema: &'a Value, members: &[(Cow<'v, str>, Json<'v>)]) {
        let required = schema.get("required");
        let dependent = schema.get("dependentRequired");
        if required.is_none() && dependent.is_none() {
            return;
        }
        let mut given = Names::default();
        for (name, _) in members {
            given.add(Cow::Borrowed(&**name));
        }
        for name in names(required) {
            self.require(schema, name, &given);
        }
        for (name, needs) in dependent.and_then(Value::as_object).into_iter().flatten() {
            if given.contains(name) {
                for needed in names(Some(needs)) {
                    self.require(schema, needed, &given);
                }
            }
        }
    }

    /// Adds a violation if the member called `name` is not given.
    fn require(&mut self, schema: &'a Value, name: &str, given: &Names<'_>) {
        if !given.contains(name) {
            let message = missing(property(schema, name).and_then(|own| describe_in(self.root, own)));
            self.at_member(name, |this| this.add(ViolationKind::Missing, message));
        }
    }

    fn inspect_unevaluated(
        &mut self,
        schema: &'a Value,
        members: &[(Cow<'v, str>, Json<'v>)],
        object: &Json<'v>,
    ) {
        let Some(rest) = schema.get("unevaluatedProperties") else { return };
        let evaluating = self.evaluating(schema, object);
        for (name, value) in members {
            if evaluating.iter().any(|schema| has_schema_for(schema, name)) {
                continue;
            }
            if *rest == Value::Bool(false) {
                let message = Message::Unknown { schema, name: name.to_string(), object: object.text };
                self.at_member(name, |this| this.add_found(ViolationKind::Unknown, message, true));
            } else {
                self.at_member(name, |this| this.inspect(rest, value));
            }
        }
    }

    /// Returns the schemas that evaluate members or items: `schema`, and inner ones that the value matches.
    fn evaluating(&mut self, schema: &'a Value, value: &Json<'v>) -> Vec<&'a Value> {
        let mut found = vec![schema];
        let mut seen = AddressMap::default();
        seen.insert(address(schema), ());
        let mut at = 0;
        while let Some(schema) = found.get(at).copied() {
            at += 1;
            let condition = schema.get("if").map(|condition| self.fits(condition, value));
            let inner = subschemas(schema).filter(|inside| is_applied(inside, condition, value));
            for part in referenced(self.root, schema).into_iter().chain(inner.map(|inside| inside.schema)) {
                if seen.insert(address(part), ()) && self.left > 0 && self.fits(part, value) {
                    found.push(part);
                }
            }
        }
        found
    }

    fn inspect_name(&mut self, schema: &'a Value, name: &str) {
        let text = quoted(name);
        let Ok(value) = Json::parse(&text) else { return };
        let depth = self.depth + self.open.len();
        let is_allowed = self.checks.fits(schema, &value, &mut self.left, depth);
        if self.left > 0 && !is_allowed {
            let message = match expected(self.root, schema, "", None) {
                Some(expected) => format!("this name is not allowed; expected {expected}"),
                None => "this name is not allowed".to_owned(),
            };
            self.add(ViolationKind::Constraint, message);
        }
    }

    pub(super) fn inspect_items(&mut self, schema: &'a Value, items: &[Json<'v>], value: &Json<'v>) {
        for (index, item) in items.iter().enumerate() {
            let Some(schema) = item_schema(schema, index) else { break };
            self.at_item(index, |this| this.inspect_whole(schema, item));
        }
        if let Some(rest) = schema.get("unevaluatedItems") {
            let evaluating = self.evaluating(schema, value);
            for (index, item) in items.iter().enumerate() {
                if !evaluating.iter().any(|schema| self.evaluates(schema, index, item)) {
                    self.at_item(index, |this| this.inspect(rest, item));
                }
            }
        }
        if let Some(wanted) = schema.get("contains") {
            let count = items.iter().filter(|item| self.fits(wanted, item)).count() as u64;
            let least = schema.get("minContains").and_then(Value::as_u64).unwrap_or(1);
            let most = schema.get("maxContains").and_then(Value::as_u64).unwrap_or(u64::MAX);
            if count < least || count > most {
                self.add_mismatch(ViolationKind::Constraint, schema, "contains", value);
            }
        }
    }

    /// Returns whether a schema is for an item, by its position or by `contains`.
    fn evaluates(&mut self, schema: &'a Value, index: usize, item: &Json<'v>) -> bool {
        item_schema(schema, index).is_some()
            || schema.get("contains").is_some_and(|wanted| self.fits(wanted, item))
    }
}

fn has_schema_for(schema: &Value, name: &str) -> bool {
    let (named, other) = member_schemas(schema, name);
    !named.is_empty() || other.is_some()
}

/// Returns whether an inner schema applies to the value itself, which satisfies `if` or not by `condition`.
fn is_applied(inside: &Subschema<'_>, condition: Option<bool>, value: &Json<'_>) -> bool {
    match inside.keyword {
        "not" => false,
        "if" | "then" => condition == Some(true),
        "else" => condition == Some(false),
        "dependentSchemas" => inside.key.as_deref().is_some_and(|name| value.get(name).is_some()),
        _ => inside.role == Role::InPlace,
    }
}
