//! Operations with large parameters: what remains within a limit.

use crate::recorder::{Recorder, json_answer};
use serde_json::{Map, Value, json};
use toolkit_ai::ToolProvider;
use toolkit_openapi::client::{Namespaces, OpenApiLimits, OpenApiTools};

/// The number of optional members, half of them with a description.
const OPTIONAL: usize = 120;

/// Returns small payment operations: bodies with many different members.
fn operations() -> Vec<(&'static str, Value)> {
    let text = |length: usize| "What it is. ".repeat(length / 12);
    let deep = (0..40).fold(json!({"type": "string"}), |inner, _| {
        json!({"type": "object", "description": text(300), "properties": {"a": inner, "b": {"type": "string"}}})
    });
    let values: Vec<String> = (0..400).map(|number| format!("value-{number}")).collect();
    let branch = |name: &str| json!({"type": "object", "title": name, "properties": {name: {"type": "string", "description": text(500)}}});
    let branches: Vec<Value> = (0..60).map(|number| branch(&format!("b{number}"))).collect();
    let forms = [
        ("long descriptions", json!({"type": "string", "description": text(1_000)})),
        ("deep objects", deep),
        ("long lists of values", json!({"type": "string", "enum": values, "description": "A word."})),
        ("unions", json!({"oneOf": branches, "description": "One of many."})),
        ("lists", json!({"type": "array", "description": text(200), "items": {"oneOf": branches}})),
    ];
    let mut operations = Vec::new();
    for (name, form) in forms {
        let mut members = Map::from_iter([("amount".to_owned(), form.clone())]);
        for number in 0..OPTIONAL {
            let mut member = form.clone();
            if number % 2 == 1 {
                member.as_object_mut().unwrap().remove("description");
            }
            members.insert(format!("optional{number}"), member);
        }
        let schema = json!({"type": "object", "required": ["amount"], "properties": members});
        let content = json!({"application/json": {"schema": schema}});
        operations.push((name, json!({"requestBody": {"required": true, "content": content}})));
        let whole =
            json!({"application/json": {"schema": {"oneOf": [schema, {"type": "array", "items": schema}]}}});
        operations.push((name, json!({"requestBody": {"required": true, "content": whole}})));
        let parameters: Vec<Value> = members
            .iter()
            .map(|(name, schema)| json!({"name": name, "in": "query", "required": name == "amount", "schema": schema}))
            .collect();
        operations.push((name, json!({"parameters": parameters})));
    }
    operations
}

fn document(mut operation: Value) -> Value {
    operation["operationId"] = "call".into();
    json!({"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": {"/": {"post": operation}}})
}

#[test]
fn a_large_operation_keeps_what_it_requires_and_then_what_is_described() {
    for (name, operation) in operations() {
        let document = document(operation).to_string();
        let mut sizes = Vec::new();
        for limit in [64 << 10, 32 << 10, 16 << 10, 8 << 10, 4 << 10, 2 << 10, 1 << 10] {
            let limits = OpenApiLimits::default().with_schema_bytes(limit);
            let builder = OpenApiTools::builder().namespaces(Namespaces::None).document_limits(limits);
            let toolset = builder.read_document(&document).unwrap();
            let [tool] = &toolset.tools()[..] else { panic!("{name} {limit}: {:?}", toolset.issues()) };
            let size = tool.parameters.to_string().len();
            assert!(size <= limit, "{name} {limit}: {size}");
            let properties = tool.parameters["properties"].as_object().unwrap();
            let required = tool.parameters["required"].as_array().unwrap();
            assert_eq!(required.len(), 1, "{name} {limit}");
            assert!(required.iter().all(|required| properties.contains_key(required.as_str().unwrap())));
            let left = |rest| {
                (0..OPTIONAL)
                    .filter(|number| {
                        number % 2 == rest && properties.contains_key(&format!("optional{number}"))
                    })
                    .count()
            };
            if properties.contains_key("amount") {
                let counts = (left(0), left(1));
                let half = OPTIONAL / 2;
                assert!([(half, half), (half, 0), (0, 0)].contains(&counts), "{name} {limit}: {counts:?}");
                let lost = 2 * half - counts.0 - counts.1;
                let issues: Vec<String> = toolset.issues().iter().map(ToString::to_string).collect();
                let says = issues
                    .iter()
                    .any(|issue| issue.contains(&format!("{lost} optional parameters were left out")));
                assert_eq!(says, lost > 0, "{name} {limit}: {issues:?}");
            }
            if let [issue] = toolset.issues() {
                assert!(
                    issue.message.ends_with("raise the limit with `OpenApiLimits::with_schema_bytes`"),
                    "{issue}"
                );
            }
            assert!(toolset.issues().len() <= 1, "{:?}", toolset.issues());
            sizes.push(properties.len());
        }
        assert!(sizes.is_sorted_by(|larger, smaller| larger >= smaller), "{name}: {sizes:?}");
    }
}

#[tokio::test]
async fn a_reduced_operation_is_still_called() {
    let service = Recorder::start(|_, _| json_answer(200, &json!({}))).await;
    let limits = OpenApiLimits::default().with_schema_bytes(4 << 10);
    for (name, operation) in operations() {
        let text = document(operation).to_string();
        let toolset = service.builder().document_limits(limits.clone()).read_document(&text).unwrap();
        let tools = toolset.registry().unwrap();
        let properties = &tools.get("call").unwrap().definition().parameters["properties"];
        let value = match (properties.get("amount").unwrap_or(&json!({"type": "object"})))["type"].as_str() {
            Some("array") => json!([{}]),
            Some("object") | None => json!({"amount": {"deep": [1]}}),
            _ => json!("value-7"),
        };
        let argument = if properties.get("body").is_some() { "body" } else { "amount" };
        tools
            .call("call", &json!({argument: value}).to_string())
            .await
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let request = service.requests().pop().unwrap();
        let sent = format!("{}{}", request.line, request.body);
        assert!(sent.contains("amount"), "{name}: {sent}");
    }
}
