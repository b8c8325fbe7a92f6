//! The difference of two schemas, compared with a validator.

use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolkit_ai::schema::{Compatibility, SchemaChange, SchemaChangeKind, SchemaDiff};

/// A random schema of limited depth, with references to `T` and `U`.
fn schema(depth: u32) -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!(true)),
        Just(json!(false)),
        prop::sample::select(vec!["string", "integer", "number", "null", "boolean"])
            .prop_map(|kind| json!({"type": kind})),
        Just(json!({"type": ["integer", "null"]})),
        prop::sample::subsequence(vec![json!(1), json!(2), json!("a"), json!(null), json!(1.5)], 0..4)
            .prop_map(|values| json!({"enum": values})),
        prop::sample::select(vec![json!(1), json!("a"), json!(2.0)])
            .prop_map(|value| json!({"const": value})),
        (0..3_i64, 0..3_i64)
            .prop_map(|(least, most)| json!({"type": "integer", "minimum": least, "maximum": most})),
        (0..3_i64).prop_map(|least| json!({"exclusiveMinimum": least})),
        (1..4_i64).prop_map(|step| json!({"type": "integer", "multipleOf": step})),
        (0..3_u8, 0..3_u8).prop_map(|(least, most)| json!({"minLength": least, "maxLength": most})),
        Just(json!({"type": "string", "pattern": "^a"})),
        prop::sample::select(vec!["T", "U"]).prop_map(|name| json!({"$ref": format!("#/$defs/{name}")})),
        (0..3_i64).prop_map(|least| json!({"$ref": "#/$defs/T", "minimum": least})),
        Just(json!({"const": 1, "enum": [1, 2]})),
        Just(json!({"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]})),
        Just(json!({"type": "object", "properties": {"a": {"const": 2}, "b": {}}, "required": ["a"]})),
    ];
    leaf.prop_recursive(depth, 12, 3, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..3);
        prop_oneof![
            object(inner.clone().boxed()),
            (inner.clone(), 0..3_u8)
                .prop_map(|(items, least)| json!({"type": "array", "items": items, "minItems": least})),
            (inner.clone(), prop::bool::ANY)
                .prop_map(|(items, unique)| json!({"items": items, "uniqueItems": unique})),
            list.clone().prop_map(|items| json!({"prefixItems": items, "items": false})),
            (list.clone(), prop::sample::select(vec!["anyOf", "oneOf", "allOf"])).prop_map(
                |(branches, keyword)| {
                    if branches.is_empty() { json!({}) } else { Value::from_iter([(keyword, branches)]) }
                }
            ),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| json!({"anyOf": [one], "oneOf": [other]})),
            inner.clone().prop_map(|inner| json!({"not": inner})),
            inner.clone().prop_map(|inner| json!({"$ref": "#/$defs/T", "properties": {"a": inner}, "unevaluatedProperties": false})),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| json!({"properties": {"a": one}, "additionalProperties": other})),
            (inner.clone(), inner.clone()).prop_map(|(if_, then)| json!({"if": if_, "then": then})),
            inner.clone().prop_map(|inner| json!({"additionalProperties": inner})),
            inner.clone().prop_map(|inner| json!({"patternProperties": {"^[ab]": inner}})),
            inner.clone().prop_map(|inner| json!({"propertyNames": inner})),
            inner.clone().prop_map(|inner| json!({"contains": inner})),
            (inner.clone(), inner).prop_map(
                |(one, other)| json!({"type": "string", "enum": ["a", "b"], "allOf": [one, other]})
            ),
        ]
    })
    .boxed()
}

fn object(property: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let names = || vec!["a", "b", "c"];
    let properties = prop::collection::btree_map(prop::sample::select(names()), property, 0..3);
    let required = prop::sample::subsequence(names(), 0..3);
    let whole = (
        properties,
        required,
        prop::bool::weighted(0.6),
        prop::option::weighted(0.2, 0..3_u8),
        prop::option::weighted(0.2, prop::sample::select(names())),
    );
    whole
        .prop_map(|(properties, required, closed, most, dependent)| {
            let mut schema = json!({"type": "object", "properties": properties, "required": required});
            if closed {
                schema["additionalProperties"] = false.into();
            }
            if let Some(most) = most {
                schema["maxProperties"] = most.into();
            }
            if let Some(name) = dependent {
                schema["dependentRequired"] = json!({name: ["a"]});
            }
            schema
        })
        .boxed()
}

fn two_versions() -> impl Strategy<Value = (Value, Value)> {
    let whole = || {
        (object(schema(2)), schema(1), schema(1)).prop_map(|(mut schema, one, other)| {
            schema["$defs"] = json!({"T": one, "U": other});
            schema
        })
    };
    let other = (schema(2), 0..40_usize, prop::bool::weighted(0.1));
    (whole(), whole(), other).prop_map(|(old, unlike, (part, at, all_new))| {
        if all_new {
            return (old, unlike);
        }
        let mut new = old.clone();
        let mut left = at;
        replace(&mut new, &part, &mut left);
        (old, new)
    })
}

/// Replaces the schema, keyword or entry with this number.
fn replace(value: &mut Value, part: &Value, left: &mut usize) {
    let inner: Vec<&mut Value> = match value {
        Value::Object(members) => members.values_mut().collect(),
        Value::Array(items) => items.iter_mut().collect(),
        _ => return,
    };
    for inner in inner {
        match *left {
            0 if inner.is_object() => {
                *inner = part.clone();
                *left = usize::MAX;
            }
            0 if inner.is_number() => {
                *inner = 1.into();
                *left = usize::MAX;
            }
            0 => {
                match inner {
                    Value::Array(items) if part.is_object() && items.iter().all(Value::is_object) => {
                        items.push(part.clone());
                    }
                    Value::Array(items) => drop(items.pop()),
                    _ => {}
                }
                *left = usize::MAX;
            }
            usize::MAX => {}
            _ => {
                *left -= 1;
                replace(inner, part, left);
            }
        }
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop::sample::select(vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(2),
        json!(3),
        json!(1.5),
        json!("a"),
        json!("b"),
        json!("abc"),
        json!(""),
    ]);
    let inner = leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from), members(inner.boxed())]
    });
    members(inner.boxed())
}

fn members(inner: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let names = prop::sample::select(vec!["a", "b", "c"]);
    prop::collection::btree_map(names, inner, 0..4).prop_map(|members| json!(members)).boxed()
}

fn validator(schema: &Value) -> Option<Validator> {
    jsonschema::draft202012::new(schema).ok()
}

/// Closes objects with properties, because calls with undescribed members were invalid.
fn closed(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let mut closed: Map<String, Value> =
                members.iter().map(|(name, value)| (name.clone(), closed_at(name, value))).collect();
            if closed.get("properties").is_some_and(Value::is_object)
                && !closed.contains_key("additionalProperties")
            {
                closed.insert("additionalProperties".to_owned(), false.into());
            }
            Value::Object(closed)
        }
        other => other.clone(),
    }
}

fn closed_at(keyword: &str, value: &Value) -> Value {
    match (keyword, value) {
        ("properties" | "$defs", Value::Object(named)) => {
            named.iter().map(|(name, schema)| (name.clone(), closed(schema))).collect()
        }
        ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(list)) => {
            list.iter().map(closed).collect()
        }
        ("items", schema) => closed(schema),
        (_, value) => value.clone(),
    }
}

/// Returns whether an optional property was added, whose values were undescribed.
fn adds_property(diff: &SchemaDiff) -> bool {
    diff.changes().iter().any(|change| change.kind == SchemaChangeKind::AddedOptional)
}

/// Returns whether a closed form may accept more than the schema.
fn is_turned_round(schema: &Value) -> bool {
    let text = schema.to_string();
    ["\"not\"", "\"oneOf\"", "\"if\"", "\"contains\""].iter().any(|keyword| text.contains(keyword))
}

proptest! {
    #[test]
    fn a_valid_call_stays_valid_after_a_compatible_change(
        (old, new) in two_versions(),
        values in prop::collection::vec(value(), 12),
    ) {
        let (Some(before), Some(after)) = (validator(&old), validator(&new)) else { return Ok(()) };
        let Some(described) = validator(&closed(&old)) else { return Ok(()) };
        let diff = SchemaDiff::of_arguments(&old, &new);
        prop_assert!(SchemaDiff::of_arguments(&old, &old).is_empty(), "{}", old);
        if diff.compatibility() == Compatibility::Breaking || (adds_property(&diff) && is_turned_round(&old)) {
            return Ok(());
        }
        for value in values {
            let was_right = before.is_valid(&value) && (!adds_property(&diff) || described.is_valid(&value));
            prop_assert!(!was_right || after.is_valid(&value), "{diff}\n{old}\n{new}\nrefuses {value} now");
            if diff.compatibility() == Compatibility::Unchanged {
                prop_assert_eq!(before.is_valid(&value), after.is_valid(&value), "{}\n{}: {}", old, new, value);
            }
        }
    }

    #[test]
    fn a_result_stays_valid_for_the_old_schema_after_a_compatible_change(
        (old, new) in two_versions(),
        values in prop::collection::vec(value(), 12),
    ) {
        let (Some(before), Some(after)) = (validator(&old), validator(&new)) else { return Ok(()) };
        let diff = SchemaDiff::of_results(&old, &new);
        let adds_member = |change: &SchemaChange| {
            matches!(change.kind, SchemaChangeKind::AddedOptional | SchemaChangeKind::AddedRequired)
        };
        // Readers of a result ignore new members.
        if diff.compatibility() == Compatibility::Breaking || diff.changes().iter().any(adds_member) {
            return Ok(());
        }
        for value in values {
            prop_assert!(!after.is_valid(&value) || before.is_valid(&value), "{diff}\n{old}\n{new}\ngives {value} now");
        }
    }
}
