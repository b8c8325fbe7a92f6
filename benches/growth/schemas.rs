//! Schemas are compared, converted and checked, and check values.

use crate::{Case, case};
use std::hint::black_box;
use toolkit_ai::schema::{self, SchemaDialect, SchemaDiff};
use toolkit_ai::serde_json::{Map, Value, json};
use toolkit_core::foreign::{SchemaLimits, checked_parameters};

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (kind, schema) in schemas() {
        cases.push(compared(kind, schema));
        cases.push(case(format!("schema_converted/{kind}"), 125, move |size| {
            let schema = schema(0, size);
            move || {
                let dialects = [SchemaDialect::OpenAiStrict, SchemaDialect::Gemini];
                drop(black_box((dialects.map(|it| it.convert(&schema)), schema::describe(&schema))));
            }
        }));
        cases.push(case(format!("value_checked/{kind}"), 125, move |size| {
            let schema = schema(0, size);
            move || {
                for mut value in [json!({"a": "N 5"}), json!({"a": {"kind": "n", "N1": 1}})] {
                    black_box(schema::violations(&schema, &value));
                    schema::coerce(&schema, &mut value);
                    black_box(value);
                }
            }
        }));
    }
    cases.extend(references().into_iter().map(|(kind, schema)| compared(kind, schema)));
    cases.extend(foreign().into_iter().map(|(kind, schema)| {
        case(format!("schema_foreign/{kind}"), 100, move |size| {
            let Value::Object(schema) = schema(0, size) else { panic!("no object") };
            let limits = SchemaLimits { bytes: 1 << 20, depth: 100 };
            move || {
                let mut notes = Vec::new();
                black_box(checked_parameters(schema, limits, &mut notes).unwrap());
                assert!(notes.len() >= size, "{notes:?}");
            }
        })
    }));
    cases
}

fn compared(kind: &str, schema: fn(usize, usize) -> Value) -> Case {
    case(format!("schema_compared/{kind}"), 125, move |size| {
        let [old, new] = [schema(0, size), schema(1, size)];
        move || {
            drop(black_box((SchemaDiff::of_arguments(&old, &new), SchemaDiff::of_results(&new, &old))));
        }
    })
}

/// Returns a list, half of whose items differ by `start`.
fn list(start: usize, size: usize, item: impl Fn(usize) -> Value) -> Vec<Value> {
    (0..size).map(|index| item(start * size / 2 + index)).collect()
}

fn named(start: usize, size: usize, item: impl Fn(usize) -> Value) -> Value {
    (0..size)
        .map(|index| (format!("n{}", start * size / 2 + index), item(index)))
        .collect::<Map<_, _>>()
        .into()
}

fn name(index: usize) -> Value {
    format!("n{index}").into()
}

/// A name, and a schema by start and size.
type Kind = (&'static str, fn(usize, usize) -> Value);

/// Schemas with `size` of something.
fn schemas() -> Vec<Kind> {
    fn tagged(index: usize) -> Value {
        json!({"type": "object", "properties": {"kind": {"const": name(index)}}, "required": ["kind"]})
    }
    fn only(index: usize) -> Value {
        let member = named(2 * index, 1, |_| json!({}));
        let required = [name(index)];
        json!({"type": "object", "properties": member, "required": required, "additionalProperties": false})
    }
    vec![
        ("enum", |start, size| json!({"properties": {"a": {"enum": list(start, size, name)}}})),
        (
            "enum of numbers",
            |start, size| json!({"properties": {"a": {"enum": list(start, size, Value::from)}}}),
        ),
        (
            "enum of lists",
            |start, size| json!({"properties": {"a": {"enum": list(start, size, |it| json!([it]))}}}),
        ),
        ("two enums", |start, size| {
            let lists = [list(start, size, name), list(start + 1, size, name)];
            json!({"properties": {"a": {"allOf": lists.map(|list| json!({"enum": list}))}}})
        }),
        (
            "anyOf",
            |start, size| json!({"properties": {"a": {"anyOf": list(start, size, |it| json!({"const": it}))}}}),
        ),
        (
            "oneOf with a tag",
            |start, size| json!({"properties": {"a": {"oneOf": list(start, size, tagged)}}}),
        ),
        ("oneOf by member", |start, size| json!({"properties": {"a": {"oneOf": list(start, size, only)}}})),
        (
            "allOf",
            |start, size| json!({"allOf": list(start, size, |it| json!({"properties": {"a": {"minimum": it}}}))}),
        ),
        ("required", |start, size| {
            let properties = named(start, size, |_| json!({"type": "integer"}));
            json!({"properties": properties, "required": list(start, size, name), "additionalProperties": false})
        }),
    ]
}

/// Schemas with `size` references, to one schema and to each other.
fn references() -> Vec<Kind> {
    vec![
        ("references", |start, size| {
            let properties = named(start, size, |it| json!({"$ref": "#/$defs/A", "title": it.to_string()}));
            let many = named(start, size, |_| json!({"type": "integer"}));
            json!({"properties": properties, "$defs": {"A": {"not": {"properties": many}}}})
        }),
        ("definitions", |start, size| {
            let next = |it| json!({"properties": {"a": {"$ref": format!("#/$defs/n{}", start * size / 2 + it + 1)}}});
            json!({"properties": {"a": {"$ref": format!("#/$defs/n{}", start * size / 2)}},
                "$defs": named(start, size, next)})
        }),
    ]
}

fn foreign() -> Vec<Kind> {
    vec![
        (
            "values of keywords",
            |start, size| json!({"properties": named(start, size, |_| json!({"minimum": "1"}))}),
        ),
        (
            "references",
            |start, size| json!({"properties": named(start, size, |_| json!({"$ref": "#/$defs/None"}))}),
        ),
        ("patterns", |start, size| json!({"properties": named(start, size, |_| json!({"pattern": "("}))})),
    ]
}
