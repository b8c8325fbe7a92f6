//! The faults of schemas: keywords with unusable values, and schemas too deep to process.

use crate::depth::{MAX_DEPTH, nests_deeper};
use crate::index::{AddressMap, Names, address};
use crate::keyword::{Holds, Keyword, Role, Subschema, add_held, held, subschemas};
use crate::pattern::compiles;
use crate::reference::{SchemaRef, escape, referenced, resolve, target};
use crate::types::names;
use crate::words::{shorten, value_in_words};
use serde_json::{Map, Value};

/// The position of a mistake in a schema, such as `#/properties/city/type`, and its description.
pub type Fault = (String, String);

/// Returns the first fault of a schema, which prevents complete checks.
///
/// The owner of a foreign schema checks patterns with look-around, and references by anchors.
#[must_use]
pub(crate) fn fault(schema: &Value, is_foreign: bool) -> Option<Fault> {
    faults(schema, is_foreign).into_iter().next()
}

/// Returns all faults of a schema, inner schemas first, or only that it is too deep.
#[must_use]
pub fn faults(schema: &Value, is_foreign: bool) -> Vec<Fault> {
    if let Some(message) = too_deep(schema) {
        return vec![("#".to_owned(), message)];
    }
    let mut found = Vec::new();
    let mut path = "#".to_owned();
    each(schema, &mut path, &mut |inside, path| add_faults(schema, inside, path, is_foreign, &mut found));
    found
}

fn add_faults(root: &Value, schema: &Value, path: &str, is_foreign: bool, found: &mut Vec<Fault>) {
    add_malformed(schema, path, found);
    found.extend(lost_reference(root, schema, path, is_foreign));
    if !is_foreign {
        found.extend(repeated_name(schema, path));
    }
    found.extend(wrong_pattern(schema, path, is_foreign));
}

/// Calls `visit` with each schema inside and then `schema` itself, and with their paths.
fn each(schema: &Value, path: &mut String, visit: &mut dyn FnMut(&Value, &str)) {
    for inside in subschemas(schema) {
        let here = path.len();
        extend_path(path, inside.keyword, inside.key.as_deref());
        each(inside.schema, path, visit);
        path.truncate(here);
    }
    visit(schema, path);
}

/// Extends the path of a schema to one inside it.
pub(crate) fn extend_path(path: &mut String, keyword: &str, key: Option<&str>) {
    path.extend(["/", keyword]);
    if let Some(key) = key {
        path.extend(["/", &escape(key)]);
    }
}

/// Returns whether only validators of other languages know parts of a pattern.
fn needs_validator(pattern: &str) -> bool {
    ["(?=", "(?!", "(?<", "\\p{", "\\P{", "\\u", "\\c"].iter().any(|part| pattern.contains(part))
}

fn is_constraint(keyword: Keyword, value: &Value) -> bool {
    // A Rust enum without variants has an empty list of values.
    keyword.role != Role::Annotation && !(keyword.holds == Holds::Values && value.is_array())
}

/// Adds a fault for each constraint with a value of the wrong type.
fn add_malformed(schema: &Value, path: &str, found: &mut Vec<Fault>) {
    for (name, value) in schema.as_object().into_iter().flatten() {
        if let Some(keyword) = Keyword::find(name)
            && !keyword.takes(value)
            && is_constraint(keyword, value)
            && held(name, value).is_empty()
        {
            found.push(wrong_type(format!("{path}/{name}"), keyword.holds.words(), value));
        }
    }
    if !schema.is_object() && !schema.is_boolean() {
        found.push(wrong_type(path.to_owned(), Holds::Schema.words(), schema));
    }
}

fn wrong_type(path: String, expected: &str, value: &Value) -> Fault {
    (path, format!("expected {expected}, got {}", value_in_words(&value.to_string())))
}

/// Returns a fault for a reference without a usable target.
fn lost_reference(root: &Value, schema: &Value, path: &str, is_foreign: bool) -> Option<Fault> {
    let reference = schema.get("$ref")?.as_str().unwrap_or_default();
    let is_anchor = is_foreign && reference.strip_prefix('#').is_some_and(|rest| !rest.starts_with('/'));
    if is_anchor || resolve(root, schema).is_some() {
        return None;
    }
    let message = match target(root, reference) {
        Some(_) => "more references in a row than can be followed".to_owned(),
        None if reference.starts_with('#') => format!("there is no `{}`", shorten(reference)),
        None => {
            let message = "another document, and nothing is fetched; put what is referred to into `$defs`";
            format!("`{}` is {message}", shorten(reference))
        }
    };
    Some((format!("{path}/$ref"), message))
}

/// Returns a fault for a name that `required` lists twice, of which serde fills only one field.
fn repeated_name(schema: &Value, path: &str) -> Option<Fault> {
    let mut seen = Names::default();
    let name = names(schema.get("required")).find(|name| !seen.add((*name).into()))?;
    let message = format!(
        "`{name}` names two fields of one object, of which one may be in a flattened type; rename one"
    );
    Some((format!("{path}/required"), message))
}

/// Returns a fault for a pattern that cannot be compiled.
fn wrong_pattern(schema: &Value, path: &str, is_foreign: bool) -> Option<Fault> {
    let named = schema.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
    let names = named.map(|(pattern, _)| ("patternProperties", pattern.as_str()));
    let own = schema.get("pattern").and_then(Value::as_str).map(|pattern| ("pattern", pattern));
    for (keyword, pattern) in own.into_iter().chain(names) {
        if compiles(pattern) || is_foreign && needs_validator(pattern) {
            continue;
        }
        let message = format!(
            "arguments cannot be checked against the pattern `{pattern}`; write it shorter and without look-around and \
             classes of Unicode, or turn on the feature `jsonschema`"
        );
        return Some((format!("{path}/{keyword}"), message));
    }
    None
}

/// Returns the message for a schema so deep that recursive functions could exhaust the stack.
///
/// The limit is 127 levels of JSON. References count as a level, and are followed to targets that apply to
/// the same value.
pub(crate) fn too_deep(schema: &Value) -> Option<String> {
    let place = if nests_deeper(schema, MAX_DEPTH) {
        place_of_nesting(schema)
    } else {
        let mut heights = AddressMap::default();
        if !has_long_chain(schema, schema, &mut heights) {
            return None;
        }
        place_of_chain(schema, &mut heights)
    };
    Some(format!(
        "the schema is nested too deep at `{}`; use at most {MAX_DEPTH} levels, in which each `$ref` to a schema for \
         the same value counts as one",
        shorten(&place)
    ))
}

/// Returns the outermost place of JSON that is nested too deep: a keyword, and a member or item there.
fn place_of_nesting(schema: &Value) -> String {
    let mut place = "#".to_owned();
    let mut value = schema;
    for levels in (MAX_DEPTH - 2..MAX_DEPTH).rev() {
        let next = match value {
            Value::Object(members) => members.iter().find(|(_, member)| nests_deeper(member, levels)),
            _ => None,
        };
        let Some((name, member)) = next else { break };
        place.extend(["/", &escape(name)]);
        value = member;
    }
    place
}

/// Returns the place of the first chain for the same value that is too long.
fn place_of_chain(root: &Value, heights: &mut AddressMap<usize>) -> String {
    let mut place = "#".to_owned();
    extend_to_chain(SchemaRef::new(root, root), &mut place, heights);
    place
}

/// Extends the place of a schema to the first inner one with a chain that is too long, and returns whether
/// there is one, perhaps the schema itself.
fn extend_to_chain(schema: SchemaRef<'_>, place: &mut String, heights: &mut AddressMap<usize>) -> bool {
    for inside in subschemas(schema.schema) {
        let here = place.len();
        extend_path(place, inside.keyword, inside.key.as_deref());
        if extend_to_chain(SchemaRef::new(schema.root, inside.schema), place, heights) {
            return true;
        }
        place.truncate(here);
    }
    height(schema, 0, heights) > MAX_DEPTH
}

/// Returns whether a chain that is too deep starts at `schema` or inside it.
fn has_long_chain(root: &Value, schema: &Value, heights: &mut AddressMap<usize>) -> bool {
    height(SchemaRef::new(root, schema), 0, heights) > MAX_DEPTH
        || subschemas(schema).any(|inside| has_long_chain(root, inside.schema, heights))
}

/// Returns the depth of the longest chain of schemas that applies to one value from `schema` on.
///
/// `above` is the depth before it. Beyond the limit, the chain is not followed.
fn height(SchemaRef { root, schema }: SchemaRef<'_>, above: usize, heights: &mut AddressMap<usize>) -> usize {
    if above > MAX_DEPTH {
        return MAX_DEPTH + 1;
    }
    let Value::Object(keywords) = schema else { return 0 };
    let key = address(schema);
    if let Some(known) = heights.get(key) {
        return *known;
    }
    let referenced = referenced(root, schema);
    let inside = in_place(keywords);
    if referenced.is_none() && inside.is_empty() {
        return 1;
    }
    heights.insert(key, 0);
    let mut height = 1;
    if let Some(target) = referenced {
        height = 1 + self::height(SchemaRef::new(root, target), above + 1, heights);
    }
    for Subschema { key, schema, .. } in inside {
        let levels = 1 + usize::from(key.is_some());
        height = height.max(levels + self::height(SchemaRef::new(root, schema), above + levels, heights));
    }
    heights.insert(key, height);
    height
}

/// Returns the inner schemas that apply to the same value.
fn in_place(keywords: &Map<String, Value>) -> Vec<Subschema<'_>> {
    let mut found = Vec::new();
    for (keyword, value) in keywords {
        if Keyword::find(keyword).is_some_and(|keyword| keyword.role == Role::InPlace) {
            add_held(keyword, value, &mut found);
        }
    }
    found
}

/// Returns the depth of the longest chain for one value in a schema that is not too deep.
#[cfg(feature = "jsonschema")]
pub(crate) fn longest_chain(schema: &Value) -> usize {
    let mut heights = AddressMap::default();
    let mut longest = 1;
    each(schema, &mut String::new(), &mut |inside, _| {
        longest = longest.max(height(SchemaRef::new(schema, inside), 0, &mut heights));
    });
    longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keywords_that_cannot_be_checked_are_faults() {
        for (schema, path) in [
            (json!({"minimum": "5"}), "#/minimum"),
            (json!({"items": {"multipleOf": 0}}), "#/items/multipleOf"),
            (json!({"properties": {"a/b": {"$ref": "#/$defs/Nope"}}}), "#/properties/a~1b/$ref"),
            (json!({"$ref": "https://example.com/schema"}), "#/$ref"),
            (json!({"pattern": "("}), "#/pattern"),
            (json!({"patternProperties": {"(": {}}}), "#/patternProperties"),
            (json!({"pattern": "^(a{0,1000}){0,10}b$"}), "#/pattern"),
            (json!({"required": "a"}), "#/required"),
            (json!({"items": {"required": ["a", "b", "a"]}}), "#/items/required"),
            (json!({"type": "text"}), "#/type"),
            (json!({"additionalProperties": 1}), "#/additionalProperties"),
            (json!({"format": 1}), "#/format"),
        ] {
            assert_eq!(fault(&schema, false).map(|(path, _)| path).as_deref(), Some(path), "{schema}");
        }
        for schema in [
            json!({"enum": []}),
            json!({"examples": "x", "title": 1}),
            json!({"default": {"minimum": "5"}, "const": {"$ref": "#/no"}}),
            json!({"$ref": "#/$defs/A", "$defs": {"A": {"items": {"$ref": "#"}}}}),
            json!({"properties": {"$ref": {"type": "string"}}}),
            json!(true),
        ] {
            assert_eq!(fault(&schema, false), None, "{schema}");
        }
    }

    /// Returns a schema with `inner`, which is moved, as the value of a keyword.
    fn nested(keyword: &str, inner: Value) -> Value {
        let held = match Keyword::find(keyword).map(|keyword| keyword.holds) {
            Some(Holds::Schemas) => Value::Array(vec![inner]),
            Some(Holds::NamedSchemas) => Value::Object([("a".to_owned(), inner)].into_iter().collect()),
            _ => inner,
        };
        Value::Object([(keyword.to_owned(), held)].into_iter().collect())
    }

    #[test]
    fn chains_for_one_value_are_limited_and_recursion_is_not() {
        let is_too_deep = |schema: &Value| too_deep(schema).is_some();
        let nested = |count| (0..count).fold(json!({}), |inner, _| nested("allOf", inner));
        assert!(!is_too_deep(&nested(63)) && is_too_deep(&nested(64)) && is_too_deep(&nested(2000)));
        // Each link has a schema, a list, and a reference.
        let chained = |count: usize| {
            let link = |index: usize| json!({"anyOf": [{"$ref": format!("#/$defs/{}", index + 1)}]});
            let defs = (0..count).map(|index| (index.to_string(), link(index)));
            json!({"$ref": "#/$defs/0", "$defs": defs.collect::<Map<_, _>>()})
        };
        assert!(!is_too_deep(&chained(41)) && is_too_deep(&chained(43)) && is_too_deep(&chained(3000)));
        assert!(!is_too_deep(&json!({"anyOf": [{"$ref": "#"}, {"items": {"$ref": "#"}}]})));
        let wide = |count| json!({"anyOf": vec![json!({"properties": {"a": {"items": {}}}}); count]});
        assert!(!is_too_deep(&wide(1000)));
    }
}
