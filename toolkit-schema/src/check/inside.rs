//! The check of members and items.

use super::found::Message;
use super::{Origin, Search, expected, missing, refused_name};
use crate::describe::describe_in;
use crate::index::{AddressMap, Names, address};
use crate::json::{Json, Kind, quoted};
use crate::keyword::{Role, subschemas};
use crate::properties::{item_schema, member_schemas};
use crate::reference::referenced;
use crate::types::names;
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
        let dependent = schema.get("dependentSchemas").and_then(Value::as_object).into_iter().flatten();
        for (_, needs) in dependent.filter(|(name, _)| members.iter().any(|(given, _)| given == *name)) {
            self.inspect(needs, object);
        }
        if schema.get("unevaluatedProperties").is_some() {
            self.inspect_unevaluated(schema, members, object);
        }
    }

    fn inspect_member(&mut self, schema: &'a Value, name: &str, value: &Json<'v>) {
        let (named, other) = member_schemas(schema, name);
        // A Rust type treats `null` for an optional member as absence.
        let is_absent = |property: &Value| {
            let has_default = property.get("default").is_some_and(|default| !default.is_null());
            self.origin == Origin::RustType && matches!(value.kind, Kind::Null) && !has_default
        };
        let is_required = || names(schema.get("required")).any(|required| required == name);
        let named: Vec<&'a Value> = named.into_iter().filter(|it| !is_absent(it) || is_required()).collect();
        for of_name in named {
            self.inspect_whole(of_name, value);
        }
        match other {
            Some(Value::Bool(false)) => {
                self.add(ViolationKind::Unknown, refused_name(schema, name));
            }
            Some(other) => self.inspect_whole(other, value),
            None => {}
        }
        if let Some(of_names) = schema.get("propertyNames") {
            self.inspect_name(of_names, name);
        }
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
        let dependent = dependent.and_then(Value::as_object).into_iter().flatten();
        let needed = dependent.filter(|(name, _)| given.contains(name));
        let needed = needed.flat_map(|(_, needs)| names(Some(needs)));
        for name in names(required).chain(needed).filter(|name| !given.contains(name)) {
            let property = schema.get("properties").and_then(|properties| properties.get(name));
            let message = missing(property.and_then(|property| describe_in(self.root, property)));
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
            let own = |schema: &Value| {
                let (named, other) = member_schemas(schema, name);
                !named.is_empty() || other.is_some()
            };
            if !evaluating.iter().any(|schema| own(schema)) {
                self.at_member(name, |this| match rest {
                    Value::Bool(false) => {
                        let message =
                            Message::Unknown { schema, name: name.to_string(), object: object.text };
                        this.add_found(ViolationKind::Unknown, message, true);
                    }
                    rest => this.inspect(rest, value),
                });
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
            let target = referenced(self.root, schema);
            let condition = schema.get("if").map(|condition| self.fits(condition, value));
            let inside = subschemas(schema).filter_map(|inside| match inside.keyword {
                "not" => None,
                "if" | "then" if condition != Some(true) => None,
                "else" if condition != Some(false) => None,
                "dependentSchemas" if inside.key.as_deref().and_then(|name| value.get(name)).is_none() => {
                    None
                }
                _ if inside.role == Role::InPlace => Some(inside.schema),
                _ => None,
            });
            let new = target.into_iter().chain(inside).filter(|inside| seen.insert(address(inside), ()));
            found.extend(new.filter(|inside| self.left > 0 && self.fits(inside, value)).collect::<Vec<_>>());
        }
        found
    }

    fn inspect_name(&mut self, schema: &'a Value, name: &str) {
        let text = quoted(name);
        let Ok(value) = Json::parse(&text) else { return };
        let depth = self.depth + self.open.len();
        let is_allowed = self.checks.fits(schema, &value, &mut self.left, depth);
        if self.left > 0 && !is_allowed {
            let expected = expected(self.root, schema, "", None);
            let expected = expected.map(|expected| format!("; expected {expected}"));
            let message = format!("this name is not allowed{}", expected.unwrap_or_default());
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
                let is_evaluated = evaluating.iter().any(|schema| {
                    item_schema(schema, index).is_some()
                        || schema.get("contains").is_some_and(|wanted| self.fits(wanted, item))
                });
                if !is_evaluated {
                    self.at_item(index, |this| this.inspect(rest, item));
                }
            }
        }
        if let Some(wanted) = schema.get("contains") {
            let found = items.iter().filter(|item| self.fits(wanted, item)).count() as u64;
            let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
            if !(bound("minContains").unwrap_or(1)..=bound("maxContains").unwrap_or(u64::MAX))
                .contains(&found)
            {
                self.add_mismatch(ViolationKind::Constraint, schema, "contains", value);
            }
        }
    }
}
