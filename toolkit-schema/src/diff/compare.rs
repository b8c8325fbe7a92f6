//! Compares two schemas in one walk.

use super::SchemaChangeKind::{
    self, AddedOptional, AddedRequired, Described, NewlyRequired, NoLongerRequired, Removed, TypeChanged,
    Unknown,
};
use super::{SchemaChange, Side};
use crate::depth::MAX_DEPTH;
use crate::keyword::{Keyword, each_subschema};
use crate::reference::{escape, target};
use crate::types::{names, types};
use crate::words::shorten;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashSet};
use std::ptr;

/// The maximum number of compared pairs of schemas.
const MOST: usize = 100_000;

/// The keywords that the walk compares, or without effect alone.
const OWN: [&str; 7] = ["type", "properties", "required", "$defs", "definitions", "$schema", "$id"];

/// Returns all differences, in the older schema's order, with added properties last.
pub(super) fn changes(old: &Value, new: &Value, side: Side) -> Vec<SchemaChange> {
    let [plain_old, plain_new] = [old, new].map(plain);
    let mut comparison = Comparison {
        old: &plain_old,
        new: &plain_new,
        side,
        path: "#".to_owned(),
        seen: HashSet::new(),
        depth: 0,
        found: Vec::new(),
    };
    comparison.schemas(&plain_old, &plain_new);
    if comparison.found.is_empty() && plain_old == plain_new && old != new {
        comparison.add(Described, "only descriptions, examples or defaults changed");
    }
    comparison.found
}

fn has_key(properties: Option<&Map<String, Value>>, name: &str) -> bool {
    properties.is_some_and(|properties| properties.contains_key(name))
}

fn any_or_listed(types: BTreeSet<&str>) -> String {
    if types.is_empty() {
        return "any".to_owned();
    }
    types.into_iter().collect::<Vec<_>>().join(" or ")
}

/// Returns a schema without annotations.
fn plain(schema: &Value) -> Value {
    let mut plain = schema.clone();
    each_subschema(&mut plain, &mut remove_annotations);
    plain
}

fn remove_annotations(keywords: &mut Map<String, Value>) {
    keywords.retain(|keyword, _| !Keyword::is_annotation(keyword));
}

struct Comparison<'a> {
    old: &'a Value,
    new: &'a Value,
    side: Side,
    path: String,
    /// The pairs whose comparison has begun, which ends recursion.
    seen: HashSet<(*const Value, *const Value)>,
    depth: usize,
    found: Vec<SchemaChange>,
}

impl<'a> Comparison<'a> {
    fn add(&mut self, kind: SchemaChangeKind, why: impl Into<String>) {
        self.found.push(SchemaChange::new(&self.path, kind, self.side, why));
    }

    fn add_property(&mut self, name: &str, kind: SchemaChangeKind, why: &str) {
        self.at(&["properties", name], |this| this.add(kind, why));
    }

    fn at(&mut self, place: &[&str], compare: impl FnOnce(&mut Self)) {
        let here = self.path.len();
        for part in place {
            self.path.extend(["/", &escape(part)]);
        }
        compare(self);
        self.path.truncate(here);
    }

    fn schemas(&mut self, old: &'a Value, new: &'a Value) {
        let targets = (resolved(self.old, old), resolved(self.new, new));
        let (Some(old), Some(new)) = targets else {
            return if old != new || !self.refers_to_same("", old) {
                self.add(Unknown, "the reference changed");
            };
        };
        if !self.seen.insert((ptr::from_ref(old), ptr::from_ref(new))) {
            return;
        }
        if self.depth >= MAX_DEPTH || self.seen.len() > MOST {
            return self.add(Unknown, "the schemas are too large to compare");
        }
        let (Value::Object(before), Value::Object(after)) = (old, new) else {
            return if old != new {
                self.add(Unknown, change("schema", Some(old), Some(new)));
            };
        };
        let [was, is] = [before, after].map(|keywords| types(keywords.get("type")).collect::<BTreeSet<_>>());
        if was != is {
            let [was, is] = [any_or_listed(was), any_or_listed(is)];
            return self.add(TypeChanged, format!("the type was {was} and is {is}"));
        }
        self.depth += 1;
        self.properties(before, after);
        self.others(before, after);
        self.depth -= 1;
    }

    fn properties(&mut self, old: &'a Map<String, Value>, new: &'a Map<String, Value>) {
        let was_required: BTreeSet<&str> = names(old.get("required")).collect();
        let is_required: BTreeSet<&str> = names(new.get("required")).collect();
        let before = old.get("properties").and_then(Value::as_object);
        let after = new.get("properties").and_then(Value::as_object);
        for (name, property) in before.into_iter().flatten() {
            let Some(now) = after.and_then(|after| after.get(name)) else {
                self.add_property(name, Removed, "the property is gone");
                continue;
            };
            self.requirement(name, was_required.contains(&**name), is_required.contains(&**name));
            self.at(&["properties", name], |this| this.schemas(property, now));
        }
        // A name with a schema from other keywords was not free.
        let is_free = !["patternProperties", "unevaluatedProperties"].iter().any(|it| old.contains_key(*it))
            && old.get("additionalProperties").is_none_or(Value::is_boolean);
        for (name, _) in after.into_iter().flatten() {
            if has_key(before, name) {
                continue;
            }
            let (kind, why) = match (is_free, is_required.contains(&**name)) {
                (false, _) => (Unknown, "a property is new, and its name was held to another schema"),
                (true, true) => (AddedRequired, "a property was added that must be there"),
                (true, false) => (AddedOptional, "a property was added that may be left out"),
            };
            self.add_property(name, kind, why);
        }
        for name in was_required.symmetric_difference(&is_required) {
            if !has_key(before, name) && !has_key(after, name) {
                self.requirement(name, was_required.contains(name), is_required.contains(name));
            }
        }
    }

    fn requirement(&mut self, name: &str, was: bool, is: bool) {
        match (was, is) {
            (false, true) => self.add_property(name, NewlyRequired, "the property must be there now"),
            (true, false) => self.add_property(name, NoLongerRequired, "the property may be left out now"),
            _ => {}
        }
    }

    /// Compares all other keywords as a whole.
    fn others(&mut self, old: &'a Map<String, Value>, new: &'a Map<String, Value>) {
        let added = new.keys().filter(|keyword| !old.contains_key(*keyword));
        for keyword in old.keys().chain(added) {
            if OWN.contains(&&**keyword) {
                continue;
            }
            match (old.get(keyword), new.get(keyword)) {
                (Some(was @ Value::Object(_)), Some(is @ Value::Object(_))) if keyword == "items" => {
                    self.at(&["items"], |this| this.schemas(was, is));
                }
                (was, is) if was != is => self.add(Unknown, change(keyword, was, is)),
                (Some(same), _) if !self.refers_to_same(keyword, same) => {
                    self.add(Unknown, format!("what `{keyword}` refers to changed"));
                }
                _ => {}
            }
        }
    }

    /// Returns whether references inside an unchanged keyword lead to unchanged schemas.
    fn refers_to_same(&self, keyword: &'a str, value: &'a Value) -> bool {
        let mut seen = HashSet::new();
        let mut open = vec![(keyword, value)];
        while let Some((keyword, value)) = open.pop() {
            match value {
                Value::String(reference) if keyword == "$ref" && seen.insert(reference) => {
                    let old = target(self.old, reference);
                    if old != target(self.new, reference) {
                        return false;
                    }
                    open.extend(old.map(|schema| ("", schema)));
                }
                Value::Array(items) => open.extend(items.iter().map(|item| ("", item))),
                Value::Object(members) => {
                    open.extend(members.iter().map(|(keyword, member)| (&**keyword, member)));
                }
                _ => {}
            }
        }
        true
    }
}

/// Follows schemas that are nothing but a reference; a target with other keywords beside one stays.
fn resolved<'a>(root: &'a Value, mut schema: &'a Value) -> Option<&'a Value> {
    for _ in 0..MAX_DEPTH {
        let Value::Object(keywords) = schema else { return Some(schema) };
        match keywords.get("$ref") {
            Some(Value::String(reference)) if keywords.len() == 1 => schema = target(root, reference)?,
            _ => return Some(schema),
        }
    }
    None
}

fn change(keyword: &str, was: Option<&Value>, is: Option<&Value>) -> String {
    let text = |value: &Value| shorten(&value.to_string());
    match (was, is) {
        (Some(was), Some(is)) => format!("`{keyword}` was {} and is {}", text(was), text(is)),
        (Some(_), None) => format!("`{keyword}` is gone"),
        (None, is) => format!("`{keyword}` is new: {}", is.map(text).unwrap_or_default()),
    }
}
