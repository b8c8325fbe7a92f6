//! Two schemas keyword by keyword, and a schema without references.

use std::collections::BTreeSet;

use serde_json::Value;

/// A keyword in which schemas differ, null where absent.
pub(crate) struct Place {
    /// The keyword's schema, as a JSON pointer.
    pub(crate) path: String,
    pub(crate) keyword: String,
    pub(crate) theirs: Value,
    pub(crate) ours: Value,
}

const NAMED: [&str; 5] = ["properties", "$defs", "definitions", "patternProperties", "dependentSchemas"];
const LISTED: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
const SINGLE: [&str; 10] = [
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedProperties",
    "contentSchema",
];

/// The differences in keywords, with `property` or `schema` where a whole schema is missing.
pub(crate) fn differences(theirs: &Value, ours: &Value) -> Vec<Place> {
    let mut places = Vec::new();
    compare("", theirs, ours, &mut places);
    places
}

fn compare(path: &str, theirs: &Value, ours: &Value, places: &mut Vec<Place>) {
    let place = |path: String, keyword: &str, theirs: Option<&Value>, ours: Option<&Value>| Place {
        path,
        keyword: keyword.to_owned(),
        theirs: theirs.cloned().unwrap_or_default(),
        ours: ours.cloned().unwrap_or_default(),
    };
    let (Value::Object(their_fields), Value::Object(our_fields)) = (theirs, ours) else {
        if theirs != ours {
            places.push(place(path.to_owned(), "schema", Some(theirs), Some(ours)));
        }
        return;
    };
    let keywords: BTreeSet<&String> = their_fields.keys().chain(our_fields.keys()).collect();
    for keyword in keywords {
        let theirs = their_fields.get(keyword);
        let ours = our_fields.get(keyword);
        match (theirs, ours) {
            _ if theirs == ours => {}
            (Some(Value::Object(theirs)), Some(Value::Object(ours))) if NAMED.contains(&keyword.as_str()) => {
                let names: BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
                for name in names {
                    let inner = format!("{path}/{keyword}/{}", escaped(name));
                    match (theirs.get(name), ours.get(name)) {
                        (Some(theirs), Some(ours)) => compare(&inner, theirs, ours, places),
                        (theirs, ours) if keyword == "properties" => {
                            places.push(place(inner, "property", theirs, ours));
                        }
                        (theirs, ours) => places.push(place(inner, "schema", theirs, ours)),
                    }
                }
            }
            (Some(Value::Array(theirs)), Some(Value::Array(ours)))
                if LISTED.contains(&keyword.as_str()) && theirs.len() == ours.len() =>
            {
                for (index, (theirs, ours)) in theirs.iter().zip(ours).enumerate() {
                    compare(&format!("{path}/{keyword}/{index}"), theirs, ours, places);
                }
            }
            (Some(theirs @ Value::Object(_)), Some(ours @ Value::Object(_)))
                if SINGLE.contains(&keyword.as_str()) =>
            {
                compare(&format!("{path}/{keyword}"), theirs, ours, places);
            }
            (theirs, ours) => places.push(place(path.to_owned(), keyword, theirs, ours)),
        }
    }
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The schema with targets in place of references, except missing and enclosing ones.
pub(crate) fn resolved(schema: &Value) -> Value {
    resolve(schema, schema, &["#"])
}

fn resolve(schema: &Value, root: &Value, within: &[&str]) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let target = fields.get("$ref").and_then(Value::as_str).filter(|name| !within.contains(name));
    let target = target.and_then(|name| Some((name, lookup(name, root)?)));
    let Some((name, target)) = target else {
        let kept = fields.iter().filter(|(keyword, _)| *keyword != "$defs" && *keyword != "definitions");
        return kept.map(|(keyword, value)| (keyword.clone(), part(keyword, value, root, within))).collect();
    };
    let within: Vec<&str> = within.iter().copied().chain([name, "#"]).collect();
    let mut merged = match resolve(target, root, &within) {
        Value::Object(target) => target,
        other => return other,
    };
    for (keyword, value) in fields.iter().filter(|(keyword, _)| *keyword != "$ref") {
        merged.insert(keyword.clone(), part(keyword, value, root, &within));
    }
    merged.into()
}

fn part(keyword: &str, value: &Value, root: &Value, within: &[&str]) -> Value {
    match value {
        Value::Object(schemas) if NAMED.contains(&keyword) && !keyword.starts_with(['$', 'd']) => {
            schemas.iter().map(|(name, schema)| (name.clone(), resolve(schema, root, within))).collect()
        }
        Value::Array(schemas) if LISTED.contains(&keyword) => {
            schemas.iter().map(|schema| resolve(schema, root, within)).collect()
        }
        schema if SINGLE.contains(&keyword) => resolve(schema, root, within),
        other => other.clone(),
    }
}

/// A reference's target, also in nested `$defs`.
fn lookup<'a>(name: &str, root: &'a Value) -> Option<&'a Value> {
    let pointer = name.strip_prefix('#')?;
    root.pointer(pointer).or_else(|| nested(pointer, root))
}

fn nested<'a>(pointer: &str, schema: &'a Value) -> Option<&'a Value> {
    let inner = match schema {
        Value::Object(fields) => fields.values().collect::<Vec<_>>(),
        Value::Array(values) => values.iter().collect(),
        _ => return None,
    };
    inner.into_iter().find_map(|schema| schema.pointer(pointer).or_else(|| nested(pointer, schema)))
}

/// The value at a place, or null.
pub(crate) fn at(schema: &Value, path: &str) -> Value {
    schema.pointer(path).cloned().unwrap_or_default()
}

/// The schema at a place, also within a choice with `null`, which a provider may leave out.
pub(crate) fn within<'a>(schema: &'a Value, path: &str) -> Option<&'a Value> {
    let Some(path) = path.strip_prefix('/') else { return Some(schema) };
    let (segment, rest) =
        path.split_once('/').map_or((path, ""), |(segment, _)| (segment, &path[segment.len()..]));
    let inner = schema.pointer(&format!("/{segment}"));
    let here = inner.and_then(|inner| within(inner, rest));
    here.or_else(|| {
        let branches =
            ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|union| schema.get(union)?.as_array());
        branches.flatten().find_map(|branch| within(branch, &format!("/{path}")))
    })
}

/// A schema without a keyword at a place.
pub(crate) fn without(schema: &Value, path: &str, keyword: &str) -> Value {
    let mut schema = schema.clone();
    if let Some(Value::Object(fields)) = schema.pointer_mut(path) {
        fields.shift_remove(keyword);
    }
    schema
}

pub(crate) fn with(schema: &Value, path: &str, inner: Value) -> Value {
    let mut schema = schema.clone();
    if let Some(place) = schema.pointer_mut(path) {
        *place = inner;
    }
    schema
}
