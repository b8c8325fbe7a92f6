//! The schemas of object members and array items, and the aliases of properties.
//!
//! JSON Schema has no keyword for aliases. `#[derive(ToolParams)]` writes aliases into the schema of each
//! property, and the checks read them. Published schemas do not contain aliases.

use crate::pattern::is_match;
use serde_json::{Map, Value};

/// The keyword that lists the aliases of a property.
pub(crate) const ALIASES: &str = "x-toolkit-aliases";

/// The keyword that marks a schema as stricter than its Rust type. Decoding alone is then not a sufficient check.
pub(crate) const EXACT: &str = "x-toolkit-exact";

/// Marks a schema as stricter than its Rust type. The check then reports every violation, even if the Rust type has
/// decoded the value.
pub fn mark_exact(schema: &mut Value) {
    if let Value::Object(keywords) = schema {
        keywords.insert(EXACT.to_owned(), true.into());
    }
}

/// Returns whether a schema is [marked](mark_exact) as stricter than its Rust type.
pub(crate) fn is_exact(schema: &Value) -> bool {
    schema.get(EXACT).is_some()
}

#[cfg(test)]
thread_local! {
    /// The number of names looked up among properties on this thread.
    pub(crate) static LOOKED_UP: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Finds a property by its name or an alias. Returns the property's own name and its schema.
pub(crate) fn property<'a>(
    properties: &'a Map<String, Value>,
    name: &str,
) -> Option<(&'a String, &'a Value)> {
    #[cfg(test)]
    LOOKED_UP.set(LOOKED_UP.get() + 1);
    let by_alias = || properties.iter().find(|(_, property)| aliases_of(property).any(|alias| alias == name));
    properties.get_key_value(name).or_else(by_alias)
}

/// Returns the aliases of an object's properties, as pairs of alias and property name.
pub fn aliases(schema: &Value) -> impl Iterator<Item = (&str, &str)> {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties.flat_map(|(name, property)| aliases_of(property).map(move |alias| (alias, name.as_str())))
}

/// Returns the names and aliases of an object's properties.
pub(crate) fn names_of_properties(schema: &Value) -> impl Iterator<Item = &str> {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties.flat_map(|(name, property)| std::iter::once(name.as_str()).chain(aliases_of(property)))
}

/// Adds an alias to the schema of a property.
pub(crate) fn add_alias(property: &mut Value, alias: &str) {
    if property == &Value::Bool(true) {
        *property = Value::Object(Map::new());
    }
    let aliases = property
        .as_object_mut()
        .map(|keywords| keywords.entry(ALIASES).or_insert_with(|| Value::Array(Vec::new())));
    if let Some(Value::Array(aliases)) = aliases {
        aliases.push(alias.into());
    }
}

/// Returns whether two properties have the same schema, apart from their aliases.
pub(crate) fn is_same_property(one: &Value, other: &Value) -> bool {
    let without = |property: &Value| {
        let mut property = property.clone();
        property.as_object_mut().map(|keywords| keywords.shift_remove(ALIASES));
        property
    };
    one == other || without(one) == without(other)
}

fn aliases_of(property: &Value) -> impl Iterator<Item = &str> {
    property.get(ALIASES).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Returns the schemas for the member called `name`.
///
/// The list contains the matching schemas from `properties` and `patternProperties`. If there are none, the second
/// value is the schema from `additionalProperties`.
pub(crate) fn member_schemas<'a>(schema: &'a Value, name: &str) -> (Vec<&'a Value>, Option<&'a Value>) {
    let held = |keyword: &str| schema.get(keyword).and_then(Value::as_object);
    let own = held("properties").and_then(|properties| property(properties, name));
    let by_pattern = held("patternProperties").into_iter().flatten();
    let by_pattern =
        by_pattern.filter(|(pattern, _)| is_match(pattern, name) == Some(true)).map(|(_, schema)| schema);
    let named: Vec<&Value> = own.map(|(_, schema)| schema).into_iter().chain(by_pattern).collect();
    let other = schema.get("additionalProperties").filter(|_| named.is_empty());
    (named, other)
}

/// Returns the schema for the array item at `index`.
pub(crate) fn item_schema(schema: &Value, index: usize) -> Option<&Value> {
    // Before draft 2020-12, `items` could hold a list with the schemas of the first items.
    let first = ["prefixItems", "items"].iter().find_map(|keyword| schema.get(keyword)?.as_array());
    first.and_then(|first| first.get(index)).or_else(|| {
        let rest = if schema.get("items").is_some_and(Value::is_array) { "additionalItems" } else { "items" };
        schema.get(rest)
    })
}
