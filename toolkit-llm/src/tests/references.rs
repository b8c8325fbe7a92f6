//! References in schemas and results for Gemini.
//!
//! It refuses other keywords beside `$ref` in a schema, and each `$ref` in the JSON of a result that is not
//! the name of one of its parts.

use super::any_json;
use crate::ApiFormat::{Gemini, GeminiInteractions};
use crate::model::{ModelOptions, ModelRequest, OutputFormat};
use crate::transport::encode_request;
use crate::{ApiFormat, DefinitionOptions, Message};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};
use toolkit_core::ToolResult;
use toolkit_core::definition::ToolDefinition;
use toolkit_core::name::{ToolName, WireNames};
use toolkit_core::output::ToolOutput;
use toolkit_schema::keyword::subschemas;
use toolkit_schema::violations;

fn reference(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let targets = select(vec!["#/$defs/A", "#/$defs/Tree", "#/$defs/Word", "#/properties/a", "#"]);
    let beside = json!({
        "title": "T", "description": "D.", "default": {"$ref": "#", "title": "data"}, "minLength": 1,
        "examples": ["ab"], "deprecated": true, "readOnly": true, "$comment": "C.", "enum": ["ab", 1, {}],
        "type": ["string", "object"], "required": ["a"], "maxProperties": 1, "properties": {"b": {"type": "integer"}},
    });
    let beside: Vec<(String, Value)> = beside.as_object().unwrap().clone().into_iter().collect();
    let unions = subsequence(vec!["anyOf", "oneOf", "allOf"], 0..=3);
    (targets, subsequence(beside, 0..=5), unions, vec(inner, 3)).prop_map(
        |(target, beside, unions, inner)| {
            let mut schema: Map<String, Value> = beside.into_iter().collect();
            schema.insert("$ref".to_owned(), target.into());
            for (union, part) in unions.into_iter().zip(inner) {
                schema.insert(union.to_owned(), json!([part]));
            }
            schema.into()
        },
    )
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = select(vec![json!({"type": "string"}), json!({"type": "integer", "minimum": 1}), json!({})]);
    let leaf = prop_oneof![leaf.clone(), reference(leaf)];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            2 => reference(inner.clone()),
            2 => object(inner.clone()),
            1 => inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            1 => vec(inner.clone(), 1..3).prop_map(|list| json!({"anyOf": list})),
            1 => inner.prop_map(|schema| json!({"not": schema})),
        ]
    })
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    btree_map(select(vec!["a", "b", "$ref", "title"]), inner, 0..4)
        .prop_map(|properties| json!({"type": "object", "properties": properties}))
}

fn document() -> impl Strategy<Value = Value> {
    (prop_oneof![4 => object(schema()), 1 => reference(schema())], schema()).prop_map(|(mut root, target)| {
        let tree = json!({"type": "object", "properties": {
            "name": {"type": "string"}, "next": {"$ref": "#/$defs/Tree", "title": "Next", "description": "The next."},
        }});
        root["$defs"] = json!({"A": target, "Tree": tree, "Word": {"type": "string", "enum": ["ab", "b"]}});
        root
    })
}

fn values() -> impl Strategy<Value = Vec<Value>> {
    let leaf = select(vec![json!(null), json!(1), json!(0), json!("ab"), json!("")]);
    let value = leaf.prop_recursive(3, 12, 3, |inner| {
        let members = btree_map(select(vec!["a", "b", "$ref", "name", "next"]), inner.clone(), 0..3);
        prop_oneof![vec(inner, 0..3).prop_map(Value::from), members.prop_map(|members| json!(members))]
    });
    let object = btree_map(select(vec!["a", "b", "$ref", "title", "next"]), value, 0..4);
    vec(object.prop_map(|members| json!(members)), 8)
}

/// Returns a schema with other keywords beside `$ref`.
fn crowded(schema: &Value) -> Option<&Value> {
    let is_crowded =
        schema.as_object().is_some_and(|keywords| keywords.contains_key("$ref") && keywords.len() > 1);
    if is_crowded { Some(schema) } else { subschemas(schema).find_map(|inside| crowded(inside.schema)) }
}

/// Returns the schemas of a tool in requests for Gemini, each with whether a loss is reported.
fn published(schema: &Value) -> Vec<(Value, bool)> {
    let tool = ToolDefinition::new(ToolName::new("f").unwrap(), "d", schema.clone());
    let tool = tool.with_output_schema(schema.clone());
    let plain = DefinitionOptions::default();
    let inlined = plain.clone().with_inline_references(true);
    let json_schema = plain.clone().with_json_schema(true).with_output_schemas(true);
    let mut schemas = Vec::new();
    for (format, options, pointers) in [
        (Gemini, &json_schema, &["/parametersJsonSchema", "/responseJsonSchema"][..]),
        (GeminiInteractions, &plain, &["/parameters"]),
        (GeminiInteractions, &inlined, &["/parameters"]),
    ] {
        let tools = format.encode_definitions([&tool], &WireNames::default(), options);
        let json = tools.to_value();
        let written = json.pointer("/0/function_declarations/0").unwrap_or(&json[0]);
        let found = pointers.iter().filter_map(|pointer| written.pointer(pointer));
        schemas.extend(found.map(|schema| (schema.clone(), !tools.report().is_clean())));
    }
    schemas
}

/// Returns the schema of an answer in a request, with whether a loss is reported.
fn of_answer(format: ApiFormat, schema: &Value) -> (Value, bool) {
    let options = ModelOptions::new().with_output(OutputFormat::new("answer", schema.clone()));
    let request = ModelRequest::new([Message::user("hi")]).with_options(options);
    let encoded = encode_request(format, "gemini-3-flash", &request, false);
    let body = Value::from(encoded.body);
    let places = ["/generationConfig/responseJsonSchema", "/response_format/schema"];
    let schema = places.iter().find_map(|place| body.pointer(place)).unwrap().clone();
    (schema, !encoded.losses.is_empty())
}

/// Checks that references stand alone, and that the sent schema allows the same values unless a loss is
/// reported.
fn check(schema: &Value, values: &[Value]) -> Result<(), TestCaseError> {
    let answers = [Gemini, GeminiInteractions].map(|format| of_answer(format, schema));
    for (sent, is_reported) in published(schema).into_iter().chain(answers) {
        prop_assert_eq!(crowded(&sent), None, "{}", sent);
        // A reference to the root or to a property may lead to itself, and parameters called `$ref` get
        // another name.
        let text = format!("{schema}{sent}");
        let targets = ["\"#\"", "\"#/properties/a\"", "\"_ref\""];
        let is_other = targets.iter().any(|target| text.contains(target));
        for value in values.iter().filter(|_| !is_reported && !is_other) {
            let [before, after] = [schema, &sent].map(|schema| violations(schema, value).is_empty());
            prop_assert_eq!(before, after, "{} {} became {}", value, schema, sent);
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn references_in_schemas_for_gemini_stand_alone(schema in document(), values in values()) {
        check(&schema, &values)?;
    }

    /// Outputs with a member `$ref` are sent as text, and all others as JSON.
    #[test]
    fn results_for_gemini_have_no_reference_in_their_json(output in any_json("$ref name a #/$defs/A output error image.png")) {
        let result = ToolResult::new("a".into(), "f", Ok(ToolOutput::json(&output).unwrap()));
        let messages = Gemini.encode_results(&[result]);
        let sent = &messages[0]["parts"][0]["functionResponse"]["response"]["output"];
        prop_assert!(!has_reference(sent), "{}", sent);
        if has_reference(&output) {
            prop_assert_eq!(&serde_json::from_str::<Value>(sent.as_str().unwrap()).unwrap(), &output);
        }
    }

    /// Repair writes the same results as text, and leaves references to parts of the result.
    #[test]
    fn repaired_histories_for_gemini_have_no_reference_in_results(
        response in any_json("$ref name a #/$defs/A output error image.png"),
        has_part in any::<bool>(),
    ) {
        let mut result = json!({"id": "a", "name": "f", "response": response});
        if has_part {
            result["parts"] = json!([{"inline_data": {"displayName": "image.png", "mimeType": "image/png", "data": "aGk="}}]);
        }
        let history = vec![
            json!({"role": "model", "parts": [{"functionCall": {"id": "a", "name": "f", "args": {}}}]}),
            json!({"role": "user", "parts": [{"functionResponse": result}]}),
        ];
        let repaired = Gemini.repair_history(history.clone());
        let sent = &repaired[1]["parts"][0]["functionResponse"]["response"];
        let is_known = |reference: &Value| has_part && reference == "image.png";
        prop_assert!(references(sent).into_iter().all(is_known), "{}", sent);
        if references(&response).into_iter().all(is_known) {
            prop_assert_eq!(&repaired, &history);
        } else {
            prop_assert!(sent.is_object());
        }
        prop_assert_eq!(Gemini.repair_history(repaired.clone()), repaired);
    }
}

fn has_reference(value: &Value) -> bool {
    !references(value).is_empty()
}

fn references(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(values) => values.iter().flat_map(references).collect(),
        Value::Object(members) => {
            let inside =
                members.iter().filter(|(name, _)| *name != "$ref").flat_map(|(_, value)| references(value));
            members.get("$ref").into_iter().chain(inside).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn keywords_move_from_references_into_a_union() {
    let reported = json!({"type": "object", "properties": {
        "q": {"$ref": "#/$defs/Q", "description": "D", "default": "a", "title": "T", "minLength": 1},
    }, "$defs": {"Q": {"type": "string", "enum": ["a", "b"]}}});
    let expected = json!({"description": "D", "default": "a", "title": "T", "minLength": 1,
        "anyOf": [{"$ref": "#/$defs/Q"}]});
    for (sent, is_reported) in published(&reported).into_iter().take(2) {
        assert_eq!((&sent["properties"]["q"], is_reported), (&expected, false));
    }
    let node = json!({"type": "object", "properties": {"root": {"$ref": "#/$defs/N", "description": "The first.", "title": "Root"}},
        "$defs": {"N": {"type": "object", "properties": {
            "name": {"type": "string"},
            "next": {"$ref": "#/$defs/N", "description": "The next one.", "title": "Next"},
        }, "required": ["name"]}}});
    for (sent, is_reported) in published(&node) {
        assert_eq!((crowded(&sent), is_reported), (None, false));
    }
    for format in [Gemini, GeminiInteractions] {
        let (sent, is_reported) = of_answer(format, &node);
        let root = json!({"description": "The first.", "title": "Root", "anyOf": [{"$ref": "#/$defs/N"}]});
        assert_eq!((&sent["properties"]["root"], is_reported), (&root, false));
        assert_eq!(crowded(&sent), None);
    }
}

/// `struct Node { name: String, children: Vec<Node> }`, and a condition of two conditions.
#[test]
fn members_of_recursive_types_are_required_only_where_the_service_takes_it() {
    let itself = json!({"$ref": "#/$defs/T"});
    let list = json!({"type": "array", "items": itself});
    let either = json!({"anyOf": [{"type": "string"}, itself]});
    for (next, is_taken_of_tool) in [(&list, true), (&either, false)] {
        let node = json!({"type": "object", "properties": {"name": {"type": "string"}, "next": next},
            "required": ["name", "next"]});
        let schema = json!({"type": "object", "properties": {"root": itself}, "required": ["root"],
            "$defs": {"T": node}});
        for (sent, is_reported) in published(&schema) {
            let is_required = sent["$defs"]["T"]["required"] == node["required"];
            assert_eq!((is_required, is_reported), (is_taken_of_tool, !is_taken_of_tool), "{sent}");
        }
        for format in [Gemini, GeminiInteractions] {
            let (sent, is_reported) = of_answer(format, &schema);
            assert_eq!((&sent["$defs"]["T"]["required"], is_reported), (&json!(["name"]), true), "{sent}");
            let output = OutputFormat::new("answer", schema.clone());
            let losses = output.schema_for(format).losses;
            let [loss] = losses.as_slice() else { panic!("{losses:?}") };
            assert_eq!(loss.path, "/options/output/schema/$defs/T/properties/next");
        }
    }
}
