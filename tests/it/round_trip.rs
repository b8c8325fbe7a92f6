//! Definitions are converted to every readable format and back, and every loss is reported.

use proptest::prelude::*;
use toolkit_ai::definition::{ToolSource, parameter_names};
use toolkit_ai::llm::translate::RequestFormat;
use toolkit_ai::llm::{ApiFormat, DefinitionOptions};
use toolkit_ai::name::{NameRule, WireNames};
use toolkit_ai::schema::keyword::each_subschema;
use toolkit_ai::serde_json::{Map, Value, json};
use toolkit_ai::{ToolDefinition, ToolMetadata, ToolName};

/// A typical tool's schema, two levels deep.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"type": "boolean", "description": "A switch."})),
        (0..9_i64).prop_map(|least| json!({"type": "integer", "minimum": least})),
        (1..9_u64).prop_map(|most| json!({"type": "string", "maxLength": most})),
        Just(json!({"type": "string", "enum": ["a", "b"]})),
        Just(json!({"type": "string", "format": "email"})),
        Just(json!({"type": "number", "multipleOf": 0.5})),
    ];
    leaf.prop_recursive(2, 12, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            object(inner.clone()),
            // The branches have different types, because equal ones may become one.
            inner
                .prop_map(|items| json!({"anyOf": [{"type": "array", "items": items}, {"type": "boolean"}]})),
        ]
    })
}

/// An object with names of properties, some also of keywords.
fn object(of: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let names = prop::sample::select(vec!["city", "type", "properties", "title", "$ref", "enum", "default"]);
    prop::collection::vec((names, of, any::<bool>()), 1..4).prop_map(|members| {
        let required: Map<String, Value> = members
            .iter()
            .filter(|member| member.2)
            .map(|(name, ..)| ((*name).to_owned(), json!(0)))
            .collect();
        let properties: Map<String, Value> =
            members.into_iter().map(|(name, schema, _)| (name.to_owned(), schema)).collect();
        let required: Vec<&String> = required.keys().collect();
        if required.is_empty() {
            json!({"type": "object", "properties": properties})
        } else {
            json!({"type": "object", "properties": properties, "required": required})
        }
    })
}

fn definition() -> impl Strategy<Value = ToolDefinition> {
    ("[a-z][a-z0-9_.-]{0,70}", "[ -~äß日]{0,20}", object(schema()), any::<[bool; 3]>()).prop_map(
        |(name, description, parameters, [defer, has_examples, has_meta])| {
            let mut metadata = ToolMetadata::default().with_defer(defer);
            if has_examples {
                metadata = metadata.with_input_examples([json!({"city": "Oslo"})]);
            }
            if has_meta {
                metadata = metadata.with_meta("owner/1", "team a");
            }
            ToolDefinition::new(ToolName::new(&name).unwrap(), description, parameters)
                .with_metadata(metadata)
        },
    )
}

/// Returns parameters with the names in `own`, because a provider refuses `$ref`.
fn own_names(mut parameters: Value, own: &Value) -> Value {
    let names = [NameRule::SHORT_DOTS, NameRule::IDENTIFIERS].map(|rule| parameter_names(rule, own));
    let unspell =
        |name: &str| names.iter().fold(name.to_owned(), |name, names| names.unspell(&name).to_owned());
    each_subschema(&mut parameters, &mut |keywords| {
        if let Some(properties) = keywords.get_mut("properties").and_then(Value::as_object_mut) {
            *properties =
                std::mem::take(properties).into_iter().map(|(name, of)| (unspell(&name), of)).collect();
        }
        for name in keywords.get_mut("required").and_then(Value::as_array_mut).into_iter().flatten() {
            *name = unspell(name.as_str().unwrap()).into();
        }
    });
    parameters
}

proptest! {
    #[test]
    fn every_loss_is_in_the_report(definition in definition(), json_schema: bool) {
        let options = DefinitionOptions::default().with_json_schema(json_schema);
        for &reader in RequestFormat::ALL {
            let format = reader.api();
            let names = WireNames::new(format.name_rule(), [definition.name.as_str()]);
            let tools = format.encode_definitions([&definition], &names, &options);
            let parsed = reader.parse_definitions(&tools.to_value()).unwrap();
            let [back] = parsed.as_slice() else { panic!("one definition") };
            let lost = |path: &str| tools.report().losses.iter().any(|loss| loss.loss.path.starts_with(path));

            prop_assert_eq!(names.unspell(back.name.as_str()), definition.name.as_str());
            prop_assert_eq!(&back.description, &definition.description);
            let parameters = own_names(back.parameters.clone(), &definition.parameters);
            prop_assert!(lost("/parameters") || parameters == definition.parameters, "{format}: {}", back.parameters);
            // The program's metadata is for no API.
            prop_assert!(!lost("/metadata"), "{format}");
            prop_assert!(lost("/defer") || back.metadata.defer == definition.metadata.defer, "{format}");
            prop_assert!(
                lost("/input_examples") || back.metadata.input_examples == definition.metadata.input_examples,
                "{format}"
            );
        }
    }
}

#[test]
fn a_tool_of_an_mcp_server_loses_nothing_as_a_function() {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let mut tool = ToolDefinition::new(ToolName::new("weather").unwrap(), "Tells it.", schema);
    tool.metadata.source = ToolSource::Mcp;
    for &format in ApiFormat::ALL {
        let tools = format.encode_definitions([&tool], &WireNames::default(), &DefinitionOptions::default());
        assert_eq!(tools.report().to_string(), "", "{format}");
    }
}
