//! The defaults in schemas: each must be a valid argument.

use crate::check::{Checks, Origin};
use crate::coerce::coerced;
use crate::fault::Fault;
use crate::json::Json;
use crate::keywords::Keywords;
use crate::marks::{Notes, mark_faulty};
use serde_json::{Map, Value};

/// The reason for refusing a default of `null`, which serde writes for such numbers.
const NOT_A_NUMBER: &str = "it is `null` in JSON, which the type does not accept; NaN and infinity cannot be \
    published, and the schema of an `Option` is `#[schemars(with = \"Option<…>\")]`";

/// Sets a default, if there is one; a message in `Err` makes the schema faulty.
pub fn set_default(keywords: &mut Map<String, Value>, default: Result<Option<Value>, String>) {
    match default {
        Ok(Some(default)) => keywords.set("default", default),
        Ok(None) => {}
        Err(reason) => mark_faulty(keywords, reason),
    }
}

/// Removes a default of `null` that the schema refuses. For a number, it makes the schema faulty. For other
/// types, it is `None` of an `Option` and the same as no default.
pub fn check_null_default(keywords: &mut Map<String, Value>) {
    if keywords.get("default") == Some(&Value::Null) {
        let schema = Value::Object(keywords.clone());
        if !Checks::foreign(&schema).violations_in_text(&schema, "null").is_empty() {
            let is_number = matches!(schema["type"].as_str(), Some("number" | "integer"));
            keywords.shift_remove("default");
            set_default(keywords, if is_number { Err(NOT_A_NUMBER.to_owned()) } else { Ok(None) });
        }
    }
}

/// Returns the first of the defaults at `places` that is no valid argument.
///
/// Also removes `null` members in defaults, if their schema refuses `null` and they may be left out.
pub(crate) fn check_defaults(root: &mut Value, notes: &Notes, places: &[String]) -> Option<Fault> {
    let mut plain = Vec::new();
    let mut found = None;
    {
        let checks = Checks { origin: Origin::RustType, placed: notes.place(root), ..Checks::foreign(root) };
        for place in places {
            let Some(schema) = root.pointer(place) else { continue };
            let Some(default) = schema.get("default") else { continue };
            let text = default.to_string();
            let violations = checks.violations_in_text(schema, &text);
            let reasons = violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
            if !violations.is_empty() && found.is_none() {
                found = Some((
                    format!("#{place}/default"),
                    format!("the default is no valid argument: {reasons}"),
                ));
            }
            if text.contains("null")
                && let Ok(value) = Json::parse(&text)
                && let Some(coerced) = coerced(&checks, schema, &value)
            {
                plain.push((format!("{place}/default"), coerced));
            }
        }
    }
    for (place, default) in plain {
        if let (Some(published), Ok(default)) = (root.pointer_mut(&place), default.parse::<Value>()) {
            *published = default;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marks::take_notes;
    use serde_json::json;

    fn fault_of(mut schema: Value) -> Option<Fault> {
        taken(&mut schema)
    }

    fn taken(schema: &mut Value) -> Option<Fault> {
        let found = take_notes(schema);
        found.fault.or_else(|| check_defaults(schema, &found.notes, &found.defaults))
    }

    #[test]
    fn a_default_must_fit_the_schema_that_it_is_in() {
        for schema in [
            json!({"type": "integer", "maximum": 3, "default": 3}),
            json!({"properties": {"a": {"enum": ["x", "y"], "default": "y"}}}),
            json!({"type": "array", "items": {"$ref": "#/$defs/A"}, "default": [1], "$defs": {"A": {"type": "integer"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "default": {"a": null}}),
            json!({"properties": {"a": {"$ref": "#"}}, "default": {"a": null}}),
            json!({"type": "string", "default": null}),
            // Names of properties are no keywords.
            json!({"properties": {"default": {"type": "string"}}}),
        ] {
            assert_eq!(fault_of(schema.clone()), None, "{schema}");
        }
        for (schema, path, word) in [
            (json!({"type": "integer", "default": {"secs": 0}}), "#/default", "expected integer"),
            (json!({"type": "integer", "maximum": 3, "default": 4}), "#/default", "3"),
            (
                json!({"properties": {"a/b": {"enum": ["x"], "default": "X"}}}),
                "#/properties/a~1b/default",
                "x",
            ),
            (json!({"items": {"type": "number", "default": "1"}}), "#/items/default", "number"),
            (json!({"$defs": {"A": {"type": "number", "default": "1"}}}), "#/$defs/A/default", "number"),
            (json!({"additionalProperties": {"type": "number"}, "default": {"a": null}}), "#/default", "`a`"),
            (
                json!({"properties": {"a": {"type": "number"}}, "required": ["a"], "default": {"a": null}}),
                "#/default",
                "`a`",
            ),
        ] {
            let (found, message) = fault_of(schema.clone()).unwrap();
            assert_eq!(found, path, "{schema}");
            assert!(message.contains(word), "{message}");
        }
    }

    #[test]
    fn a_default_loses_members_that_are_null_if_the_schema_refuses_null() {
        let inner = json!({"type": "object", "properties": {
            "text": {"type": "string"}, "any": {}, "in": {"$ref": "#/$defs/A"}, "must": {"type": ["integer", "null"]},
        }, "required": ["must"]});
        let given = json!({"text": null, "any": null, "must": null, "in": {"text": null, "must": 1}});
        let plain = json!({"any": null, "must": null, "in": {"must": 1}});
        let with = |default: &Value| {
            let in_list = json!({"type": "array", "items": {"$ref": "#/$defs/A"}, "default": [default]});
            let of_type = json!({"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}], "default": default});
            json!({"properties": {"a/b": of_type, "list": in_list}, "$defs": {"A": inner}})
        };
        let mut schema = with(&given);
        assert_eq!(taken(&mut schema), None);
        assert_eq!(schema, with(&plain));
    }

    #[test]
    fn a_reason_in_place_of_a_default_is_a_fault_and_is_never_published() {
        let mut schema = json!({"type": "integer", "default": 1});
        set_default(schema.as_object_mut().unwrap(), Err("too odd".to_owned()));
        let fault = taken(&mut schema);
        assert_eq!(fault, Some(("#/default".into(), "the default is no valid argument: too odd".into())));
        assert_eq!(schema, json!({"type": "integer"}));
    }

    #[test]
    fn null_is_a_default_of_schemas_that_accept_null_only() {
        for (schema, is_valid) in [
            (json!({"type": "number", "default": null}), false),
            (json!({"type": ["number", "null"], "default": null}), true),
            (json!({"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}], "default": null}), true),
            (json!({"default": null}), true),
            (json!({"type": "string", "default": null}), true),
        ] {
            let mut checked = schema.clone();
            check_null_default(checked.as_object_mut().unwrap());
            let is_published = checked.get("default").is_some();
            assert_eq!(is_published, is_valid && schema["type"] != "string", "{schema}");
            assert_eq!(taken(&mut checked).is_none(), is_valid, "{schema}");
        }
    }
}
