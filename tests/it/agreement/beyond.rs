//! Whether a tool agrees with its schema about arguments. Some arguments are accepted beyond the schema on purpose:
//! each rule for them returns the arguments in the form that the schema allows.

use super::made::Decode;
use super::values::resolve;
use jsonschema::Validator;
use toolkit::prelude::*;
use toolkit::serde_json::{Map, Value};

pub(super) fn validator(schema: &Value) -> Validator {
    jsonschema::options().should_validate_formats(true).build(schema).expect("the schema is one")
}

/// Returns the disagreement about a call, if there is one.
pub(super) fn disagreement(tool: &dyn Tool, validator: &Validator, arguments: &Value) -> Option<String> {
    let schema = &tool.definition().parameters;
    let context = ToolContext::new(tool.definition().name.clone());
    let text = arguments.to_string();
    let outcome = tool.call(&text, &context).try_ready().expect("the tool is synchronous");
    let valid = validator.is_valid(arguments);
    match outcome {
        Ok(_) if valid || validator.is_valid(&plainly(schema, schema, arguments)) => None,
        Ok(_) => Some("taken, though the schema refuses it".to_owned()),
        // If the schema allows other members, it cannot see that a member is an alias of a property.
        Err(error) if valid && with_own_names(arguments).is_some_and(|own| validator.is_valid(&own)) => {
            Some(format!("refused, though the schema allows it: {error}"))
        }
        Err(error) if error.violations().is_empty() => Some(format!("refused without a violation: {error}")),
        Err(_) => None,
    }
}

/// Returns the disagreement of a tool with its own type about a text, if there is one: an accepted value is the one
/// that the type decodes. The type does not know the constraints, and refuses `null` where the tool takes it as absent.
pub(super) fn other_value(tool: &dyn Tool, decode: Decode, text: &str) -> Option<String> {
    // The values of a hash set have no order.
    if tool.definition().parameters.to_string().contains("uniqueItems") {
        return None;
    }
    let context = ToolContext::new(tool.definition().name.clone());
    let taken = tool.call(text, &context).try_ready().expect("the tool is synchronous").ok()?;
    let (expected, _) = decode(text)?;
    (taken.to_text() != expected).then(|| format!("taken as {taken:?}, though the type decodes {expected}"))
}

/// Returns the value in the form of the schema, if one of these rules applies:
///
/// - `null` for a member that may be left out is as if it were left out.
/// - A member may have its other name.
/// - A set takes an item twice.
/// - A list of values stands for a structure (serde takes it).
/// - A variant without data may be written as an object whose member is `null` (serde takes it).
/// - The data of a variant may be left out if it may be `null` (serde takes it).
/// - A tag beside other members may be the number of its variant (serde takes it).
/// - A variant may have a declared alias.
pub(super) fn plainly(root: &Value, schema: &Value, value: &Value) -> Value {
    let schema = resolve(root, schema);
    let list = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
    let plain = match value {
        Value::Object(members) => of_object(root, schema, members),
        Value::Array(items) => of_array(root, schema, items),
        Value::String(text) => match text.strip_suffix("-alias").filter(|own| lists(schema, own)) {
            Some(own) => own.into(),
            None => value.clone(),
        },
        value => value.clone(),
    };
    for (index, branch) in list("anyOf").or_else(|| list("oneOf")).into_iter().flatten().enumerate() {
        let in_branch = plainly(root, branch, &with_name_of_variant(index, resolve(root, branch), &plain));
        if fits(root, branch, &in_branch) {
            return in_branch;
        }
    }
    plain
}

fn lists(schema: &Value, name: &str) -> bool {
    let values = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    values.chain(schema.get("const")).any(|value| value == name)
}

/// Returns the value with the tag of a branch, if the value has the number of this branch.
fn with_name_of_variant(index: usize, branch: &Value, value: &Value) -> Value {
    let mut named = value.clone();
    let properties = branch.get("properties").and_then(Value::as_object).into_iter().flatten();
    for (name, tag) in properties.filter_map(|(name, property)| Some((name, property.get("const")?))) {
        if let Some(number) = named.get_mut(name).filter(|given| given.as_u64() == Some(index as u64)) {
            *number = tag.clone();
        }
    }
    named
}

fn of_object(root: &Value, schema: &Value, members: &Map<String, Value>) -> Value {
    if let (Some((name, Value::Null)), 1) = (members.iter().next(), members.len())
        && lists(schema, name)
    {
        return name.as_str().into();
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let property = |name: &str| properties.and_then(|properties| properties.get(name));
    let required = schema.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|required| required.iter().any(|known| known == name));
    let mut plain = Map::new();
    for (name, value) in members {
        // Tag and content of an enum have no aliases.
        let own = name.strip_suffix("-alias").filter(|own| !["kind", "of"].contains(own)).unwrap_or(name);
        let (name, schema) = match (property(name), property(own)) {
            (None, Some(schema)) => (own, Some(schema)),
            (known, _) => (name.as_str(), known.or(schema.get("additionalProperties"))),
        };
        let value = schema.map_or_else(|| value.clone(), |schema| plainly(root, schema, value));
        let absent =
            value.is_null() && !is_required(name) && schema.is_some_and(|schema| !fits(root, schema, &value));
        if !absent {
            plain.insert(name.to_owned(), value);
        }
    }
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        let may_be_null = || property(name).is_some_and(|schema| fits(root, schema, &Value::Null));
        if !plain.contains_key(name) && may_be_null() {
            plain.insert(name.to_owned(), Value::Null);
        }
    }
    plain.into()
}

/// Returns the value with the property names of the schema instead of aliases. Returns `None` if the value
/// has both.
pub(super) fn with_own_names(value: &Value) -> Option<Value> {
    match value {
        Value::Object(members) => {
            let own = |name: &String| name.strip_suffix("-alias").unwrap_or(name).to_owned();
            let renamed: Option<Map<String, Value>> =
                members.iter().map(|(name, value)| Some((own(name), with_own_names(value)?))).collect();
            renamed.filter(|renamed| renamed.len() == members.len()).map(Value::from)
        }
        Value::Array(items) => items.iter().map(with_own_names).collect(),
        value => Some(value.clone()),
    }
}

fn of_array(root: &Value, schema: &Value, items: &[Value]) -> Value {
    let kind = schema.get("type");
    let kinds =
        kind.and_then(Value::as_array).map_or(kind.map_or(&[][..], std::slice::from_ref), Vec::as_slice);
    if kinds.iter().any(|kind| kind == "object") && kinds.iter().all(|kind| kind != "array") {
        let names = schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
        let members: Map<String, Value> = names.cloned().zip(items.iter().cloned()).collect();
        let all = members.len() == items.len();
        return if all { of_object(root, schema, &members) } else { Value::from(items) };
    }
    let first = schema.get("prefixItems").and_then(Value::as_array);
    let mut plain = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let of_item = first.and_then(|first| first.get(index)).or(schema.get("items"));
        let item = of_item.map_or_else(|| item.clone(), |of_item| plainly(root, of_item, item));
        if schema.get("uniqueItems").is_none() || !plain.contains(&item) {
            plain.push(item);
        }
    }
    plain.into()
}

pub(super) fn fits(root: &Value, schema: &Value, value: &Value) -> bool {
    let mut schema = schema.clone();
    if let (Value::Object(schema), Some(definitions)) = (&mut schema, root.get("$defs")) {
        schema.insert("$defs".to_owned(), definitions.clone());
    }
    validator(&schema).is_valid(value)
}
