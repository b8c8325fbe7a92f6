//! The defaults in generated schemas: each must be a valid argument.

use crate::check::{Scope, check_text};
use crate::coerce::coerce;
use crate::fault::Fault;
use crate::keyword::{each_subschema, subschemas};
use crate::properties::mark_exact;
use crate::reference::{SchemaRef, escape};
use serde_json::{Map, Value};

/// The internal keyword for a default that cannot be published. The value of the keyword is the reason.
const FAULTY: &str = "x-toolkit-default";

/// The reason for a default of `null` that a number refuses. Serde writes `null` for such numbers.
const NOT_A_NUMBER: &str = "it is `null` in JSON, which the type does not accept; NaN and infinity cannot be \
    published, and the schema of an `Option` is `#[schemars(with = \"Option<…>\")]`";

/// Sets the default in a schema. Without a default in `Ok`, nothing is published; the message in `Err` makes
/// the schema [faulty](strip_faulty_default).
pub fn set_default(keywords: &mut Map<String, Value>, default: Result<Option<Value>, String>) {
    match default {
        Ok(Some(default)) => drop(keywords.insert("default".to_owned(), default)),
        Ok(None) => {}
        Err(reason) => {
            keywords.shift_remove("default");
            keywords.insert(FAULTY.to_owned(), reason.into());
        }
    }
}

/// Removes a default of `null` that the schema does not accept. A number then makes the schema
/// [faulty](strip_faulty_default). For other types, the default is `None` of an `Option` with the schema of another
/// type, and means the same as no default.
pub fn check_null_default(keywords: &mut Map<String, Value>) {
    if keywords.get("default") == Some(&Value::Null) {
        let schema = Value::Object(keywords.clone());
        if !check_text(SchemaRef::from(&schema), "null", Scope::Validator).is_empty() {
            let is_number = matches!(schema["type"].as_str(), Some("number" | "integer"));
            keywords.shift_remove("default");
            set_default(keywords, if is_number { Err(NOT_A_NUMBER.to_owned()) } else { Ok(None) });
        }
    }
}

/// Returns the first default in a generated schema that is no valid argument, and removes all marks of such
/// defaults. If there is none, also removes members inside of the defaults that are `null`, if their schema refuses
/// `null` and they may be left out.
///
/// A default of `null` is valid here: [`check_null_default`] is called before optional properties lose their
/// `null`.
pub fn strip_faulty_default(root: &mut Value) -> Option<Fault> {
    let mut plain = Vec::new();
    let found = faulty(root, root, "#", &mut plain);
    each_subschema(root, &mut |keywords| drop(keywords.shift_remove(FAULTY)));
    for (path, default) in plain {
        if let Some(published) = root.pointer_mut(path.trim_start_matches('#')) {
            *published = default;
        }
    }
    found
}

/// Returns the first faulty default. Adds each default that must lose members to `plain`, with its path.
fn faulty(root: &Value, schema: &Value, path: &str, plain: &mut Vec<(String, Value)>) -> Option<Fault> {
    let marked = schema.get(FAULTY).and_then(Value::as_str).map(str::to_owned);
    let reason = marked.or_else(|| {
        let default = schema.get("default").filter(|default| !default.is_null())?;
        let text = default.to_string();
        let mut schema = schema.clone();
        mark_exact(&mut schema);
        // In this scope, `null` for an optional member means the same as leaving it out.
        let found = check_text(SchemaRef::new(root, &schema), &text, Scope::Constraints);
        let mut default = default.clone();
        if text.contains("null") && coerce(SchemaRef::new(root, &schema), &mut default) {
            plain.push((format!("{path}/default"), default));
        }
        (!found.is_empty()).then(|| found.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
    });
    let fault = |reason| (format!("{path}/default"), format!("the default is no valid argument: {reason}"));
    reason.map(fault).or_else(|| {
        subschemas(schema).find_map(|inside| {
            let key = inside.key.map_or_else(String::new, |key| format!("/{}", escape(&key)));
            faulty(root, inside.schema, &format!("{path}/{}{key}", inside.keyword), plain)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns the path and the message of the first faulty default.
    fn fault_of(mut schema: Value) -> Option<Fault> {
        strip_faulty_default(&mut schema)
    }

    #[test]
    fn a_default_must_fit_the_schema_that_it_is_in() {
        for schema in [
            json!({"type": "integer", "maximum": 3, "default": 3}),
            json!({"properties": {"a": {"enum": ["x", "y"], "default": "y"}}}),
            json!({"type": "array", "items": {"$ref": "#/$defs/A"}, "default": [1], "$defs": {"A": {"type": "integer"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "default": {"a": null}}),
            json!({"properties": {"a": {"$ref": "#"}}, "default": {"a": null}}),
            // Optional properties have lost their `null`.
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
        assert_eq!(strip_faulty_default(&mut schema), None);
        assert_eq!(schema, with(&plain));
    }

    #[test]
    fn a_reason_in_place_of_a_default_is_a_fault_and_is_never_published() {
        let mut schema = json!({"type": "integer", "default": 1});
        set_default(schema.as_object_mut().unwrap(), Err("too odd".to_owned()));
        let fault = strip_faulty_default(&mut schema);
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
            assert_eq!(strip_faulty_default(&mut checked).is_none(), is_valid, "{schema}");
        }
    }
}
