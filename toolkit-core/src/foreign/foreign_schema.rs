//! Checks of foreign schemas: size, depth, references and texts.

use super::{Note, SchemaLimits, ToolIssueKind, clean, hides_text, shorten, show_invisible};
use crate::schema::__private::{faults, nests_deeper};
use crate::schema::keyword::{Holds, Keyword, Role, each_subschema, subschemas};
use serde_json::{Map, Value};

/// The keywords that refer to another schema.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// The maximum length of a name or choice in a message, in characters.
const LONGEST_CHOICE: usize = 120;

/// How often faults are removed: a fault may have contained the target of a reference.
const ROUNDS: usize = 4;

/// Returns the checked parameter schema of a tool, with the root type `object`.
///
/// # Errors
/// The kind of the first fault, and its description.
pub fn checked_parameters(
    schema: Map<String, Value>,
    limits: SchemaLimits,
    notes: &mut Vec<Note>,
) -> Result<Value, Note> {
    let mut schema = checked_schema(Value::Object(schema), limits, notes)?;
    let is_object = match schema.get("type") {
        None => true,
        Some(Value::String(name)) => name == "object",
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        Some(_) => false,
    };
    if !is_object {
        let reason = "has parameters that are not an object, and was left out";
        return Err((ToolIssueKind::Schema, reason.to_owned()));
    }
    schema["type"] = "object".into();
    Ok(schema)
}

/// Returns the checked schema, without hidden characters in its texts.
///
/// The schema must be within the limits, and must not refer to another document. Names of members and
/// allowed values must have no hidden characters.
///
/// Each keyword with a value outside of JSON Schema, such as `"required": true`, is removed with a note:
/// neither providers nor checks know its meaning.
///
/// # Errors
/// The kind of the first fault, and its description.
pub fn checked_schema(mut schema: Value, limits: SchemaLimits, notes: &mut Vec<Note>) -> Result<Value, Note> {
    let size = schema.to_string().len();
    if size > limits.bytes {
        let limit = limits.bytes;
        return Err(fault(format!("has a schema of {size} bytes, more than {limit}, and was left out")));
    }
    if nests_deeper(&schema, limits.depth) {
        let limit = limits.depth;
        return Err(fault(format!("has a schema deeper than {limit} levels, and was left out")));
    }
    if let Some(reference) = remote_reference(&schema) {
        let reason = format!("refers to the document {reference:?}, which is never fetched; it was left out");
        return Err((ToolIssueKind::RemoteReference, reason));
    }
    remove_faults(&mut schema, notes)?;
    if let Some(text) = hidden_choice(&schema) {
        let shown = shorten(show_invisible(text), LONGEST_CHOICE);
        let reason = format!("has invisible characters in the name or choice `{shown}`, and was left out");
        return Err(fault(reason));
    }
    if clean_keywords(&mut schema, is_remark) {
        let message = "has invisible characters in the texts of its schema, which were removed";
        notes.push((ToolIssueKind::Description, message.to_owned()));
    }
    Ok(schema)
}

fn fault(reason: String) -> Note {
    (ToolIssueKind::Schema, reason)
}

/// Removes all keywords with faults that one walk finds.
fn remove_faults(schema: &mut Value, notes: &mut Vec<Note>) -> Result<(), Note> {
    for round in 0..=ROUNDS {
        let found = faults(schema, true);
        if found.is_empty() {
            break;
        }
        for (path, reason) in found {
            if remove_keyword(schema, &path).is_none() || round == ROUNDS {
                return Err(fault(format!("has a faulty schema, and was left out: {reason}")));
            }
            notes.push(fault(format!("has a schema with a fault at `{path}`, which was removed: {reason}")));
        }
    }
    Ok(())
}

fn remove_keyword(schema: &mut Value, path: &str) -> Option<Value> {
    let (place, keyword) = path.strip_prefix('#')?.rsplit_once('/')?;
    schema.pointer_mut(place)?.as_object_mut()?.shift_remove(keyword)
}

/// Returns a name or choice with hidden characters, which it must keep, because the owner of the schema
/// knows it with them.
fn hidden_choice(schema: &Value) -> Option<&str> {
    for (keyword, value) in schema.as_object()? {
        let found = match Keyword::find(keyword).map(|keyword| (keyword.holds, keyword.role)) {
            Some((Holds::NamedSchemas, _)) => hidden_name(value),
            Some((Holds::Values | Holds::Names | Holds::NamedNames | Holds::Any, Role::Assertion)) => {
                hidden_text(value)
            }
            None if keyword.starts_with('$') => hidden_text(value),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    subschemas(schema).find_map(|inside| hidden_choice(inside.schema))
}

fn hidden_name(schemas: &Value) -> Option<&str> {
    schemas.as_object()?.keys().map(String::as_str).find(|name| hides_text(name))
}

fn hidden_text(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) if hides_text(text) => Some(text),
        Value::Array(items) => items.iter().find_map(hidden_text),
        Value::Object(members) => {
            for (name, value) in members {
                if hides_text(name) {
                    return Some(name);
                }
                if let Some(text) = hidden_text(value) {
                    return Some(text);
                }
            }
            None
        }
        _ => None,
    }
}

/// Removes hidden characters from titles, descriptions and `enumNames`. Returns whether a text has
/// changed.
pub fn clean_texts(schema: &mut Value) -> bool {
    clean_keywords(schema, |keyword| matches!(keyword, "title" | "description" | "enumNames"))
}

/// Returns whether the value of a keyword is a remark: no name, choice or schema, but for example a
/// default.
fn is_remark(keyword: &str) -> bool {
    match Keyword::find(keyword) {
        Some(Keyword { holds, role, .. }) => holds == Holds::Text || role == Role::Annotation,
        None => !keyword.starts_with('$'),
    }
}

/// Removes hidden characters from the values of the keywords that `is_cleaned`. Returns whether the schema
/// has changed.
///
/// A pattern or the name of a keyword with hidden characters is removed as a whole.
fn clean_keywords(schema: &mut Value, is_cleaned: fn(&str) -> bool) -> bool {
    let mut has_hidden = false;
    each_subschema(schema, &mut |keywords| has_hidden |= clean_values(keywords, is_cleaned));
    has_hidden
}

fn clean_values(keywords: &mut Map<String, Value>, is_cleaned: fn(&str) -> bool) -> bool {
    let mut has_hidden = false;
    let mut removed = Vec::new();
    for (keyword, value) in keywords.iter_mut() {
        if !is_cleaned(keyword) || !hides_text(keyword) && hidden_text(value).is_none() {
            continue;
        }
        has_hidden = true;
        clean_value(value);
        if keyword == "pattern" || hides_text(keyword) {
            removed.push(keyword.clone());
        }
    }
    for keyword in removed {
        keywords.shift_remove(&keyword);
    }
    has_hidden
}

/// Removes hidden characters from the strings and names of a value of limited depth.
fn clean_value(value: &mut Value) {
    match value {
        Value::String(text) => *text = clean(text),
        Value::Array(items) => items.iter_mut().for_each(clean_value),
        Value::Object(members) => {
            for (name, mut value) in std::mem::take(members) {
                clean_value(&mut value);
                members.insert(clean(&name), value);
            }
        }
        _ => {}
    }
}

fn remote_reference(schema: &Value) -> Option<&str> {
    for keyword in REFERENCES {
        if let Some(Value::String(reference)) = schema.get(keyword)
            && !reference.starts_with('#')
        {
            return Some(reference);
        }
    }
    subschemas(schema).find_map(|inside| remote_reference(inside.schema))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const LIMITS: SchemaLimits = SchemaLimits { bytes: 400, depth: 6 };

    fn refusal(schema: Value) -> Option<Note> {
        let Value::Object(schema) = schema else { return None };
        checked_parameters(schema, LIMITS, &mut Vec::new()).err()
    }

    #[test]
    fn all_faults_are_removed_with_a_note_for_each() {
        let schema = json!({
            "properties": {"a": {"$ref": "#/patternProperties/(/items"}, "b": {"minimum": "1", "type": "text"}},
            "patternProperties": {"(": {"items": {"pattern": "["}}},
            "required": true,
        });
        let mut notes = Vec::new();
        let checked = checked_schema(schema, LIMITS, &mut notes);
        assert_eq!(checked, Ok(json!({"properties": {"a": {}, "b": {}}})));
        let places = notes.iter().filter_map(|(_, note)| note.split('`').nth(1)).collect::<Vec<_>>();
        let expected = [
            "#/properties/b/minimum",
            "#/properties/b/type",
            "#/patternProperties/(/items/pattern",
            "#/required",
            "#/patternProperties",
            "#/properties/a/$ref",
        ];
        assert_eq!(places, expected);
    }

    #[test]
    fn a_schema_whose_faults_depend_on_one_another_again_and_again_is_refused() {
        let referring = |count: usize| {
            let place = |index: usize| match index {
                0 => "#/none".to_owned(),
                _ => format!("#/properties/{}/$ref", index - 1),
            };
            let member = |index: usize| (index.to_string(), json!({"$ref": place(index)}));
            json!({"properties": (0..count).map(member).collect::<Map<_, _>>()})
        };
        assert_eq!(refusal(referring(ROUNDS)), None);
        let (_, reason) = refusal(referring(ROUNDS + 1)).expect("a fault");
        assert!(reason.contains("there is no `#/properties/3/$ref`"), "{reason}");
    }

    #[test]
    fn a_schema_within_the_limits_is_accepted() {
        for schema in [
            json!({}),
            json!({"type": ["object", "null"]}),
            json!({"$defs": {"A": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/A"}}}),
            json!({"$defs": {"A": {"$anchor": "a"}}, "properties": {"a": {"$ref": "#a"}}}),
            json!({"properties": {"parent": {"$ref": "#"}}}),
            json!({"properties": {"$ref": {"type": "string"}}, "default": {"$ref": "https://example.com"}}),
        ] {
            assert_eq!(refusal(schema.clone()), None, "{schema}");
        }
    }

    /// What becomes of a text with hidden characters in each place of a schema.
    #[test]
    fn no_text_of_a_schema_hides_characters() {
        let hidden = "a\u{200b}\u{e0041}\u{202e}";
        for removed in [
            json!({"title": hidden}),
            json!({"description": hidden}),
            json!({"$comment": hidden}),
            json!({"default": hidden}),
            json!({"default": {hidden: [hidden]}}),
            json!({"examples": [1, {"a": hidden}]}),
            json!({"example": hidden}),
            json!({"format": hidden}),
            json!({"pattern": hidden}),
            json!({"contentMediaType": hidden}),
            json!({"enum": ["a"], "enumNames": [hidden]}),
            json!({"x-note": {hidden: hidden}}),
            json!({hidden: true}),
            json!({"anyOf": [{"type": "array", "items": {"title": hidden}}]}),
        ] {
            let mut notes = Vec::new();
            let schema = json!({"type": "object", "properties": {"p": removed}});
            let checked =
                checked_schema(schema, LIMITS, &mut notes).expect("a schema without the characters");
            assert_eq!(hidden_text(&checked), None, "{checked}");
            assert_eq!(notes.len(), 1, "{removed}");
        }
        for refused in [
            json!({"properties": {hidden: {}}}),
            json!({"patternProperties": {hidden: {}}}),
            json!({"required": [hidden]}),
            json!({"dependentRequired": {"a": [hidden]}}),
            json!({"enum": ["b", hidden]}),
            json!({"enum": [{"a": hidden}]}),
            json!({"const": {hidden: 1}}),
            json!({"$defs": {hidden: {}}}),
            json!({"$anchor": hidden}),
            json!({"items": {"const": hidden}}),
        ] {
            let (kind, reason) = refusal(json!({"properties": {"p": refused}})).expect("a refusal");
            assert_eq!(kind, ToolIssueKind::Schema);
            assert!(reason.contains(r"`a\u200b\udb40\udc41\u202e`") && !hides_text(&reason), "{reason}");
        }
    }

    #[test]
    fn a_faulty_schema_is_refused_with_its_reason() {
        use ToolIssueKind::{RemoteReference, Schema};
        let deep = json!({"properties": {"a": {"items": {"items": {"items": {"items": {}}}}}}});
        for (schema, kind, part) in [
            (json!({"type": "string"}), Schema, "not an object"),
            (
                json!({"properties": {"a": {"$ref": "https://example.com/a"}}}),
                RemoteReference,
                "never fetched",
            ),
            (json!({"properties": {"a": {"$ref": "other.json#/a"}}}), RemoteReference, "other.json"),
            (json!({"allOf": [{"$dynamicRef": "file:///etc/passwd"}]}), RemoteReference, "passwd"),
            (json!({"description": "x".repeat(500)}), Schema, "bytes, more than 400"),
            (deep, Schema, "deeper than 6"),
        ] {
            let (found, reason) = refusal(schema).expect("a fault");
            assert_eq!(found, kind, "{reason}");
            assert!(reason.contains(part), "{reason}");
        }
    }
}
