//! Every violation of a schema by a value.
//!
//! The search covers types, allowed values, bounds, members and items. It is no validator: it skips keywords
//! such as `not`, and a type may refuse a value by rules of its own.

use crate::bounds::{is_same, keeps_within};
use crate::describe::{describe_for, describe_in};
use crate::discriminator::{Discriminator, branches, discriminator};
use crate::nearest::nearest;
use crate::properties::{item_schema, member_schema, property};
use crate::reference::{SchemaRef, escape, resolve, unescape};
use crate::types::{is_of_type, names, types};
use crate::violation::{Violation, ViolationKind};
use crate::words::{shorten, value_in_words};
use serde_json::{Map, Value};
use std::ptr;

/// Violations that one search collects at most.
pub(crate) const MOST: usize = 64;

/// Returns every violation of a schema by a value, in the order of the value, 64 at most.
///
/// ```
/// use serde_json::json;
/// use toolkit_schema::violations;
///
/// let schema = json!({"properties": {"unit": {"enum": ["celsius", "kelvin"]}}, "required": ["unit"]});
/// let found = violations(&schema, &json!({"unit": "Celsius"}));
/// assert_eq!(found[0].to_string(), r#"`unit`: expected one of "celsius", "kelvin", got string "Celsius""#);
/// ```
pub fn violations<'a>(schema: impl Into<SchemaRef<'a>>, value: &Value) -> Vec<Violation> {
    check(schema.into(), value, None, "", Scope::All)
}

/// The kinds of violations in the result of a [`check`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All of them.
    All,
    /// Those of constraints, in a value that its type has decoded: everything else the type accepted, such
    /// as a list in the place of a struct.
    Constraints,
    /// All but unknown members and the missing ones beside them: a type may know a member under a name that
    /// the schema does not list.
    ExceptNames,
}

/// Returns the violations of a schema by a value at the path `at`. Messages quote the `text` of the value.
#[must_use]
pub fn check(
    schema: SchemaRef<'_>,
    value: &Value,
    text: Option<&str>,
    at: &str,
    scope: Scope,
) -> Vec<Violation> {
    let (root, decoded) = (schema.root, scope == Scope::Constraints);
    let mut search =
        Search { root, text, decoded, pointer: String::new(), open: Vec::new(), found: Vec::new() };
    search.inspect(schema.schema, value);
    let mut found = search.found;
    match scope {
        Scope::All => {}
        Scope::Constraints => found.retain(|violation| violation.kind == ViolationKind::Constraint),
        Scope::ExceptNames => remove_names(&mut found),
    }
    found.iter_mut().for_each(|violation| violation.path = path(at, value, &violation.path));
    found
}

fn remove_names(found: &mut Vec<Violation>) {
    let parent = |violation: &Violation| violation.path.rsplit_once('/').map(|(parent, _)| parent.to_owned());
    let unknown = found.iter().filter(|violation| violation.kind == ViolationKind::Unknown);
    let parents: Vec<Option<String>> = unknown.map(parent).collect();
    found.retain(|violation| match violation.kind {
        ViolationKind::Unknown => false,
        ViolationKind::Missing => !parents.contains(&parent(violation)),
        _ => true,
    });
}

/// Writes the way from `at` along a JSON pointer as a path. Only the value shows whether `0` is an index.
pub(crate) fn path(at: &str, value: &Value, pointer: &str) -> String {
    let (mut path, mut value) = (at.to_owned(), Some(value));
    for token in pointer.split('/').skip(1).map(unescape) {
        if let Some(Value::Array(items)) = value {
            path.extend(["[", &token, "]"]);
            value = token.parse().ok().and_then(|index: usize| items.get(index));
        } else {
            path.extend([if path.is_empty() { "" } else { "." }, &token]);
            value = value.and_then(|value| value.get(&*token));
        }
    }
    path
}

struct Search<'a> {
    root: &'a Value,
    /// The text of the whole value as the model wrote it.
    text: Option<&'a str>,
    /// Whether the type has decoded the value.
    decoded: bool,
    /// The JSON pointer to the value under inspection.
    pointer: String,
    /// The schemas under inspection, each with the length of the pointer to its value. A schema that leads
    /// back to itself at the same value demands nothing more.
    open: Vec<(usize, &'a Value)>,
    /// The violations, with JSON pointers as paths.
    found: Vec<Violation>,
}

impl<'a> Search<'a> {
    fn inspect(&mut self, schema: &'a Value, value: &Value) {
        let Some(schema) = resolve(self.root, schema).filter(|schema| schema.is_object()) else { return };
        let here = self.pointer.len();
        let mut open = self.open.iter().rev().take_while(|(length, _)| *length == here);
        if self.found.len() >= MOST || open.any(|(_, open)| ptr::eq(*open, schema)) {
            return;
        }
        self.open.push((here, schema));
        self.inspect_keywords(schema, value);
        self.open.pop();
    }

    fn inspect_keywords(&mut self, schema: &'a Value, value: &Value) {
        if let Value::Array(items) = value
            && self.decoded
            && let Some(fields) = fields(schema).filter(|fields| items.len() <= fields.len())
        {
            // serde reads a list of values as a struct, in the order of its fields.
            for (index, (property, item)) in fields.values().zip(items).enumerate() {
                self.below(&index.to_string(), |this| this.inspect(property, item));
            }
            return;
        }
        let mut names = types(schema.get("type")).peekable();
        if names.peek().is_some() && !names.any(|name| is_of_type(value, name)) {
            self.add_mismatch(ViolationKind::WrongType, schema, value);
            return;
        }
        if !is_allowed(schema, value) || !keeps_within(schema, value) {
            self.add_mismatch(ViolationKind::Constraint, schema, value);
        }
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.inspect(part, value);
        }
        if let Some(branches) = branches(schema) {
            self.inspect_branches(schema, branches, value);
        }
        match value {
            Value::Object(members) => self.inspect_members(schema, members),
            Value::Array(items) => self.inspect_items(schema, items),
            _ => {}
        }
    }

    /// Reports the violations of the branch that the value resembles, unless a branch fits.
    fn inspect_branches(&mut self, schema: &Value, branches: &'a [Value], value: &Value) {
        let before = std::mem::take(&mut self.found);
        let mut closest: Option<Vec<Violation>> = None;
        for branch in branches {
            self.inspect(branch, value);
            let found = std::mem::take(&mut self.found);
            if found.is_empty() {
                self.found = before;
                return;
            }
            let is_inside = |violation: &Violation| {
                violation.path.len() > self.pointer.len() && !self.is_about_tag(branch, violation)
            };
            if found.iter().all(is_inside) && closest.as_ref().is_none_or(|fewer| found.len() < fewer.len()) {
                closest = Some(found);
            }
        }
        self.found = before;
        match (value.as_object(), discriminator(self.root, branches), closest) {
            (Some(members), Some(Discriminator::Tag(name, allowed)), _)
                if members.get(name).is_none_or(|given| !allowed.contains(&given)) =>
            {
                let tag =
                    Map::from_iter([("enum".to_owned(), allowed.into_iter().cloned().collect())]).into();
                self.below(name, |this| match members.get(name) {
                    Some(given) => this.add_mismatch(ViolationKind::WrongType, &tag, given),
                    None => this.add(ViolationKind::Missing, missing(describe_in(this.root, &tag))),
                });
            }
            (Some(members), Some(Discriminator::Members(names)), _)
                if !names.iter().any(|name| members.contains_key(*name)) =>
            {
                self.add_mismatch(ViolationKind::WrongType, schema, value);
            }
            (_, _, Some(found)) => self.found.extend(found),
            (_, _, None) => self.add_mismatch(ViolationKind::WrongType, schema, value),
        }
    }

    /// Returns whether a violation is about the member that tells the branches apart.
    fn is_about_tag(&self, branch: &Value, violation: &Violation) -> bool {
        let inside = violation.path.get(self.pointer.len() + 1..);
        let Some(name) = inside.and_then(|inside| inside.split('/').next()) else { return false };
        let property =
            resolve(self.root, branch).and_then(|branch| branch.get("properties")?.get(&*unescape(name)));
        property.is_some_and(|property| property.get("const").is_some())
    }

    fn inspect_members(&mut self, schema: &'a Value, members: &Map<String, Value>) {
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, value) in members {
            self.below(name, |this| match member_schema(schema, name) {
                Some(Value::Bool(false)) => {
                    this.add(ViolationKind::Unknown, no_such_property(name, properties));
                }
                Some(member) => this.inspect(member, value),
                None => {}
            });
        }
        let own_name = |name| property(properties?, name).map(|(own, _)| own.as_str());
        let given: Vec<&str> = members.keys().map(|name| own_name(name).unwrap_or(name)).collect();
        for name in names(schema.get("required")).filter(|name| !given.contains(name)) {
            let property = properties.and_then(|properties| properties.get(name));
            let message = missing(property.and_then(|property| describe_in(self.root, property)));
            self.below(name, |this| this.add(ViolationKind::Missing, message));
        }
    }

    fn inspect_items(&mut self, schema: &'a Value, items: &[Value]) {
        for (index, item) in items.iter().enumerate() {
            let Some(schema) = item_schema(schema, index) else { break };
            self.below(&index.to_string(), |this| this.inspect(schema, item));
        }
    }

    fn below(&mut self, token: &str, inspect: impl FnOnce(&mut Self)) {
        let here = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(&escape(token));
        inspect(self);
        self.pointer.truncate(here);
    }

    fn add_mismatch(&mut self, kind: ViolationKind, schema: &Value, value: &Value) {
        let expected = describe_for(self.root, schema, value);
        let message = match self.text.filter(|_| self.pointer.is_empty()) {
            Some(text) => mismatch(expected, text),
            None => mismatch(expected, &value.to_string()),
        };
        self.add(kind, message);
    }

    fn add(&mut self, kind: ViolationKind, message: String) {
        if self.found.len() < MOST {
            self.found.push(Violation::new(self.pointer.as_str(), kind, message));
        }
    }
}

/// Returns the message for a value, given as its text, that is not as expected.
pub(crate) fn mismatch(expected: Option<String>, text: &str) -> String {
    let expected = expected.unwrap_or_else(|| "another value".to_owned());
    format!("expected {expected}, got {}", value_in_words(text))
}

/// Returns the message for a member that must not be there.
pub(crate) fn no_such_property(name: &str, properties: Option<&Map<String, Value>>) -> String {
    let known = properties.into_iter().flat_map(Map::keys).map(String::as_str);
    let near = nearest(name, known.filter(|known| *known != name));
    let near = near.first().map(|near| format!("; did you mean `{}`?", shorten(near)));
    format!("there is no such property{}", near.unwrap_or_default())
}

/// Returns the message for a required value that is absent.
#[must_use]
pub fn missing(expected: Option<String>) -> String {
    let expected = expected.map(|expected| format!("; expected {expected}"));
    format!("required, but missing{}", expected.unwrap_or_default())
}

/// Returns the properties of a schema for objects that takes no lists.
fn fields(schema: &Value) -> Option<&Map<String, Value>> {
    let takes = |wanted: &str| types(schema.get("type")).any(|name| name == wanted);
    schema.get("properties")?.as_object().filter(|_| takes("object") && !takes("array"))
}

fn is_allowed(schema: &Value, value: &Value) -> bool {
    let values = schema.get("enum").and_then(Value::as_array);
    values.is_none_or(|values| values.iter().any(|allowed| is_same(allowed, value)))
        && schema.get("const").is_none_or(|only| is_same(only, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(schema: &Value, value: &Value, expected: &[&str]) {
        let found = violations(schema, value).into_iter();
        let found: Vec<String> =
            found.map(|violation| format!("{}: {}", violation.path, violation.message)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn every_violation_is_found_and_valid_values_have_none() {
        let schema = json!({"type": "object", "required": ["a", "b"], "additionalProperties": false, "properties": {
            "a": {"type": "array", "items": {"type": "integer", "minimum": 0}},
            "b": {"enum": ["x", "y"]},
            "c": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "boolean"}], "minItems": 2, "maxItems": 2},
        }});
        check(&schema, &json!({"a": [1], "b": "x", "c": ["", true]}), &[]);
        check(
            &schema,
            &json!({"a": [1, -1, "2"], "d": 1, "c": ["", 0, 1]}),
            &[
                "a[1]: expected integer of at least 0, got number -1",
                "a[2]: expected integer of at least 0, got string \"2\"",
                "d: there is no such property",
                "c: expected array of 2 items, got array [\"\",0,1]",
                "c[1]: expected boolean, got number 0",
                "b: required, but missing; expected one of \"x\", \"y\"",
            ],
        );
    }

    #[test]
    fn the_branch_that_the_value_resembles_is_explained() {
        let schema = json!({"oneOf": [
            {"type": "object", "required": ["kind", "radius"], "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}},
            {"type": "object", "required": ["kind", "side"], "properties": {"kind": {"const": "square"}, "side": {"type": "number"}}},
        ]});
        check(&schema, &json!({"kind": "square", "side": 1}), &[]);
        check(&schema, &json!({"kind": "square", "side": "1"}), &["side: expected number, got string \"1\""]);
        check(
            &schema,
            &json!({"kind": "line"}),
            &[r#"kind: expected one of "circle", "square", got string "line""#],
        );
        let schema = json!({"anyOf": [{"type": "string"}, {"type": "integer"}]});
        check(&schema, &json!([]), &[": expected string or integer, got array []"]);
    }

    #[test]
    fn recursion_follows_the_value_and_ends_with_it() {
        let schema = json!({
            "$ref": "#/$defs/Node",
            "$defs": {"Node": {"type": "object", "properties": {
                "next": {"$ref": "#/$defs/Node"}, "value": {"type": "integer"},
            }}},
        });
        check(
            &schema,
            &json!({"next": {"next": {"value": "x"}}}),
            &["next.next.value: expected integer, got string \"x\""],
        );
        check(&json!({"$ref": "#"}), &json!(1), &[]);
        let itself = json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}], "type": "integer"});
        check(&itself, &json!("x"), &[": expected integer, got string \"x\""]);
        check(&itself, &json!(1), &[]);
        let choice = json!({"anyOf": [{"$ref": "#"}, {"type": "array", "items": {"$ref": "#"}}]});
        check(&choice, &json!([[1]]), &[]);
    }

    #[test]
    fn the_number_of_violations_is_bounded() {
        let schema = json!({"type": "array", "items": {"type": "integer"}});
        let value = Value::from(vec!["x"; 1_000]);
        assert_eq!(violations(&schema, &value).len(), MOST);
    }
}
