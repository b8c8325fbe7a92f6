//! The check of the members and items inside of a value.

use super::{Scope, Search, check_text, expected, missing, no_such_property};
use crate::describe::describe_in;
use crate::json::{Json, Kind, quoted};
use crate::keyword::{Role, subschemas};
use crate::properties::{item_schema, member_schemas, property};
use crate::reference::{SchemaRef, resolve};
use crate::types::names;
use crate::violation::ViolationKind;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashSet;

impl<'a, 'v> Search<'a, 'v, '_> {
    pub(super) fn inspect_members(
        &mut self,
        schema: &'a Value,
        members: &[(Cow<'v, str>, Json<'v>)],
        object: &Json<'v>,
    ) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let parent = self.path.len();
        let is_decoded = self.scope == Scope::Constraints;
        let aliases = if is_decoded { self.aliases(schema, members, object) } else { Vec::new() };
        let knows_aliases = self.knows_aliases();
        for (index, (name, value)) in members.iter().enumerate() {
            let mut of_member = aliases.iter().filter(|(of, ..)| *of == index).peekable();
            let is_alias = knows_aliases && of_member.peek().is_some();
            let is_required = || names(schema.get("required")).any(|required| required == name);
            self.at_member(name, |this| {
                let (named, other) = member_schemas(schema, name);
                // A type takes `null` for a member left out.
                let is_absent = this.exact && matches!(value.kind, Kind::Null) && !is_required();
                let named_here = if is_absent { &[][..] } else { named.as_slice() };
                named_here.iter().for_each(|schema| this.inspect(schema, value));
                match other {
                    Some(Value::Bool(false)) if is_alias => {}
                    Some(Value::Bool(false)) => {
                        this.add_named(parent, ViolationKind::Unknown, no_such_property(name, properties));
                    }
                    Some(other) => this.inspect(other, value),
                    None => {}
                }
                of_member.for_each(|(_, _, property)| this.inspect(property, value));
                if let Some(of_names) = schema.get("propertyNames") {
                    this.inspect_name(of_names, name);
                }
            });
        }
        let own_name = |name| property(properties?, name).map(|(own, _)| own.as_str());
        let given = members.iter().map(|(name, _)| own_name(name).unwrap_or(name));
        let asked = aliases.iter().filter(|_| knows_aliases).map(|(_, own, _)| *own);
        let given: HashSet<&str> = given.chain(asked).collect();
        let depends = |keyword: &str| {
            let named = schema.get(keyword).and_then(Value::as_object).into_iter().flatten();
            named.filter(|(name, _)| given.contains(name.as_str())).map(|(_, needs)| needs)
        };
        let needed = depends("dependentRequired").flat_map(|needs| names(Some(needs)));
        // A type has accepted that others are absent.
        let kind = if is_decoded { ViolationKind::Constraint } else { ViolationKind::Missing };
        let needed = needed.map(|name| (name, kind));
        let required = names(schema.get("required")).map(|name| (name, ViolationKind::Missing)).chain(needed);
        for (name, kind) in required.filter(|(name, _)| !given.contains(*name)) {
            let property = properties.and_then(|properties| properties.get(name));
            let message = missing(property.and_then(|property| describe_in(self.root, property)));
            self.at_member(name, |this| this.add_named(parent, kind, message));
        }
        depends("dependentSchemas").for_each(|needs| self.inspect(needs, object));
        if let Some(rest) = schema.get("unevaluatedProperties") {
            for (name, value) in members {
                let own = |schema: &Value| {
                    let (named, other) = member_schemas(schema, name);
                    !named.is_empty() || other.is_some()
                };
                if !self.is_evaluated(schema, object, &own) {
                    self.at_member(name, |this| match rest {
                        Value::Bool(false) => {
                            let unknown = ViolationKind::Unknown;
                            let kind = if is_decoded { ViolationKind::Constraint } else { unknown };
                            this.add_named(parent, kind, no_such_property(name, properties));
                        }
                        rest => this.inspect(rest, value),
                    });
                }
            }
        }
    }

    /// Returns whether a schema, or one applied to the same value that it fits, has a schema of its `own` for a part.
    fn is_evaluated(&mut self, schema: &'a Value, value: &Json<'v>, own: &dyn Fn(&Value) -> bool) -> bool {
        self.left = self.left.saturating_sub(1);
        let target = schema.get("$ref").and_then(|_| resolve(self.root, schema));
        let mut inside: Vec<&'a Value> = target.into_iter().collect();
        let condition = schema.get("if").is_none_or(|condition| self.fits(condition, value));
        inside.extend(subschemas(schema).filter_map(|inside| match inside.keyword {
            "not" => None,
            "then" if !condition => None,
            "if" | "else" if condition == (inside.keyword == "else") => None,
            _ if inside.role == Role::InPlace => Some(inside.schema),
            _ => None,
        }));
        own(schema)
            || inside.into_iter().any(|inside| {
                self.left > 0 && self.fits(inside, value) && self.is_evaluated(inside, value, own)
            })
    }

    fn inspect_name(&mut self, schema: &Value, name: &str) {
        if !check_text(SchemaRef::new(self.root, schema), &quoted(name), self.scope).is_empty() {
            let expected = expected(self.root, schema, "", None);
            let expected = expected.map(|expected| format!("; expected {expected}"));
            let message = format!("this name is not allowed{}", expected.unwrap_or_default());
            self.add(ViolationKind::Constraint, message);
        }
    }

    pub(super) fn inspect_items(&mut self, schema: &'a Value, items: &[Json<'v>], value: &Json<'v>) {
        for (index, item) in items.iter().enumerate() {
            let Some(schema) = item_schema(schema, index) else { break };
            self.at_item(index, |this| this.inspect(schema, item));
        }
        if let Some(rest) = schema.get("unevaluatedItems") {
            for (index, item) in items.iter().enumerate() {
                let own = |schema: &Value| item_schema(schema, index).is_some();
                let is_evaluated = self.is_evaluated(schema, value, &own)
                    || schema.get("contains").is_some_and(|wanted| self.fits(wanted, item));
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
