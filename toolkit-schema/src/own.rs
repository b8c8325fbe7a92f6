//! Internal keywords for checks, above all whether a Rust type itself enforces the range or `enum` in its schema.

use crate::constraints::{ONE_OF, VARIANTS};
use crate::json::Json;
use crate::keyword::each_subschema;
use crate::number::Decimal;
use crate::properties::{ALIASES, EXACT, add_alias};
use crate::single::{SINGLE, WIDE};
use crate::types::{names, types};
use schemars::Schema;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::ptr;

/// The internal keyword that records whether the Rust type enforces the range or `enum` of its schema. Its value is:
///
/// - `true` if deserialization into the Rust type refuses all other values.
/// - The name of an integer format, such as `uint8`, if the schema's range is narrower than the format's range. The
///   Rust type then refuses only values outside of the format's range.
/// - `false` if the author of a parameter added the `enum`.
///
/// Without this keyword, only checking each value against the schema enforces the range or `enum`.
pub(crate) const OF_TYPE: &str = "x-toolkit-of-type";

/// The keyword with the aliases of variants of an enum with `#[derive(ToolParams)]`. On the schema of one variant, it
/// is the list of the variant's aliases. On an `enum`, it is an object from aliases to names.
pub(crate) const NAMES: &str = "x-toolkit-names";

/// Separates the name and the alias of a variant in an `enum`, as in `\u{1}name\u{1}alias`.
const OF_NAME: char = '\u{1}';

/// Adds the aliases of variants to an `enum`, each together with its name. `schemars` copies the `enum` of a key type
/// into the `properties` of a map, but no other keyword. Call [`unpack_aliases`] to undo this.
pub(crate) fn pack_aliases(keywords: &mut Map<String, Value>) {
    let Some(Value::Object(aliases)) = keywords.get(NAMES) else { return };
    let packed =
        |(alias, name): (&String, &Value)| Some(format!("{OF_NAME}{}{OF_NAME}{alias}", name.as_str()?));
    let packed: Vec<Value> = aliases.iter().filter_map(packed).map(Value::from).collect();
    if let Some(Value::Array(listed)) = keywords.get_mut("enum") {
        listed.extend(packed);
    }
}

/// Removes packed aliases from an `enum`, and adds those among `properties` to the property with their name.
pub(crate) fn unpack_aliases(keywords: &mut Map<String, Value>) {
    if let Some(Value::Array(listed)) = keywords.get_mut("enum") {
        listed.retain(|value| !value.as_str().is_some_and(|value| value.starts_with(OF_NAME)));
    }
    let Some(Value::Object(properties)) = keywords.get_mut("properties") else { return };
    let packed: Vec<String> = properties.keys().filter(|key| key.starts_with(OF_NAME)).cloned().collect();
    for packed in packed {
        properties.shift_remove(&packed);
        let Some((name, alias)) = packed.trim_start_matches(OF_NAME).split_once(OF_NAME) else { continue };
        if let Some(property) = properties.get_mut(name) {
            add_alias(property, alias);
        }
    }
}

/// The keyword of a branch that accepts only objects without these members.
pub(crate) const WITHOUT: &str = "x-toolkit-without";

/// Whether a type itself enforces the range or the list of values in a schema, by its answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Enforcement {
    /// The type refuses all other values.
    Proven,
    /// The answers prove nothing: the values are checked. Declared aliases are accepted.
    Unknown,
    /// The list contains all names of its values: every other value is a violation.
    Exact,
}

/// The ranges and lists that a type was asked about, each by the address of its schema.
pub type Enforcements = HashMap<*const Map<String, Value>, Enforcement>;

/// Marks the ranges and lists of a generated schema that types claim to enforce. Call this function before the
/// schema is [tidied](crate::tidy), because tidying removes the formats of integers.
pub(crate) fn mark_rules(schema: &mut Value) {
    each_subschema(schema, &mut |keywords| {
        if keywords.get(OF_TYPE).is_some_and(|mark| mark == false) {
            // An attribute of a field has set the allowed values.
        } else if keywords.contains_key(ONE_OF) {
            keywords.insert(OF_TYPE.to_owned(), false.into());
        } else if keywords.contains_key(VARIANTS) {
            keywords.entry(NAMES).or_insert_with(|| Value::Array(Vec::new()));
        } else if let Some(mark) = mark_of_format(keywords) {
            keywords.insert(OF_TYPE.to_owned(), mark);
        }
    });
}

/// Marks the ranges and lists of values in a schema by the answers of its types. Only proven rules count as
/// enforced by a type.
pub fn mark_enforced(schema: &mut Value, answers: &Enforcements) {
    each_subschema(schema, &mut |keywords| {
        if keywords.get(OF_TYPE).is_some_and(|mark| mark == false) {
            return;
        }
        match answers.get(&ptr::from_ref(&*keywords)) {
            Some(Enforcement::Proven) if !lists_values(keywords) => {}
            Some(Enforcement::Proven) => drop(keywords.insert(OF_TYPE.to_owned(), true.into())),
            Some(Enforcement::Exact) => drop(keywords.insert(OF_TYPE.to_owned(), false.into())),
            Some(Enforcement::Unknown) | None => drop(keywords.shift_remove(OF_TYPE)),
        }
    });
}

/// Marks each `enum` of a field's schema as added by the author. The field's Rust type may accept more values.
pub fn mark_lists_of_author(schema: &mut Schema) {
    let mut value = std::mem::take(schema).to_value();
    each_subschema(&mut value, &mut |keywords| {
        // Documented variants are branches with one value each. They later become one list.
        let branches = keywords.get("oneOf").and_then(Value::as_array);
        let are_values = |branches: &Vec<Value>| {
            branches.iter().all(|branch| branch.as_object().is_some_and(lists_values))
        };
        if keywords.contains_key("enum") || branches.is_some_and(are_values) {
            keywords.insert(OF_TYPE.to_owned(), false.into());
        }
    });
    if let Some(keywords) = value.as_object_mut().filter(|keywords| keywords.contains_key("const")) {
        keywords.insert(OF_TYPE.to_owned(), false.into());
    }
    *schema = value.try_into().unwrap_or_default();
}

/// Removes the marks of a schema that no argument is checked against. Aliases stay, because rules read own names.
pub fn unmark_all(schema: &mut Value) {
    each_subschema(schema, &mut |keywords| {
        if keywords.get(OF_TYPE).is_some_and(|mark| mark != &Value::Bool(false)) {
            keywords.shift_remove(OF_TYPE);
        }
        if keywords.get(NAMES).and_then(Value::as_array).is_some_and(Vec::is_empty) {
            keywords.shift_remove(NAMES);
        }
    });
}

/// Removes the internal keywords for checks from one schema, also the aliases of properties. Returns whether there were
/// any.
pub(crate) fn strip_marks(keywords: &mut Map<String, Value>) -> bool {
    let marks = [ALIASES, EXACT, NAMES, WITHOUT, OF_TYPE].map(|keyword| keywords.shift_remove(keyword));
    marks.iter().any(Option::is_some)
}

/// Removes the aliases of properties and the other internal keywords for checks from a schema.
///
/// Returns the original schema if the removed keywords are needed to check arguments, otherwise `None`.
pub fn strip_aliases(schema: &mut Value) -> Option<Value> {
    let original = schema.clone();
    let mut found = false;
    each_subschema(schema, &mut |keywords| {
        found |= strip_marks(keywords);
        found |= keywords.shift_remove(SINGLE) == Some(Value::Bool(true));
        keywords.shift_remove(WIDE);
    });
    found.then_some(original)
}

/// Returns the declared aliases of the variants of an enum. Returns `None` if the schema is not the schema of
/// an enum with `#[derive(ToolParams)]`.
pub(crate) fn names_of_type(schema: &Value) -> Option<impl Iterator<Item = &str>> {
    let declared = schema.get(NAMES)?;
    let keys = declared.as_object().into_iter().flat_map(Map::keys).map(String::as_str);
    Some(names(Some(declared)).chain(keys))
}

/// Returns the listed name of the variant with this declared alias.
pub(crate) fn name_of_alias<'a>(schema: &'a Value, alias: &str) -> Option<&'a str> {
    let declared = schema.get(NAMES)?;
    let is_of_constant = || names(Some(declared)).any(|known| known == alias);
    let name = declared.get(alias).or_else(|| schema.get("const").filter(|_| is_of_constant()));
    name.and_then(Value::as_str)
}

/// Returns whether `value` is a declared alias of a variant of the enum with this schema.
pub(crate) fn is_declared_alias(schema: &Value, value: &Json<'_>) -> bool {
    let declared = names_of_type(schema).zip(value.as_str());
    declared.is_some_and(|(mut declared, name)| declared.any(|alias| alias == name))
}

/// Returns whether the range or `enum` of a schema is marked as enforced by the Rust type itself.
pub(crate) fn is_of_type(schema: &Value) -> bool {
    schema.get(OF_TYPE) == Some(&Value::Bool(true))
}

/// Returns whether the `enum` of a schema is marked as added by the author of a parameter.
pub(crate) fn is_of_author(schema: &Value) -> bool {
    schema.get(OF_TYPE) == Some(&Value::Bool(false))
}

/// Returns the values listed by `enum` or `const`.
pub(crate) fn listed_values(schema: &Value) -> impl Iterator<Item = &Value> {
    let list = schema.get("enum").and_then(Value::as_array);
    list.into_iter().flatten().chain(schema.get("const"))
}

/// Returns whether a schema lists the allowed values.
pub(crate) fn lists_values(keywords: &Map<String, Value>) -> bool {
    keywords.contains_key("enum") || keywords.contains_key("const")
}

/// Returns the lower and the upper bound that a Rust integer type itself enforces.
pub(crate) fn range_of_type(schema: &Value) -> (Option<i64>, Option<i64>) {
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_i64);
    match schema.get(OF_TYPE) {
        Some(Value::Bool(true)) => (bound("minimum"), bound("maximum")),
        Some(Value::String(format)) => range_of(format).unwrap_or_default(),
        _ => (None, None),
    }
}

/// Returns whether a number is outside of the range that its Rust integer type enforces.
pub(crate) fn is_outside_of_type(schema: &Value, value: &Json<'_>) -> bool {
    let (least, most) = range_of_type(schema);
    let Some(number) = value.number() else { return false };
    let bound = |bound: i64| Decimal::parse(&bound.to_string());
    let is_below = least.and_then(bound).is_some_and(|least| number < least);
    is_below || most.and_then(bound).is_some_and(|most| number > most)
}

/// Returns the range of the integer format called `format`. For types of 64 or more bits, a bound other than 0 is
/// `None`.
///
/// Returns `None` if `format` is not the format of an integer type.
pub(crate) fn range_of(format: &str) -> Option<(Option<i64>, Option<i64>)> {
    let range = |least: i64, most: i64| Some((Some(least), Some(most)));
    match format {
        "int8" => range(i8::MIN.into(), i8::MAX.into()),
        "int16" => range(i16::MIN.into(), i16::MAX.into()),
        "int32" => range(i32::MIN.into(), i32::MAX.into()),
        "uint8" => range(0, u8::MAX.into()),
        "uint16" => range(0, u16::MAX.into()),
        "uint32" => range(0, u32::MAX.into()),
        "uint64" | "uint128" | "uint" => Some((Some(0), None)),
        "int64" | "int128" | "int" => Some((None, None)),
        _ => None,
    }
}

/// Returns the value of the internal keyword that records whether an integer type enforces the range in its schema.
///
/// The value is `true` if the schema has no other bounds than its `format`, otherwise it is the `format`. Returns
/// `None` for other schemas and for a list of integers, because the author added the list.
fn mark_of_format(keywords: &Map<String, Value>) -> Option<Value> {
    let format = keywords.get("format").and_then(Value::as_str)?;
    let (least, most) = range_of(format)?;
    let is_own = |keyword: &str, bound: Option<i64>| {
        keywords.get(keyword).is_none_or(|given| bound.is_some() && given.as_i64() == bound)
    };
    let is_integer = !lists_values(keywords) && types(keywords.get("type")).any(|name| name == "integer");
    let is_whole = is_own("minimum", least) && is_own("maximum", most);
    is_integer.then(|| if is_whole { true.into() } else { format.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::properties::property;
    use serde_json::json;

    #[test]
    fn aliases_are_found_and_not_published() {
        let mut schema = json!({"properties": {
            "a": {"type": "string", "x-toolkit-aliases": ["b", "c"]},
            "x-toolkit-aliases": {"type": "integer"},
        }});
        let checked = strip_aliases(&mut schema).unwrap();
        let published =
            json!({"properties": {"a": {"type": "string"}, "x-toolkit-aliases": {"type": "integer"}}});
        assert_eq!(schema, published);
        let properties = checked["properties"].as_object().unwrap();
        for name in ["a", "b", "c"] {
            assert_eq!(property(properties, name).map(|(name, _)| name.as_str()), Some("a"));
        }
        assert_eq!(property(properties, "d"), None);
        assert_eq!(strip_aliases(&mut schema), None);
    }
}
