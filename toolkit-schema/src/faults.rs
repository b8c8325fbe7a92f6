//! Every way in which a value does not fit its schema.
//!
//! It looks at what types and constraints can say: kinds, allowed values, bounds, members and items. It
//! is no validator: a value without faults here may still be refused by a type with rules of its own.

use super::aliases::property;
use super::choice::{Choice, choice_of};
use super::describe::{describe, describe_instead_of, resolve, value_in_words};
use super::limits::{is_same, keeps_within, matches};
use crate::{ViolationKind, nearest, shorten};
use serde_json::{Map, Value};
use std::ptr;

/// No more faults are looked for in one value.
pub(super) const MOST: usize = 64;

/// One step into a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The member of this name.
    Key(String),
    /// The item at this index.
    Index(usize),
}

/// One way in which a value does not fit.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    /// The way from the value to the place of the fault.
    pub steps: Vec<Step>,
    /// The kind of the fault.
    pub kind: ViolationKind,
    /// What is wrong and what would be right.
    pub message: String,
}

/// The faults of a value, in the order of the value; `raw` is its text. `root` is where references of `schema` lead.
pub fn faults(root: &Value, schema: &Value, value: &Value, raw: &str) -> Vec<Fault> {
    search(root, schema, value, raw, false)
}

fn search(root: &Value, schema: &Value, value: &Value, raw: &str, taken: bool) -> Vec<Fault> {
    let mut search = Search { root, raw, taken, steps: Vec::new(), open: Vec::new(), found: Vec::new() };
    search.look(schema, value);
    search.found
}

/// `prefix` and the way from there, as in `filters[2].max`.
pub fn path(prefix: &str, steps: &[Step]) -> String {
    let mut path = prefix.to_owned();
    for step in steps {
        match step {
            Step::Key(key) if path.is_empty() => path.push_str(key),
            Step::Key(key) => path.push_str(&format!(".{key}")),
            Step::Index(index) => path.push_str(&format!("[{index}]")),
        }
    }
    path
}

struct Search<'a> {
    root: &'a Value,
    /// The text of the whole value, as it came.
    raw: &'a str,
    /// Whether the type has taken the value.
    taken: bool,
    steps: Vec<Step>,
    /// The schemas that are being looked at, each with the number of steps to its value. One that leads
    /// to itself at the same value demands nothing more.
    open: Vec<(usize, &'a Map<String, Value>)>,
    found: Vec<Fault>,
}

impl<'a> Search<'a> {
    fn look(&mut self, schema: &'a Value, value: &Value) {
        if self.found.len() >= MOST {
            return;
        }
        let Some(Value::Object(schema)) = resolve(self.root, schema) else { return };
        let depth = self.steps.len();
        let here = self.open.iter().rev().take_while(|(steps, _)| *steps == depth);
        if here.map(|(_, open)| *open).any(|open| ptr::eq(open, schema)) {
            return;
        }
        self.open.push((depth, schema));
        self.look_into(schema, value);
        self.open.pop();
    }

    fn look_into(&mut self, schema: &'a Map<String, Value>, value: &Value) {
        if let Value::Array(items) = value
            && self.taken
            && let Some(fields) = fields(schema).filter(|fields| items.len() <= fields.len())
        {
            self.look_into_fields(fields, items);
            return;
        }
        if !is_of_its_kind(schema, value) {
            self.mismatch(ViolationKind::WrongType, schema, value);
            return;
        }
        if !is_allowed(schema, value) || !keeps_within(schema, value) {
            self.mismatch(ViolationKind::Constraint, schema, value);
        }
        for all in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.look(all, value);
        }
        if let Some(branches) = ["anyOf", "oneOf"].iter().find_map(|keyword| schema.get(*keyword)?.as_array())
        {
            self.look_into_branches(schema, branches, value);
        }
        match value {
            Value::Object(members) => self.look_into_object(schema, members),
            Value::Array(items) => self.look_into_array(schema, items),
            _ => {}
        }
    }

    fn mismatch(&mut self, kind: ViolationKind, schema: &Map<String, Value>, value: &Value) {
        let expected = describe_instead_of(self.root, &Value::Object(schema.clone()), value);
        let message = match self.steps.is_empty() {
            true => mismatch(expected, self.raw),
            false => mismatch(expected, &value.to_string()),
        };
        self.add(kind, message);
    }

    /// If no branch fits, the faults of the branch that is meant; if none is, only that none fits.
    fn look_into_branches(&mut self, schema: &Map<String, Value>, branches: &'a [Value], value: &Value) {
        let in_branch = |branch: &'a Value| {
            let (steps, open) = (self.steps.clone(), self.open.clone());
            let mut search =
                Search { root: self.root, raw: self.raw, taken: self.taken, steps, open, found: Vec::new() };
            search.look(branch, value);
            search.found
        };
        let mut meant: Option<Vec<Fault>> = None;
        for branch in branches {
            let found = in_branch(branch);
            if found.is_empty() {
                return;
            }
            let inside = found.iter().all(|fault| fault.steps.len() > self.steps.len());
            let tag_fits = found.iter().all(|fault| !self.is_tag(branch, fault));
            if inside && tag_fits && meant.as_ref().is_none_or(|fewer| found.len() < fewer.len()) {
                meant = Some(found);
            }
        }
        match (value.as_object(), choice_of(self.root, branches), meant) {
            (Some(members), Some(Choice::Tag(name, allowed)), _)
                if members.get(name).is_none_or(|given| !allowed.contains(&given)) =>
            {
                self.look_at_tag(name, &allowed, members);
            }
            (Some(members), Some(Choice::Members(names)), _)
                if !names.iter().any(|name| members.contains_key(*name)) =>
            {
                self.mismatch(ViolationKind::WrongType, schema, value);
            }
            (_, _, Some(found)) => self.found.extend(found),
            (_, _, None) => self.mismatch(ViolationKind::WrongType, schema, value),
        }
    }

    /// Reports an object that none of the branches means, where a tag would tell which.
    fn look_at_tag(&mut self, name: &str, allowed: &[&Value], members: &Map<String, Value>) {
        let schema = Map::from_iter([("enum".to_owned(), allowed.iter().copied().cloned().collect())]);
        self.steps.push(Step::Key(name.to_owned()));
        match members.get(name) {
            Some(given) => self.mismatch(ViolationKind::WrongType, &schema, given),
            None => self.add(ViolationKind::Missing, missing(describe(self.root, &schema.into()))),
        }
        self.steps.pop();
    }

    /// Whether a fault is about the member that tells the branches of a tagged enum apart.
    fn is_tag(&self, branch: &Value, fault: &Fault) -> bool {
        let Some(Step::Key(key)) = fault.steps.get(self.steps.len()) else { return false };
        let property = resolve(self.root, branch).and_then(|branch| branch.get("properties")?.get(key));
        property.is_some_and(|property| property.get("const").is_some())
    }

    fn look_into_object(&mut self, schema: &'a Map<String, Value>, members: &Map<String, Value>) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let others = schema.get("additionalProperties");
        for (name, value) in members {
            self.steps.push(Step::Key(name.clone()));
            match (properties.and_then(|properties| property(properties, name)), others) {
                (Some((_, property)), _) => self.look(property, value),
                (None, _) if schema.contains_key("patternProperties") => {
                    let patterns = schema.get("patternProperties").and_then(Value::as_object);
                    let mut matching =
                        patterns.into_iter().flatten().filter(|(pattern, _)| matches(pattern, name));
                    if let Some((_, property)) = matching.next() {
                        self.look(property, value);
                    }
                }
                (None, Some(Value::Bool(false))) => {
                    self.add(ViolationKind::Unknown, no_such_property(name, properties));
                }
                (None, Some(other)) => self.look(other, value),
                (None, None) => {}
            }
            self.steps.pop();
        }
        let own_name = |name: &String| property(properties?, name).map(|(own, _)| own.as_str());
        let given: Vec<&str> = members.keys().map(|name| own_name(name).unwrap_or(name)).collect();
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in required.filter_map(Value::as_str).filter(|name| !given.contains(name)) {
            let property = properties.and_then(|properties| properties.get(name));
            let message = missing(property.and_then(|property| describe(self.root, property)));
            self.steps.push(Step::Key(name.to_owned()));
            self.add(ViolationKind::Missing, message);
            self.steps.pop();
        }
    }

    /// serde takes a list of values for a structure, in the order of its fields.
    fn look_into_fields(&mut self, fields: &'a Map<String, Value>, items: &[Value]) {
        for (index, ((_, property), item)) in fields.iter().zip(items).enumerate() {
            self.steps.push(Step::Index(index));
            self.look(property, item);
            self.steps.pop();
        }
    }

    fn look_into_array(&mut self, schema: &'a Map<String, Value>, items: &[Value]) {
        let first = schema.get("prefixItems").and_then(Value::as_array);
        let rest = schema.get("items").filter(|rest| rest.is_object());
        for (index, item) in items.iter().enumerate() {
            let Some(schema) = first.and_then(|first| first.get(index)).or(rest) else { break };
            self.steps.push(Step::Index(index));
            self.look(schema, item);
            self.steps.pop();
        }
    }

    fn add(&mut self, kind: ViolationKind, message: String) {
        if self.found.len() < MOST {
            self.found.push(Fault { steps: self.steps.clone(), kind, message });
        }
    }
}

/// The faults against constraints, which a typed decode does not see. Whatever else does not fit, the
/// type has taken, for instance a member under another name.
pub fn broken_constraints(root: &Value, schema: &Value, value: &Value, raw: &str) -> Vec<Fault> {
    let mut found = search(root, schema, value, raw, true);
    found.retain(|fault| fault.kind == ViolationKind::Constraint);
    found
}

/// The message for a value, given as its text, that is not what is expected.
pub(super) fn mismatch(expected: Option<String>, value: &str) -> String {
    let expected = expected.unwrap_or_else(|| "another value".to_owned());
    format!("expected {expected}, got {}", value_in_words(value))
}

/// The message for a member that may not be there.
pub(super) fn no_such_property(name: &str, properties: Option<&Map<String, Value>>) -> String {
    let known = properties.into_iter().flat_map(Map::keys).map(String::as_str);
    let hint = nearest(name, known).first().map(|meant| format!("; did you mean `{}`?", shorten(meant)));
    format!("there is no such property{}", hint.unwrap_or_default())
}

/// The message for something that is required and absent.
pub fn missing(expected: Option<String>) -> String {
    match expected {
        Some(expected) => format!("required, but missing; expected {expected}"),
        None => "required, but missing".to_owned(),
    }
}

fn is_of_its_kind(schema: &Map<String, Value>, value: &Value) -> bool {
    match schema.get("type") {
        Some(Value::String(kind)) => is_of_kind(value, kind),
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).any(|kind| is_of_kind(value, kind))
        }
        _ => true,
    }
}

/// The properties, if the schema wants an object and no list.
fn fields(schema: &Map<String, Value>) -> Option<&Map<String, Value>> {
    let is_wanted = |kind: &str| match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|known| known == kind),
        known => known.is_some_and(|known| known == kind),
    };
    let properties = schema.get("properties")?.as_object();
    properties.filter(|_| is_wanted("object") && !is_wanted("array"))
}

fn is_allowed(schema: &Map<String, Value>, value: &Value) -> bool {
    let values = schema.get("enum").and_then(Value::as_array);
    values.is_none_or(|values| values.iter().any(|allowed| is_same(allowed, value)))
        && schema.get("const").is_none_or(|constant| is_same(constant, value))
}

pub(super) fn is_of_kind(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(schema: &Value, value: &Value, expected: &[&str]) {
        let found: Vec<String> = faults(schema, schema, value, &value.to_string())
            .into_iter()
            .map(|fault| format!("{}: {}", path("", &fault.steps), fault.message))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn every_fault_is_found_and_fitting_values_have_none() {
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
    fn the_branch_that_is_meant_is_explained() {
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
    fn recursion_goes_as_deep_as_the_value_and_no_further() {
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
    fn the_number_of_faults_is_bounded() {
        let schema = json!({"type": "array", "items": {"type": "integer"}});
        let value = Value::from(vec!["x"; 1_000]);
        assert_eq!(faults(&schema, &schema, &value, "").len(), MOST);
    }
}
