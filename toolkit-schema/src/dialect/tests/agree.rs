//! Compares converted schemas with the originals by a validator.

use super::{ALL, provider};
use crate::SchemaDialect;
use crate::keyword::each_subschema;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn leaf() -> impl Strategy<Value = Value> {
    let literal = prop_oneof![
        Just(json!("a")),
        Just(json!("")),
        Just(json!(1)),
        Just(json!(null)),
        Just(json!(2.5)),
        Just(json!(true)),
        Just(json!(["a"])),
    ];
    let bounds =
        prop_oneof![Just(json!({})), Just(json!({"minimum": 2, "minLength": 1, "description": "D."}))];
    let values = prop::collection::vec(literal.clone(), 1..4);
    prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"type": "string", "minLength": 2})),
        Just(json!({"type": "integer", "minimum": 0, "exclusiveMaximum": 3})),
        Just(json!({"type": "number"})),
        Just(json!({"type": ["integer", "null"]})),
        Just(json!({"type": "boolean", "default": {"$ref": "#"}})),
        Just(json!({"minItems": 1})),
        Just(json!({"minLength": 2})),
        Just(json!({"type": "array"})),
        Just(json!({"type": ["object", "null"]})),
        Just(json!({"type": "null", "description": "None."})),
        Just(json!({"$ref": "#/$defs/A"})),
        Just(json!({"$ref": "#/$defs/Tree"})),
        Just(json!({"$ref": "#/$defs/None"})),
        Just(json!(true)),
        Just(json!({})),
        Just(json!(false)),
        literal.clone().prop_map(|value| json!({"const": value})),
        (values, bounds).prop_map(|(values, mut schema)| {
            schema["enum"] = values.into();
            schema
        }),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 24, 3, |inner| {
        let list = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            object(inner.clone()),
            inner.clone().prop_map(|items| json!({"type": "array", "items": items, "maxItems": 2})),
            list.clone().prop_map(|list| json!({"anyOf": list})),
            list.clone().prop_map(|list| json!({"oneOf": list})),
            list.clone().prop_map(|list| json!({"allOf": list})),
            list.clone().prop_map(|list| json!({"type": "array", "prefixItems": list, "items": false})),
            list.prop_map(|list| json!({"type": "array", "prefixItems": list})),
            (inner.clone(), inner.clone())
                .prop_map(|(one, two)| json!({"type": "array", "items": [one, two]})),
            inner.clone().prop_map(|schema| json!({"not": schema})),
            (inner.clone(), inner)
                .prop_map(|(one, other)| json!({"if": one, "then": other, "type": "object"})),
        ]
    })
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let names = prop::sample::select(vec!["a", "b", "const", "$ref", "type"]);
    (prop::collection::btree_map(names, (inner, any::<bool>()), 0..4), any::<bool>()).prop_map(
        |(fields, closed)| {
            let required: Vec<&str> =
                fields.iter().filter(|(_, (_, required))| *required).map(|(name, _)| *name).collect();
            let properties: Map<String, Value> =
                fields.iter().map(|(name, (schema, _))| ((*name).to_owned(), schema.clone())).collect();
            let mut schema = json!({"type": "object", "properties": properties, "required": required});
            if closed {
                schema["additionalProperties"] = json!(false);
            }
            schema
        },
    )
}

fn document() -> impl Strategy<Value = Value> {
    (object(schema()), schema()).prop_map(|(mut root, definition)| {
        let tree = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/Tree"}}, "additionalProperties": false});
        root["$defs"] = json!({"A": definition, "Tree": tree});
        root
    })
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        prop::sample::select(vec!["", "a", "ab"]).prop_map(Value::from),
        (-1..4_i64).prop_map(Value::from),
        Just(json!(2.5)),
        any::<bool>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let names = prop::sample::select(vec!["a", "b", "const", "$ref", "type"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(names, inner, 0..4).prop_map(|fields| json!(fields)),
        ]
    })
}

fn is_valid(schema: &Value, value: &Value) -> Option<bool> {
    // The validator refuses endless recursion and references without a target.
    jsonschema::draft202012::new(schema).ok().map(|validator| validator.is_valid(value))
}

fn settle(keywords: &mut Map<String, Value>) {
    let Some(properties) = keywords.get("properties").and_then(Value::as_object) else { return };
    let names: Vec<&String> = properties.keys().collect();
    let required = json!(names);
    if names.is_empty() {
        keywords.remove("additionalProperties");
        return;
    }
    keywords.insert("required".to_owned(), required);
    keywords.insert("additionalProperties".to_owned(), json!(false));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn conversion_is_deterministic_and_every_loss_has_a_place(schema in document()) {
        for dialect in ALL {
            let converted = dialect.convert(&schema);
            prop_assert_eq!(&converted, &dialect.convert(&schema));
            for loss in &converted.losses {
                prop_assert!(schema.pointer(&loss.path).is_some(), "{:?}: {}", dialect, loss);
            }
            if dialect != SchemaDialect::JsonSchema {
                prop_assert_eq!(&converted.schema["type"], &json!("object"));
            }
            // Merging may prove that a definition does not recur, so that a second conversion follows and
            // merges its references.
            let is_plain =
                matches!(dialect, SchemaDialect::Inlined | SchemaDialect::OpenAi | SchemaDialect::Anthropic);
            let is_followed = converted.losses.iter().all(|loss| loss.keyword != "$ref");
            if is_plain && is_followed && converted.schema.get("$defs").is_none() {
                prop_assert_eq!(dialect.convert(&converted.schema).schema, converted.schema);
            }
        }
    }

    #[test]
    fn without_losses_plain_dialects_allow_the_same_values(
        schema in document(),
        values in prop::collection::vec(prop::collection::btree_map("[ab]", value(), 0..3), 8),
    ) {
        for dialect in [SchemaDialect::Inlined, SchemaDialect::OpenAi, SchemaDialect::Anthropic] {
            let converted = dialect.convert(&schema);
            for value in values.iter().map(|fields| json!(fields)) {
                if converted.losses.is_empty() && let Some(valid) = is_valid(&schema, &value) {
                    prop_assert_eq!(is_valid(&converted.schema, &value), Some(valid), "{} {}", value, converted.schema);
                }
            }
        }
    }

    #[test]
    fn every_dialect_keeps_the_rules_of_its_provider(schema in document()) {
        for dialect in ALL {
            let written = dialect.convert(&schema).schema;
            let broken = provider::refusal(dialect, &written);
            prop_assert_eq!(broken, None, "{:?}: {}", dialect, written);
        }
    }

    /// Tests that the report of losses is complete: a value that only one schema allows has a loss.
    ///
    /// Objects are closed and all their properties required, as in strict dialects.
    #[test]
    fn subsets_allow_the_same_values_unless_they_report_it(
        property in schema(),
        definition in schema(),
        values in prop::collection::vec(value(), 16),
    ) {
        let mut schema = super::with(&property);
        schema["$defs"] = json!({"A": definition, "Tree": {"type": "object", "properties": {"a": {"type": "null"}}}});
        each_subschema(&mut schema, &mut settle);
        for dialect in [SchemaDialect::OpenAiStrict, SchemaDialect::AnthropicStrict, SchemaDialect::Gemini] {
            let converted = dialect.convert(&schema);
            let written = provider::as_json_schema(dialect, &converted.schema);
            for value in values.iter().map(|value| json!({"p": value})) {
                let is_reported = match (is_valid(&schema, &value), is_valid(&written, &value)) {
                    (Some(true), Some(false)) => converted.narrowed.is_some(),
                    (Some(false), Some(true)) => !converted.losses.is_empty(),
                    _ => true,
                };
                prop_assert!(
                    is_reported, "{:?}: {}: {} became {}, {:?}", dialect, value, schema, converted.schema, converted.losses
                );
            }
            for loss in &converted.losses {
                let held = |schema: &Value| Some(schema.pointer(&loss.path)?.get(&loss.keyword)?.clone());
                let is_kept = held(&schema).is_some() && held(&schema) == held(&converted.schema);
                prop_assert!(!is_kept, "{:?}: {}: {} became {}", dialect, loss, schema, converted.schema);
            }
        }
    }

    /// Only merged unions at the root make a schema longer.
    #[test]
    fn kept_references_do_not_multiply_a_schema(schema in document()) {
        for dialect in [SchemaDialect::OpenAi, SchemaDialect::Anthropic] {
            let converted = dialect.convert(&schema);
            let is_merged = converted.losses.iter().any(|loss| matches!(loss.keyword.as_str(), "anyOf" | "oneOf"));
            // OpenAI needs the first two, and boolean schemas become objects.
            let added = [(",\"properties\":{}", ""), (",\"items\":{}", ""), ("{\"not\":{}}", "false")];
            let text = converted.schema.to_string();
            let length = added.iter().fold(text, |text, (added, own)| text.replace(added, own)).len();
            prop_assert!(is_merged || length <= schema.to_string().len() + 100, "{}", converted.schema);
        }
    }

    /// Tests that a model bound to the `AnthropicStrict` schema can send every valid value, or a loss says
    /// otherwise.
    ///
    /// Open objects are excluded, because the conversion closes them.
    #[test]
    fn strict_dialects_allow_every_allowed_value_unless_they_report_it(
        schema in document(),
        values in prop::collection::vec(prop::collection::btree_map("[ab]", value(), 0..3), 8),
    ) {
        let converted = SchemaDialect::AnthropicStrict.convert(&schema);
        let written = converted.schema;
        // Objects without `additionalProperties` count as closed.
        let closes = schema.to_string().matches("\"properties\"").count()
            > schema.to_string().matches("\"additionalProperties\":false").count();
        let guessed = converted.losses.iter().any(|loss| loss.keyword == "type");
        for value in values.iter().map(|fields| json!(fields)) {
            if is_valid(&schema, &value) == Some(true) && converted.narrowed.is_none() && !closes && !guessed {
                prop_assert_eq!(is_valid(&written, &value), Some(true), "{} {}", value, written);
            }
            if converted.losses.is_empty() && is_valid(&written, &value) == Some(true) {
                prop_assert_ne!(is_valid(&schema, &value), Some(false), "{} {}", value, written);
            }
        }
    }
}
