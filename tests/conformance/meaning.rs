//! Whether two schemas accept the same values, found by trying values.

use std::collections::BTreeSet;

use jsonschema::Validator;
use serde_json::{Map, Value, json};

use crate::places;

const DEEPEST: usize = 12;

/// `kept` if our schema accepts the definition's objects, less the losses; else the fault.
///
/// A loss excuses its own meaning: without its keyword, the definition has to accept all that ours accepts.
/// If the definition lacks the keyword, ours says more only there.
pub(crate) fn verdict(defined: &Value, ours: &Value, losses: &[(String, String)]) -> String {
    let Some(our_validator) = validator(ours) else { return format!("ours is no valid schema: {ours}") };
    let Some(first) = validator(defined) else { return "kept".to_owned() };
    let weaker = match without_losses(defined, ours, losses) {
        Ok(weaker) => weaker,
        Err(fault) => return fault,
    };
    let Some(weak) = validator(&weaker) else { return "kept".to_owned() };
    let root_union =
        losses.iter().find(|(path, keyword)| path.is_empty() && UNIONS.contains(&keyword.as_str()));
    for value in samples(&[defined, ours]).into_iter().filter(Value::is_object) {
        let is_ours = our_validator.is_valid(&value);
        if is_ours && !weak.is_valid(&value) {
            return format!("{value} is allowed by {ours}, and no loss says so");
        }
        let is_refused = !is_ours && first.is_valid(&value) && weak.is_valid(&value);
        let is_mixed = || root_union.is_some_and(|(_, union)| mixes(&value, defined, union));
        if is_refused && !is_mixed() {
            return format!("{value} is refused by {ours}, and no loss says so");
        }
    }
    "kept".to_owned()
}

const UNIONS: [&str; 2] = ["anyOf", "oneOf"];

/// The definition without lost keywords, or the fault if one is not lost.
pub(crate) fn without_losses(
    defined: &Value,
    ours: &Value,
    losses: &[(String, String)],
) -> Result<Value, String> {
    let mut weaker = defined.clone();
    for (path, keyword) in losses {
        let without = weakened(&weaker, defined, ours, path, keyword)?;
        // References are followed into keywords outside of JSON Schema.
        if validator(&without).is_some() || validator(defined).is_none() {
            weaker = without;
        }
    }
    Ok(weaker)
}

fn weakened(
    weaker: &Value,
    defined: &Value,
    ours: &Value,
    path: &str,
    keyword: &str,
) -> Result<Value, String> {
    let schema = defined.pointer(path).ok_or_else(|| format!("a loss at `{path}`, which is no place"))?;
    Ok(match (schema.get(keyword), ours.pointer(path)) {
        (Some(value), here) if here.and_then(|here| here.get(keyword)) == Some(value) => {
            return Err(format!("`{keyword}` at `{path}` is reported as lost, and stands there"));
        }
        (Some(names), _) if keyword == "required" => {
            let known = |name: &&Value| schema["properties"].get(name.as_str().unwrap_or_default()).is_some();
            let names: Vec<&Value> = names.as_array().into_iter().flatten().filter(known).collect();
            let mut schema = weaker.pointer(path).cloned().unwrap_or_default();
            schema["required"] = json!(names);
            places::with(weaker, path, schema)
        }
        (Some(_), here) if keyword == "$ref" => {
            places::with(weaker, path, here.cloned().unwrap_or(json!({})))
        }
        (Some(_), _) => places::without(weaker, path, keyword),
        (None, Some(_)) => {
            // Branches are put together, so the union is compared as one.
            let path = path.split("/anyOf/").next().unwrap_or(path);
            places::with(weaker, path, places::at(ours, path))
        }
        (None, None) => {
            return Err(format!("`{keyword}` at `{path}` is reported as lost, and was not there"));
        }
    })
}

/// Whether no schema of the root's union that accepts an object names all its members.
fn mixes(value: &Value, defined: &Value, union: &str) -> bool {
    let names = |schema: &Value| -> BTreeSet<String> {
        schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
    };
    let own = names(defined);
    let branches = defined[union].as_array().into_iter().flatten();
    let mut fits = branches.map(|branch| {
        let named = names(branch);
        let mut members = value.as_object().into_iter().flatten();
        let names_all = members.all(|(name, _)| named.contains(name) || own.contains(name));
        names_all && validator(branch).is_some_and(|branch| branch.is_valid(value))
    });
    !fits.any(|fits| fits)
}

/// The first sample on which the schemas disagree; ours must be valid.
pub(crate) fn difference(theirs: &Value, ours: &Value) -> Option<Value> {
    let Some(second) = validator(ours) else { return Some(json!("ours is no valid schema")) };
    let first = validator(theirs)?;
    samples(&[theirs])
        .into_iter()
        .filter(Value::is_object)
        .find(|value| first.is_valid(value) != second.is_valid(value))
}

fn validator(schema: &Value) -> Option<Validator> {
    jsonschema::draft202012::new(schema).ok()
}

pub(crate) fn keywords(schema: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect_keywords(schema, 0, &mut found);
    found
}

fn collect_keywords(schema: &Value, depth: usize, found: &mut BTreeSet<String>) {
    let Value::Object(fields) = schema else { return };
    if depth > DEEPEST {
        return;
    }
    for (keyword, value) in fields {
        found.insert(keyword.clone());
        match (keyword.as_str(), value) {
            ("properties" | "$defs" | "definitions" | "patternProperties", Value::Object(schemas)) => {
                schemas.values().for_each(|schema| collect_keywords(schema, depth + 1, found));
            }
            ("enum" | "const" | "default" | "examples", _) => {}
            (_, Value::Array(schemas)) => {
                schemas.iter().for_each(|schema| collect_keywords(schema, depth + 1, found));
            }
            (_, schema) => collect_keywords(schema, depth + 1, found),
        }
    }
}

/// Plain JSON Schema, in which `nullable` means nothing.
pub(crate) fn without_nullable(schema: &Value) -> Value {
    each_schema(schema, &|fields| match fields.shift_remove("nullable") {
        Some(Value::Bool(true)) => json!({"anyOf": [fields, {"type": "null"}]}),
        _ => json!(fields),
    })
}

/// A schema with the type or branch `null` for `nullable`.
pub(crate) fn null_in_words(schema: &Value) -> Value {
    each_schema(schema, &|fields| {
        if fields.get("nullable") != Some(&Value::Bool(true))
            || fields.get("type").is_some_and(Value::is_array)
        {
            return json!(fields);
        }
        fields.shift_remove("nullable");
        if let Some(Value::Array(branches)) = fields.get_mut("anyOf") {
            branches.push(json!({"type": "null"}));
        }
        if let Some(kind) = fields.get_mut("type") {
            *kind = json!([kind, "null"]);
        }
        if let Some(Value::Array(values)) = fields.get_mut("enum") {
            values.push(Value::Null);
        }
        json!(fields)
    })
}

/// A schema with open objects, as Google's models never write unnamed members.
pub(crate) fn without_closing(schema: &Value) -> Value {
    each_schema(schema, &|fields| {
        if fields.get("additionalProperties") == Some(&Value::Bool(false)) {
            fields.shift_remove("additionalProperties");
        }
        json!(fields)
    })
}

fn each_schema(schema: &Value, change: &dyn Fn(&mut Map<String, Value>) -> Value) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let mut fields = fields.clone();
    for (keyword, value) in &mut fields {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                properties.values_mut().for_each(|property| *property = each_schema(property, change));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(|schema| *schema = each_schema(schema, change));
            }
            ("items" | "additionalProperties", schema) => *schema = each_schema(schema, change),
            _ => {}
        }
    }
    change(&mut fields)
}

/// Arguments to try: each property with each value that may matter, alone and beside values for all others.
fn samples(schemas: &[&Value]) -> Vec<Value> {
    let mut found = Found::default();
    schemas.iter().for_each(|schema| found.look(schema, 0));
    let plain = [
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(-7),
        json!(2.5),
        json!(100_000),
        json!(""),
        json!("a"),
        json!("x".repeat(300)),
        json!([]),
        json!([1]),
        json!(["a", "a"]),
        json!({}),
    ];
    let mut values: Vec<Value> = plain
        .into_iter()
        .chain(found.values.iter().filter_map(|text| serde_json::from_str(text).ok()))
        .collect();
    for round in 0..2 {
        let inner: Vec<Value> =
            if round == 0 { values.clone() } else { values.iter().take(40).cloned().collect() };
        let objects = found.names.iter().flat_map(|name| inner.iter().map(move |value| json!({name: value})));
        let objects: Vec<Value> = objects.collect();
        let all =
            |value: &Value| found.names.iter().map(|name| (name.clone(), value.clone())).collect::<Value>();
        let full: Vec<Value> = inner.iter().map(all).collect();
        values.extend(objects.into_iter().chain(full).take(1500));
        if round == 0 {
            let lists: Vec<Value> = values.iter().take(60).map(|value| json!([value])).collect();
            values.extend(lists);
        }
    }
    values
}

#[derive(Default)]
struct Found {
    names: BTreeSet<String>,
    values: BTreeSet<String>,
}

impl Found {
    fn look(&mut self, schema: &Value, depth: usize) {
        let Value::Object(fields) = schema else { return };
        if depth > DEEPEST {
            return;
        }
        for (keyword, value) in fields {
            match (keyword.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    self.names.extend(properties.keys().cloned());
                    properties.values().for_each(|property| self.look(property, depth + 1));
                }
                ("$defs" | "definitions", Value::Object(schemas)) => {
                    schemas.values().for_each(|schema| self.look(schema, depth + 1));
                }
                ("required", Value::Array(names)) => {
                    self.names.extend(names.iter().filter_map(Value::as_str).map(str::to_owned));
                }
                ("enum", Value::Array(values)) => self.values.extend(values.iter().map(Value::to_string)),
                ("const" | "default", value) => {
                    self.values.insert(value.to_string());
                }
                (_, Value::Array(schemas)) => schemas.iter().for_each(|schema| self.look(schema, depth + 1)),
                (_, schema) => self.look(schema, depth + 1),
            }
        }
    }
}
