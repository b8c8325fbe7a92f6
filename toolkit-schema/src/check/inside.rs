//! The check of the members of an object and the items of an array.

use super::decoded::Alias;
use super::{Scope, Search, expected, missing, no_such_property};
use crate::describe::describe_in;
use crate::json::{Json, Kind, quoted};
use crate::keyword::{Role, subschemas};
use crate::properties::{item_schema, member_schemas, property};
use crate::reference::resolve;
use crate::types::names;
use crate::violation::ViolationKind;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashSet;
use std::ptr;

/// Looking up this number of members counts as applying one schema.
const MEMBERS_PER_STEP: usize = 16;

impl<'a, 'v> Search<'a, 'v, '_> {
    pub(super) fn inspect_members(
        &mut self,
        schema: &'a Value,
        members: &[(Cow<'v, str>, Json<'v>)],
        object: &Json<'v>,
    ) {
        let is_decoded = self.scope == Scope::Constraints;
        let aliases = if is_decoded { self.aliases(schema, members, object) } else { Vec::new() };
        if is_decoded {
            self.inspect_repeated(schema, members);
        }
        self.left = self.left.saturating_sub(members.len() / MEMBERS_PER_STEP);
        for (index, (name, value)) in members.iter().enumerate() {
            if self.left == 0 || self.found.len() >= self.most {
                break;
            }
            let path = self.path.len();
            self.path.extend([if path == 0 { "" } else { "." }, name]);
            let start = aliases.partition_point(|(of, ..)| *of < index);
            let end = aliases.partition_point(|(of, ..)| *of <= index);
            let own = aliases.get(start..end).unwrap_or_default();
            self.inspect_member(schema, name, value, path, own);
            self.path.truncate(path);
        }
        self.inspect_required(schema, members, &aliases);
        self.inspect_dependent(schema, members, object);
        if schema.get("unevaluatedProperties").is_some() {
            self.inspect_unevaluated(schema, members, object);
        }
    }

    /// Reports each property given twice, by its name or an alias. Deserialization refuses such an object.
    fn inspect_repeated(&mut self, schema: &'a Value, members: &[(Cow<'v, str>, Json<'v>)]) {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
        let mut given = HashSet::new();
        for own in members.iter().filter_map(|(name, _)| property(properties, name)).map(|(own, _)| own) {
            if !given.insert(own) {
                self.at_member(own, |this| {
                    this.add(ViolationKind::Duplicate, "given twice; give it once".to_owned());
                });
            }
        }
    }

    /// Inspects the member called `name`.
    ///
    /// `parent` is the length of the path to the object. `aliases` contains the properties with `name` as an alias.
    fn inspect_member(
        &mut self,
        schema: &'a Value,
        name: &str,
        value: &Json<'v>,
        parent: usize,
        aliases: &[Alias<'a>],
    ) {
        let (named, other) = member_schemas(schema, name);
        // For an optional member, a Rust type treats `null` as an absent member.
        let is_decoded = self.exact || self.scope == Scope::Constraints;
        let is_absent = |property: &Value| {
            let has_default = property.get("default").is_some_and(|default| !default.is_null());
            is_decoded && matches!(value.kind, Kind::Null) && !has_default
        };
        let own = own_name(schema, name);
        self.has_alias |= own != name;
        let is_required = || names(schema.get("required")).any(|required| required == own);
        for of_name in named {
            if !is_absent(of_name) || is_required() {
                self.inspect(of_name, value);
            }
        }
        match other {
            Some(Value::Bool(false)) if self.knows_aliases() && !aliases.is_empty() => {}
            Some(Value::Bool(false)) => {
                let properties = schema.get("properties").and_then(Value::as_object);
                self.add_named(parent, ViolationKind::Unknown, no_such_property(name, properties));
            }
            Some(other) => self.inspect(other, value),
            None => {}
        }
        for (_, _, property) in aliases {
            self.inspect(property, value);
        }
        if let Some(of_names) = schema.get("propertyNames") {
            self.inspect_name(of_names, name);
        }
    }

    /// Returns the names of the given properties, and the entries of `keyword` for these names. Every alias is replaced
    /// by the name of its property.
    fn given_and_needed<'s>(
        &self,
        schema: &'s Value,
        keyword: &str,
        members: &[(Cow<'v, str>, Json<'v>)],
        aliases: &[Alias<'s>],
    ) -> (HashSet<String>, Vec<&'s Value>) {
        let given = members.iter().map(|(name, _)| own_name(schema, name).to_owned());
        let asked = aliases.iter().filter(|_| self.knows_aliases()).map(|(_, own, _)| (*own).to_owned());
        let given: HashSet<String> = given.chain(asked).collect();
        let named = schema.get(keyword).and_then(Value::as_object).into_iter().flatten();
        let needed = named.filter(|(name, _)| given.contains(*name)).map(|(_, needs)| needs).collect();
        (given, needed)
    }

    fn inspect_required(
        &mut self,
        schema: &'a Value,
        members: &[(Cow<'v, str>, Json<'v>)],
        aliases: &[Alias<'a>],
    ) {
        if schema.get("required").is_none() && schema.get("dependentRequired").is_none() {
            return;
        }
        let (given, needed) = self.given_and_needed(schema, "dependentRequired", members, aliases);
        let needed = needed.into_iter().flat_map(|needs| names(Some(needs)));
        // The Rust type has already checked `required`, but does not know `dependentRequired`.
        let is_decoded = self.scope == Scope::Constraints;
        let kind = if is_decoded { ViolationKind::Constraint } else { ViolationKind::Missing };
        let needed = needed.map(|name| (name, kind));
        let required = names(schema.get("required")).map(|name| (name, ViolationKind::Missing)).chain(needed);
        let parent = self.path.len();
        for (name, kind) in required.filter(|(name, _)| !given.contains(*name)) {
            let property = schema.get("properties").and_then(|properties| properties.get(name));
            let message = missing(property.and_then(|property| describe_in(self.root, property)));
            self.at_member(name, |this| this.add_named(parent, kind, message));
        }
    }

    fn inspect_dependent(
        &mut self,
        schema: &'a Value,
        members: &[(Cow<'v, str>, Json<'v>)],
        object: &Json<'v>,
    ) {
        if schema.get("dependentSchemas").is_some() {
            let (_, needed) = self.given_and_needed(schema, "dependentSchemas", members, &[]);
            needed.into_iter().for_each(|needs| self.inspect(needs, object));
        }
    }

    fn inspect_unevaluated(
        &mut self,
        schema: &'a Value,
        members: &[(Cow<'v, str>, Json<'v>)],
        object: &Json<'v>,
    ) {
        let Some(rest) = schema.get("unevaluatedProperties") else { return };
        let parent = self.path.len();
        let evaluating = self.evaluating(schema, object);
        for (name, value) in members {
            let own = |schema: &Value| {
                let (named, other) = member_schemas(schema, name);
                !named.is_empty() || other.is_some()
            };
            if !evaluating.iter().any(|schema| own(schema)) {
                self.at_member(name, |this| match rest {
                    Value::Bool(false) => {
                        let is_decoded = this.scope == Scope::Constraints;
                        let unknown = ViolationKind::Unknown;
                        let kind = if is_decoded { ViolationKind::Constraint } else { unknown };
                        let properties = schema.get("properties").and_then(Value::as_object);
                        this.add_named(parent, kind, no_such_property(name, properties));
                    }
                    rest => this.inspect(rest, value),
                });
            }
        }
    }

    /// Returns the schemas that evaluate members or items of `value`: `schema`, and all inner schemas for the same value
    /// that the value matches.
    fn evaluating(&mut self, schema: &'a Value, value: &Json<'v>) -> Vec<&'a Value> {
        let mut found = vec![schema];
        let mut seen = HashSet::from([ptr::from_ref(schema)]);
        let mut at = 0;
        while let Some(schema) = found.get(at).copied() {
            at += 1;
            let target = schema.get("$ref").and_then(|_| resolve(self.root, schema));
            let condition = schema.get("if").is_none_or(|condition| self.fits(condition, value));
            let inside = subschemas(schema).filter_map(|inside| match inside.keyword {
                "not" => None,
                "then" if !condition => None,
                "if" | "else" if condition == (inside.keyword == "else") => None,
                _ if inside.role == Role::InPlace => Some(inside.schema),
                _ => None,
            });
            let new = target.into_iter().chain(inside).filter(|inside| seen.insert(ptr::from_ref(*inside)));
            found.extend(new.filter(|inside| self.left > 0 && self.fits(inside, value)).collect::<Vec<_>>());
        }
        found
    }

    fn inspect_name(&mut self, schema: &Value, name: &str) {
        let text = quoted(name);
        let Ok(value) = Json::parse(&text) else { return };
        let mut search = Search::new(self.root, &value, "", self.scope);
        (search.left, search.depth) = (self.left, self.depth + self.open.len());
        search.inspect(schema, &value);
        self.left = search.left;
        if self.left > 0 && !search.into_violations().is_empty() {
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
            let evaluating = self.evaluating(schema, value);
            for (index, item) in items.iter().enumerate() {
                let is_evaluated = evaluating.iter().any(|schema| item_schema(schema, index).is_some())
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

/// Returns the name of the property that has `name` as its name or alias. Returns `name` itself if there is no such
/// property.
fn own_name<'s>(schema: &'s Value, name: &'s str) -> &'s str {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.and_then(|properties| property(properties, name)).map_or(name, |(own, _)| own)
}
