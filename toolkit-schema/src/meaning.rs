//! Simplifies values without changing their meaning: renames aliases and removes members equal to their default.

use crate::check::{budget, has_other_tag};
use crate::discriminator::{Discriminator, discriminator, may_be_object, only_member};
use crate::json::{Json, Kind};
use crate::properties::{item_schema, member_schemas, property};
use crate::reference::{SchemaRef, resolve};
use crate::types::{names, types};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;

/// The maximum number of nested schemas applied to the same value. The limit matters for recursive schemas.
const DEEPEST: usize = 8;

/// Replaces every alias in a value by the name of its property, at every depth.
///
/// `schema` must still contain the aliases: use the original schema that
/// [`strip_aliases`](crate::properties::strip_aliases) returns.
pub fn use_own_names<'a>(schema: impl Into<SchemaRef<'a>>, value: &mut Json<'_>) {
    Meaning::of(schema.into(), value, false);
}

/// Removes optional members whose value equals the `default` of their property, at every depth.
///
/// Inside a union, members are removed only if the tags or types of the value select a single branch. Otherwise, the
/// value might match another branch without the member.
pub fn remove_defaults<'a>(schema: impl Into<SchemaRef<'a>>, value: &mut Json<'_>) {
    Meaning::of(schema.into(), value, true);
}

struct Meaning<'a> {
    root: &'a Value,
    /// Whether to remove members whose value equals the default of their property.
    without_defaults: bool,
    /// The number of schemas left to apply. When none are left, the rest of the value stays unchanged.
    left: usize,
}

impl<'a> Meaning<'a> {
    fn of(SchemaRef { root, schema }: SchemaRef<'a>, value: &mut Json<'_>, without_defaults: bool) {
        Self { root, without_defaults, left: budget(value) }.apply(schema, value, DEEPEST);
    }

    /// Applies `schema` to the value. `depth` is the maximum number of nested schemas to apply to the same value.
    fn apply(&mut self, schema: &'a Value, value: &mut Json<'_>, depth: usize) {
        let is_container = matches!(value.kind, Kind::Object(_) | Kind::Array(_));
        let (Some(depth), Some(left), true) = (depth.checked_sub(1), self.left.checked_sub(1), is_container)
        else {
            return;
        };
        self.left = left;
        if schema.get("$ref").is_some()
            && let Some(target) = resolve(self.root, schema)
        {
            self.apply(target, value, depth);
        }
        let list = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
        for part in list("allOf").into_iter().flatten() {
            self.apply(part, value, depth);
        }
        for branches in ["anyOf", "oneOf"].into_iter().filter_map(list) {
            if let Some(branch) = self.only_branch(branches, value) {
                self.apply(branch, value, depth);
            }
        }
        match &mut value.kind {
            Kind::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    if let Some(schema) = item_schema(schema, index) {
                        self.apply(schema, item, DEEPEST);
                    }
                }
            }
            Kind::Object(members) => self.apply_to_members(schema, members),
            _ => {}
        }
    }

    /// Returns the only branch of a union that the value can belong to. Optional members of the value are not compared.
    ///
    /// Returns `None` if several branches or no branches are possible.
    fn only_branch(&self, branches: &'a [Value], value: &Json<'_>) -> Option<&'a Value> {
        let choice = discriminator(self.root, branches);
        let is_possible = |branch: &&Value| {
            let kinds = resolve(self.root, branch).and_then(|own| own.get("type"));
            let is_of_type = match value.kind {
                Kind::Object(_) => may_be_object(self.root, branch),
                _ => kinds.is_none() || types(kinds).any(|name| value.is_of_type(name)),
            };
            let has_member = match (&choice, only_member(self.root, branch)) {
                (Some(Discriminator::Members(_)), Some(name)) => value.get(name).is_some(),
                _ => true,
            };
            is_of_type && has_member && !has_other_tag(self.root, branch, choice.as_ref(), value)
        };
        let mut possible = branches.iter().filter(is_possible);
        possible.next().filter(|_| possible.next().is_none())
    }

    fn apply_to_members(&mut self, schema: &'a Value, members: &mut Vec<(Cow<'_, str>, Json<'_>)>) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let mut given: HashMap<String, usize> = HashMap::new();
        for (name, member) in members.iter_mut() {
            let (named, other) = member_schemas(schema, name);
            for schema in named.into_iter().chain(other) {
                self.apply(schema, member, DEEPEST);
            }
            match properties.and_then(|properties| property(properties, name)) {
                Some((own, _)) if own != name => *name = Cow::Owned(own.clone()),
                _ => {}
            }
            if self.without_defaults {
                *given.entry(name.to_string()).or_default() += 1;
            }
        }
        let Some(properties) = properties.filter(|_| self.without_defaults) else { return };
        members.retain(|(name, member)| {
            let property = properties.get(&**name);
            let default = property.and_then(|property| Some((property, property.get("default")?)));
            let is_optional = || names(schema.get("required")).all(|required| required != name);
            // A repeated member stays, because it may be a violation, or the last repetition may be decoded.
            let is_repeated = || given.get(&**name).is_some_and(|times| *times > 1);
            let may_be_left_out =
                default.is_some_and(|(property, default)| self.is_default(property, default, member));
            !may_be_left_out || is_repeated() || !is_optional()
        });
    }

    /// Returns whether `member` equals `default`, the default of `property`. The members inside `member` that equal
    /// their own defaults must already be removed.
    fn is_default(&mut self, property: &'a Value, default: &Value, member: &Json<'_>) -> bool {
        let count = match (default, &member.kind) {
            (Value::Object(default), Kind::Object(members)) => members.len() <= default.len(),
            (Value::Array(default), Kind::Array(items)) => items.len() == default.len(),
            (default, _) => !default.is_object() && !default.is_array(),
        };
        let text = default.to_string();
        count
            && Json::parse(&text).is_ok_and(|mut default| {
                self.apply(property, &mut default, DEEPEST);
                default.canonical() == member.canonical()
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(schema: &Value, text: &str, expected: &str) {
        let mut value = Json::parse(text).unwrap();
        use_own_names(schema, &mut value);
        remove_defaults(schema, &mut value);
        assert_eq!(value.compact(), expected);
    }

    #[test]
    fn defaults_are_removed_at_every_depth() {
        let schema = json!({"properties": {
            "list": {"items": {"$ref": "#/$defs/Item"}},
            "map": {"additionalProperties": {"$ref": "#/$defs/Item"}},
            "in": {"allOf": [{"$ref": "#/$defs/Item"}], "default": {"on": true, "n": 1.0}},
            "must": {"default": 1},
        }, "required": ["must"], "$defs": {"Item": {"type": "object", "properties": {
            "n": {"default": 1, "x-toolkit-aliases": ["number"]}, "on": {"default": true}, "in": {"$ref": "#/$defs/Item"},
        }}}});
        check(&schema, r#"{"list":[{"n":1,"on":true},{"number":2}]}"#, r#"{"list":[{},{"n":2}]}"#);
        check(&schema, r#"{"map":{"n":{"in":{"number":1.0}}}}"#, r#"{"map":{"n":{"in":{}}}}"#);
        check(&schema, r#"{"in":{},"must":1}"#, r#"{"must":1}"#);
        check(&schema, r#"{"in":{"n":2}}"#, r#"{"in":{"n":2}}"#);
        check(&schema, r#"{"list":[{"n":1,"number":1}]}"#, r#"{"list":[{"n":1,"n":1}]}"#);
    }

    #[test]
    fn a_union_keeps_the_members_that_may_tell_its_branches_apart() {
        let tagged = |tag: &str| {
            json!({"type": "object", "required": ["kind"], "properties": {
                "kind": {"const": tag}, "n": {"default": 1},
            }})
        };
        let schema = json!({"oneOf": [tagged("a"), tagged("b"), {"type": "null"}]});
        check(&schema, r#"{"kind":"b","n":1}"#, r#"{"kind":"b"}"#);
        let named = |name: &str| {
            let inner = json!({"properties": {"n": {"default": 1}}});
            json!({"type": "object", "required": [name], "additionalProperties": false, "properties": {name: inner}})
        };
        let schema = json!({"oneOf": [named("A"), named("B"), {"enum": ["C"]}]});
        check(&schema, r#"{"B":{"n":1}}"#, r#"{"B":{}}"#);
        let open = |default: i64| json!({"type": "object", "properties": {"n": {"default": default}}});
        let schema = json!({"anyOf": [open(1), open(2)]});
        check(&schema, r#"{"n":1}"#, r#"{"n":1}"#);
    }

    #[test]
    fn schemas_that_lead_back_to_themselves_end() {
        let schema = json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}], "anyOf": [{"$ref": "#"}], "properties": {
            "n": {"default": 1}, "in": {"$ref": "#", "default": {}},
        }});
        check(&schema, r#"{"in":{"in":{"n":1}}}"#, "{}");
    }
}
