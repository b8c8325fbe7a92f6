//! Predicates on our schema, computed from the definition.

use serde_json::{Map, Value, json};

use crate::known::Case;
use crate::{meaning, places};

pub(crate) fn named(name: &str) -> Option<fn(&Case<'_>) -> bool> {
    Some(match name {
        "as defined" => as_defined,
        "as written" => as_written,
        "reported as lost" => reported_as_lost,
        "the description of a loss" => description_of_a_loss,
        "the sets of parameters" => sets_of_parameters,
        "allowed null" => allowed_null,
        "the choice without null" => choice_without_null,
        "a branch for each type" => branch_for_each_type,
        "the type of the values" => type_of_the_values,
        "the constant as a list" => constant_as_list,
        "the constant in a list" => constant_in_list,
        "nullable for each choice" => nullable_for_each_choice,
        "closed" => closed,
        "an object cut off" => object_cut_off,
        "the properties of the reference" => properties_of_the_reference,
        "the parameters as they are" => parameters_as_they_are,
        "the required properties as written" => required_as_written,
        _ => return None,
    })
}

/// The keyword of a place such as `definitions.parameters.title`.
fn keyword<'a>(case: &Case<'a>) -> &'a str {
    case.place.rsplit('.').next().unwrap_or_default()
}

/// The definition's schema at the place, without references.
fn defined<'a>(case: &Case<'a>) -> &'a Value {
    places::within(&case.input["facts"]["defined"], case.path).unwrap_or(&Value::Null)
}

fn there<'a>(case: &Case<'_>, schema: &'a Value) -> &'a Value {
    match keyword(case) {
        "schema" | "property" => schema,
        keyword => schema.get(keyword).unwrap_or(&Value::Null),
    }
}

/// The definition has this, written so or with resolved references.
fn as_defined(case: &Case<'_>) -> bool {
    let ours = places::at(&case.answer["parameters"], case.path);
    let original = places::at(&case.input["facts"]["original"], case.path);
    let is_kept = case.path.is_empty() || ours.get("$ref").is_some();
    let meant = places::resolved(&case.answer["parameters"]);
    let meant = places::within(&meant, case.path).unwrap_or(&Value::Null);
    let is_meant = match keyword(case) {
        "$ref" | "$defs" => !case.ours.is_null() && meant == defined(case),
        _ => there(case, meant) == there(case, defined(case)),
    };
    there(case, defined(case)) == case.ours || is_kept && there(case, &original) == case.ours || is_meant
}

/// The request's schema, read again, has this.
fn as_written(case: &Case<'_>) -> bool {
    there(case, &places::at(&case.input["facts"]["written"], case.path)) == case.ours
}

/// The losses at the place, or at that of a definition.
fn losses_here<'a>(case: &Case<'a>) -> impl Iterator<Item = &'a str> {
    let path = case.path;
    let losses = case.input["facts"]["losses"].as_array().into_iter().flatten();
    losses.filter_map(move |loss| {
        let place = loss[0].as_str()?;
        let keyword = loss[1].as_str()?;
        let in_definition = place.strip_prefix("/$defs/").and_then(|place| place.split_once('/'));
        let is_here =
            place == path || in_definition.is_some_and(|(_, end)| path.ends_with(&format!("/{end}")));
        is_here.then_some(keyword)
    })
}

/// Ours lacks it, and a loss names it here.
fn reported_as_lost(case: &Case<'_>) -> bool {
    case.ours.is_null() && losses_here(case).any(|lost| lost == keyword(case))
}

/// The description has each simple value of the lost keyword.
fn description_of_a_loss(case: &Case<'_>) -> bool {
    let Some(text) = case.ours.as_str() else { return false };
    let says = |lost: &str| match defined(case).get(lost) {
        Some(Value::Array(names)) if lost == "required" => {
            let known =
                |name: &&Value| defined(case)["properties"].get(name.as_str().unwrap_or_default()).is_some();
            names.iter().filter(|name| !known(name)).all(|name| says_value(text, name))
        }
        Some(Value::String(reference)) if lost == "$ref" => {
            text.contains(reference.rsplit(['/', '#']).next().unwrap_or_default())
        }
        Some(Value::Array(values)) => values.iter().all(|value| says_value(text, value)),
        Some(value) => says_value(text, value),
        None => false,
    };
    losses_here(case).any(says)
}

fn says_value(text: &str, value: &Value) -> bool {
    match value {
        Value::String(value) => text.contains(value.as_str()),
        Value::Number(_) | Value::Bool(_) => text.contains(&value.to_string()),
        _ => !text.is_empty(),
    }
}

fn allowed_null(case: &Case<'_>) -> bool {
    let schema = meaning::without_nullable(defined(case));
    let allows = jsonschema::draft202012::new(&schema).is_ok_and(|schema| schema.is_valid(&Value::Null));
    *case.ours == true && (allows || !losses_here(case).all(|lost| lost != "type"))
}

/// The definition's list without `null`, beside `nullable`; only the type, if it is one.
fn choice_without_null(case: &Case<'_>) -> bool {
    let null = json!({"type": "null"});
    let Some(all) = there(case, defined(case)).as_array() else { return false };
    let rest: Vec<&Value> = all.iter().filter(|value| **value != "null" && **value != null).collect();
    let is_nullable = places::at(&case.answer["parameters"], case.path)["nullable"] == true;
    let is_choice = match (keyword(case), rest.as_slice()) {
        ("type", [only]) => case.ours == *only,
        ("type", _) => case.ours.is_null() && losses_here(case).next().is_none(),
        _ => *case.ours == json!(rest),
    };
    is_choice && is_nullable && rest.len() < all.len()
}

/// A branch for each type in the definition, except `null`.
fn branch_for_each_type(case: &Case<'_>) -> bool {
    let schema = defined(case);
    let mut kinds: Vec<Value> = Vec::new();
    let values = schema["enum"].as_array().into_iter().flatten().map(|value| json!(kind(value)));
    for kind in schema["type"].as_array().into_iter().flatten().cloned().chain(values) {
        if kind != "null" && !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let branches: Value = kinds.iter().map(|kind| json!({"type": kind})).collect();
    !kinds.is_empty() && *case.ours == branches
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn type_of_the_values(case: &Case<'_>) -> bool {
    let schema = defined(case);
    let mut values = schema["enum"].as_array().into_iter().flatten().chain(schema.get("const")).peekable();
    values.peek().is_some() && values.all(|value| *case.ours == kind(value))
}

fn constant_as_list(case: &Case<'_>) -> bool {
    defined(case).get("const").is_some_and(|constant| *case.ours == json!([constant]))
}

/// The definition's constants are lists of one value in ours.
fn constant_in_list(case: &Case<'_>) -> bool {
    let mut constants = Vec::new();
    collect("const", &case.input["facts"]["defined"], &mut constants);
    let mut lists = Vec::new();
    collect("enum", &case.input["facts"]["written"], &mut lists);
    !constants.is_empty()
        && constants.iter().all(|constant| lists.iter().any(|list| **list == json!([constant])))
}

fn collect<'a>(keyword: &str, schema: &'a Value, found: &mut Vec<&'a Value>) {
    found.extend(schema.get(keyword));
    match schema {
        Value::Object(fields) => fields.values().for_each(|schema| collect(keyword, schema, found)),
        Value::Array(schemas) => schemas.iter().for_each(|schema| collect(keyword, schema, found)),
        _ => {}
    }
}

/// As often as the definition has a choice with `null`.
fn nullable_for_each_choice(case: &Case<'_>) -> bool {
    let facts = &case.input["facts"];
    let mut unions = Vec::new();
    let mut nullable = Vec::new();
    collect("anyOf", &facts["defined"], &mut unions);
    collect("nullable", &facts["written"], &mut nullable);
    let null = json!({"type": "null"});
    let choices =
        unions.iter().filter(|union| union.as_array().is_some_and(|branches| branches.contains(&null)));
    nullable.len() >= choices.count()
}

fn closed(case: &Case<'_>) -> bool {
    let mut rest = Vec::new();
    collect(keyword(case), &case.input["facts"]["defined"], &mut rest);
    !rest.is_empty() && rest.iter().all(|rest| **rest == false)
}

/// An object in which a loss cuts off a reference.
fn object_cut_off(case: &Case<'_>) -> bool {
    *case.ours == "object" && losses_here(case).any(|lost| lost == "$ref")
}

fn properties_of_the_reference(case: &Case<'_>) -> bool {
    let reference = defined(case)["$ref"].as_str().and_then(|name| name.strip_prefix('#'));
    let target = reference.and_then(|name| case.input["facts"]["original"].pointer(name));
    let names = |properties: &Value| -> Vec<String> {
        properties.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
    };
    target.is_some_and(|target| names(&target["properties"]) == names(case.ours))
}

fn parameters_as_they_are(case: &Case<'_>) -> bool {
    case.answer["parameters"] == case.input["ir"]["parameters"]
}

fn required_as_written(case: &Case<'_>) -> bool {
    let written = &case.input["facts"]["written"]["required"];
    if written.is_null() { *case.ours == json!([]) } else { case.ours == written }
}

/// A sentence naming the properties of each branch at the root.
fn sets_of_parameters(case: &Case<'_>) -> bool {
    let schema = &case.input["facts"]["original"];
    let branches = ["anyOf", "oneOf"].into_iter().filter_map(|union| schema[union].as_array()).flatten();
    let mut names =
        branches.filter_map(|branch| branch["properties"].as_object()).flat_map(Map::keys).peekable();
    let text = case.ours.as_str().filter(|_| case.path.is_empty() && names.peek().is_some());
    text.is_some_and(|text| names.all(|name| text.contains(&format!("`{name}`"))))
}
