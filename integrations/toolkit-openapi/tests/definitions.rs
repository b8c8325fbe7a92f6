//! The definitions that documents of all versions become.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use toolkit_ai::{ArgumentTransform, ToolDefinition, ToolProvider, ToolTag};
use toolkit_openapi::OpenApiErrorKind;
use toolkit_openapi::client::{Namespaces, OpenApiLimits, OpenApiTools, OpenApiToolsBuilder};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents").join(name)
}

fn read(builder: OpenApiToolsBuilder, document: &Value) -> OpenApiTools {
    builder.read_document(&document.to_string()).unwrap()
}

fn tool(operation: Value, components: Value) -> ToolDefinition {
    let toolset = read(OpenApiTools::builder(), &document(operation, components));
    assert_eq!(toolset.issues(), []);
    toolset.tools().remove(0)
}

fn document(operation: Value, components: Value) -> Value {
    json!({"openapi": "3.0.3", "paths": {"/a": {"post": operation}}, "components": components})
}

fn body(schema: Value) -> Value {
    json!({"operationId": "call", "requestBody": {"required": true, "content": {"application/json": {"schema": schema}}}})
}

fn names(toolset: &OpenApiTools) -> Vec<String> {
    toolset.tools().iter().map(|tool| tool.name.to_string()).collect()
}

fn issues(toolset: &OpenApiTools) -> Vec<String> {
    toolset.issues().iter().map(ToString::to_string).collect()
}

#[test]
#[cfg(feature = "yaml")]
fn documents_of_all_versions_become_the_same_kind_of_definitions() {
    let expected: Value =
        serde_json::from_str(&std::fs::read_to_string(file("expected.json")).unwrap()).unwrap();
    for (document, tools) in expected.as_object().unwrap() {
        let toolset = OpenApiTools::from_file(file(document)).unwrap();
        assert_eq!(toolset.issues(), [], "{document}");
        let registry = toolset.registry().unwrap();
        let found = registry.iter().map(|tool| {
            let definition = tool.definition();
            (definition.name.to_string(), json!([definition.description, definition.parameters]))
        });
        assert_eq!(&Value::from_iter(found), tools, "{document}");
    }
}

#[test]
fn an_operation_that_cannot_be_read_is_an_issue_with_its_place() {
    let toolset = OpenApiTools::from_file(file("fault.json")).unwrap();
    assert_eq!(names(&toolset), ["good"]);
    let issue = &toolset.issues()[0];
    assert_eq!(issue.place, "/paths/~1lost/get/parameters/0");
    assert_eq!(issue.message, "`lost` was left out: there is no `#/components/parameters/Nowhere`");

    let wrong = |operation: Value| json!({"openapi": "3.1.0", "paths": {"/a/{b}": {"get": operation}, "/b": {"get": {}}}});
    for (operation, message) in [
        (json!({"parameters": [{"in": "query"}]}), "a parameter has no `name`"),
        (
            json!({"parameters": [{"name": "x", "in": "somewhere"}]}),
            "a parameter is in `somewhere`, which is unknown",
        ),
        (json!({"requestBody": {"$ref": "#/nowhere"}}), "there is no `#/nowhere`"),
        (json!([]), "an operation is an object"),
    ] {
        let toolset = read(OpenApiTools::builder(), &wrong(operation));
        assert_eq!(names(&toolset), ["get_b"], "{message}");
        assert!(issues(&toolset).iter().any(|issue| issue.ends_with(message)), "{:?}", toolset.issues());
    }
    for (operation, message) in [
        (json!({}), "the parameter `b` of the path is not declared, so it is any text"),
        (
            json!({"parameters": [{"name": "b", "in": "path", "schema": {"$ref": "#/nowhere"}}]}),
            "any value is accepted",
        ),
        (
            json!({"parameters": [{"name": "b", "in": "path", "schema": {"minLength": "1"}}]}),
            "which was removed",
        ),
    ] {
        let toolset = read(OpenApiTools::builder(), &wrong(operation));
        assert_eq!(names(&toolset), ["get_a_b", "get_b"], "{message}");
        assert!(issues(&toolset)[0].contains(message), "{message}: {:?}", toolset.issues());
    }
    for (text, part) in [
        (r#"{"openapi": "4.0.0"}"#, "supported are OpenAPI 3.0"),
        (r#"{"info": {}}"#, "no member `openapi`"),
        (r#"{"openapi": "#, "no valid JSON"),
        (" \n", "the document is empty"),
        ("petstore.yaml", "`from_file` and `read_file` take a path"),
        (
            "<!DOCTYPE html>\n<html><p>a: b</p></html>",
            "the document is an HTML page or XML, not JSON or YAML;",
        ),
        ("<html></html>", "a service often has its document at `/openapi.json`"),
    ] {
        let error = OpenApiTools::from_document(text).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
    let error = OpenApiTools::from_file("nowhere/petstore.yaml").unwrap_err().to_string();
    assert!(error.starts_with("the document `nowhere/petstore.yaml` cannot be read: "), "{error}");
}

#[test]
fn a_path_in_place_of_a_text_is_a_fault_of_this_text() {
    let document = r#"{"openapi": "3.1.0", "paths": {}}"#;
    let advice = "is one line without members; read the file and give its text";
    let overlay = OpenApiTools::builder().overlay("overlay.yaml").read_document(document).unwrap_err();
    assert_eq!(overlay.to_string(), format!("the overlay {advice}"));
    let common = OpenApiTools::builder().document("common.json", "docs/common.json");
    let error = common.read_document(document).unwrap_err();
    assert_eq!(error.to_string(), format!("the document `common.json` {advice}"));
    let faulty = OpenApiTools::builder().overlay("{").read_document(document).unwrap_err().to_string();
    assert!(faulty.starts_with("the overlay is no valid JSON: "), "{faulty}");
}

#[test]
fn a_document_without_operations_is_an_issue() {
    for (text, advice) in [
        (r#"{"openapi": "3.1.0", "tags": []}"#, ""),
        (r#"{"openapi": "3.1.0", "paths": {}}"#, ""),
        (r#"{"openapi": "3.1.0", "pahts": {"/a": {"get": {}}}}"#, "; rename `pahts` to `paths`"),
        (r#"{"swagger": "2.0", "Paths": {"/a": {"get": {}}}}"#, "; rename `Paths` to `paths`"),
    ] {
        let toolset = OpenApiTools::from_document(text).unwrap();
        let expected = format!("The document has no operations under `paths`, so it gives no tools{advice}");
        assert_eq!(issues(&toolset), [expected], "{text}");
    }
}

#[test]
fn hints_and_tags_come_from_the_operation() {
    let methods = ["get", "post", "put", "patch", "delete"];
    let operations = methods.map(|method| (method.to_owned(), json!({"tags": ["a", "b"]})));
    let document = json!({"openapi": "3.1.0", "paths": {"/x": Value::from_iter(operations)}});
    let tools = read(OpenApiTools::builder(), &document).tools();
    let hints = tools.iter().map(|tool| {
        let metadata = &tool.metadata;
        (tool.name.as_str(), [metadata.read_only, metadata.idempotent, metadata.destructive])
    });
    let yes = Some(true);
    let no = Some(false);
    let expected = [
        ("a-get_x", [yes, yes, no]),
        ("a-post_x", [no, None, None]),
        ("a-put_x", [no, yes, None]),
        ("a-patch_x", [no, None, None]),
        ("a-delete_x", [no, yes, yes]),
    ];
    assert!(hints.eq(expected));
    let tags: Vec<&str> = tools[4].metadata.tags.iter().map(ToolTag::as_str).collect();
    assert_eq!(tags, ["destructive", "network", "a", "b"]);
}

#[test]
fn members_of_a_body_are_arguments_only_if_that_says_the_same() {
    let properties = json!({"a": {"type": "string"}, "b": {"type": "integer"}});
    let object = |more: Value| {
        let mut schema = json!({"type": "object", "properties": properties});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        tool(body(schema), json!({})).parameters
    };
    let beside = object(json!({"required": ["a"]}));
    assert_eq!(
        beside,
        json!({
            "type": "object", "properties": properties, "required": ["a"], "additionalProperties": false,
        })
    );
    for more in [
        json!({"additionalProperties": {"type": "string"}}),
        json!({"nullable": true}),
        json!({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
        json!({"oneOf": [{"properties": {"c": {}}}]}),
        json!({"patternProperties": {"^x": {}}}),
    ] {
        let whole = object(more);
        assert_eq!(whole["required"], json!(["body"]), "{whole}");
        assert!(whole["properties"]["body"]["properties"]["a"].is_object(), "{whole}");
    }
    let list = tool(body(json!({"type": "array", "items": {"type": "string"}})), json!({})).parameters;
    assert_eq!(list["properties"]["body"]["type"], "array");
}

#[test]
fn schemas_of_openapi_become_json_schema() {
    for (schema, expected) in [
        (
            json!({"type": "string", "nullable": true, "enum": ["a"]}),
            json!({"type": ["string", "null"], "enum": ["a", null]}),
        ),
        (
            json!({"allOf": [{"type": "string"}], "nullable": true, "description": "D"}),
            json!({"anyOf": [{"allOf": [{"type": "string"}]}, {"type": "null"}], "description": "D"}),
        ),
        (
            json!({"type": "number", "maximum": 5, "exclusiveMaximum": true}),
            json!({"type": "number", "exclusiveMaximum": 5}),
        ),
        (
            json!({"type": "number", "maximum": 5, "exclusiveMaximum": false}),
            json!({"type": "number", "maximum": 5}),
        ),
        (json!({"type": "string", "format": "byte"}), json!({"type": "string", "contentEncoding": "base64"})),
        (
            json!({"type": "string", "example": "x", "xml": {}, "externalDocs": {}, "x-a": 1}),
            json!({"type": "string", "examples": ["x"]}),
        ),
        (json!({"type": "any", "title": "T"}), json!({"title": "T"})),
        (
            json!({"title": "T", "description": "D", "default": {"$ref": "x"}}),
            json!({"description": "D", "default": {"$ref": "x"}}),
        ),
        (
            json!({"type": "array", "items": [{"type": "string"}]}),
            json!({"type": "array", "prefixItems": [{"type": "string"}]}),
        ),
        (
            json!({"type": "object", "required": true, "properties": {"items": {"type": "string", "required": true}}}),
            json!({"type": "object", "properties": {"items": {"type": "string"}}}),
        ),
        (
            json!({"type": "object", "required": ["r", "w"], "properties": {"r": {"readOnly": true}, "w": {"writeOnly": true}}}),
            json!({"type": "object", "required": ["w"], "properties": {"w": {}}}),
        ),
        (
            json!({"allOf": [{"required": ["r"]}, {"properties": {"r": {"readOnly": true}}}]}),
            json!({"allOf": [{}, {"properties": {}}]}),
        ),
    ] {
        let parameters = tool(body(json!({"type": "array", "items": schema.clone()})), json!({})).parameters;
        assert_eq!(parameters["properties"]["body"]["items"], expected, "{schema}");
    }
}

#[test]
fn output_schemas_are_there_if_the_program_asks() {
    let document = json!({"openapi": "3.0.0", "paths": {"/a": {"get": {"operationId": "a", "responses": {
        "404": {"description": "No.", "content": {"application/json": {"schema": {"type": "string"}}}},
        "200": {"description": "Yes.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}},
    }}}}, "components": {"schemas": {"A": {"type": "object", "properties": {
        "next": {"$ref": "#/components/schemas/A"}, "w": {"writeOnly": true}, "r": {"readOnly": true},
    }}}}});
    assert_eq!(read(OpenApiTools::builder(), &document).tools()[0].output_schema(), None);
    let tools = read(OpenApiTools::builder().output_schemas(), &document).tools();
    let expected = json!({"$ref": "#/$defs/A", "$defs": {"A": {
        "type": "object", "properties": {"next": {"$ref": "#/$defs/A"}, "r": {}},
    }}});
    assert_eq!(tools[0].output_schema(), Some(&expected));
}

#[test]
fn a_program_chooses_and_changes_operations() {
    let path = |tag: &str, extra: Value| {
        let mut operation =
            json!({"operationId": tag, "tags": [tag], "parameters": [{"name": "q", "in": "query"}]});
        operation.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        operation
    };
    let document = json!({"openapi": "3.1.0", "paths": {
        "/a": {"get": path("a", json!({})), "post": path("b", json!({"deprecated": true}))},
        "/c": {"get": path("c", json!({"x-speakeasy-mcp": {"name": "sea", "description": "Sails.", "scopes": ["read"]}})),
            "put": path("d", json!({"x-speakeasy-mcp": {"disabled": true}}))},
    }});
    let chosen = |builder: OpenApiToolsBuilder| names(&read(builder.namespaces(Namespaces::None), &document));
    let builder = OpenApiTools::builder;
    assert_eq!(chosen(builder()), ["a", "b", "sea"]);
    assert_eq!(chosen(builder().only_tags(["b", "c"])), ["b", "sea"]);
    assert_eq!(chosen(builder().only_operations(["a"])), ["a"]);
    assert_eq!(chosen(builder().only_methods(["get"])), ["a", "sea"]);
    assert_eq!(chosen(builder().only_paths(["/c"])), ["sea"]);
    assert_eq!(chosen(builder().only_methods(["GET"]).only(|o| o.path == "/a" && !o.is_deprecated())), ["a"]);
    let fault = std::fs::read_to_string(file("fault.json")).unwrap();
    let wrong = builder().only_operations(["goood"]).only_tags(["x"]).read_document(&fault).unwrap();
    assert_eq!(
        issues(&wrong),
        ["No operation has the id `goood`; did you mean `good`?", "No operation has the tag `x`"]
    );
    let goood = ["No operation has the id `goood`; did you mean `good`?"];
    let adapted = builder().adapt("goood", Ok).only_operations(["good"]).read_document(&fault).unwrap();
    let trimmed = builder().answer_fields("goood", ["id"]).only_operations(["good"]);
    let trimmed = trimmed.read_document(&fault).unwrap();
    assert_eq!([issues(&adapted), issues(&trimmed)], [goood, goood]);
    let wrong = builder().only_methods(["FETCH", "head"]).only_paths(["/goodd", "/g"]);
    let wrong = wrong.read_document(&fault).unwrap();
    assert_eq!(
        issues(&wrong),
        [
            "No operation has the method `FETCH`; did you mean `patch`?",
            "No path begins with `/goodd`; did you mean `/good`?"
        ]
    );

    let overlay = json!({"overlay": "1.0.0", "actions": [
        {"target": "$.paths['/a'].post", "remove": true},
        {"target": "$.paths.*[?@.operationId == 'a']", "update": {"summary": "From the overlay."}},
    ]});
    let changed = builder()
        .overlay(overlay.to_string())
        .adapt("c", |tool| tool.with_arguments([ArgumentTransform::new("q").fixed("preset")]));
    let tools = read(changed, &document).tools();
    let about: Vec<_> = tools.iter().map(|tool| (tool.name.as_str(), tool.description.as_str())).collect();
    assert_eq!(about, [("a-a", "From the overlay."), ("c-sea", "Sails.")]);
    assert_eq!(tools[1].parameters["properties"], json!({}));
    assert!(tools[1].metadata.tags.contains(&ToolTag::from("read")));
}

#[test]
fn more_than_forty_tools_are_found_by_search() {
    let document = |count: usize| {
        let paths =
            (0..count).map(|n| (format!("/p{n}"), json!({"get": {"operationId": format!("read{n}")}})));
        json!({"openapi": "3.1.0", "paths": Value::from_iter(paths)})
    };
    let published = |builder: OpenApiToolsBuilder, count| {
        let registry = read(builder, &document(count)).registry().unwrap();
        registry.definitions(toolkit_ai::llm::ApiFormat::Anthropic).to_value().as_array().unwrap().len()
    };
    assert_eq!(published(OpenApiTools::builder(), 40), 40);
    assert_eq!(published(OpenApiTools::builder(), 600), 2);
    assert_eq!(published(OpenApiTools::builder().tool_search_above(700), 600), 600);
    assert_eq!(published(OpenApiTools::builder().tool_search_above(3), 4), 2);
}

#[test]
fn a_large_schema_loses_its_deepest_levels_and_says_so() {
    let leaf = json!({"type": "object", "description": "A leaf.", "properties": {"text": {"type": "string", "description": "x".repeat(900)}}});
    let leaves: Value = (0..20).map(|n| (format!("leaf{n}"), leaf.clone())).collect();
    let operation = body(
        json!({"type": "object", "properties": {"near": {"type": "string"}, "far": {"type": "object", "properties": leaves}}}),
    );
    let limits = OpenApiLimits::default().with_schema_bytes(4_000);
    let toolset = read(OpenApiTools::builder().document_limits(limits), &document(operation, json!({})));
    let parameters = &toolset.tools()[0].parameters;
    assert!(parameters.to_string().len() <= 4_000);
    assert_eq!(parameters["properties"]["near"], json!({"type": "string"}));
    assert_eq!(
        parameters["properties"]["far"]["properties"]["leaf7"],
        json!({"type": "object", "description": "A leaf."})
    );
    let issue = "`/paths/~1a/post`: its parameters are larger than the limit, so deep schemas were replaced by their types; \
                 raise the limit with `OpenApiLimits::with_schema_bytes`";
    assert_eq!(issues(&toolset), [issue]);
}

#[test]
fn documents_that_the_program_gives_are_the_only_ones_for_references() {
    let document = json!({"openapi": "3.1.0", "paths": {"/a": {"get": {"operationId": "a", "parameters": [
        {"$ref": "common.json#/parameters/Page"}
    ]}}}});
    let common = json!({
        "parameters": {"Page": {"name": "page", "in": "query", "schema": {"$ref": "#/schemas/Page"}}},
        "schemas": {"Page": {"type": "integer"}},
    });
    let refused = read(OpenApiTools::builder(), &document);
    assert!(refused.is_empty());
    assert!(
        issues(&refused)[0].contains("in another document, which is never fetched"),
        "{:?}",
        refused.issues()
    );
    let given = read(OpenApiTools::builder().document("common.json", common.to_string()), &document);
    assert_eq!(given.tools()[0].parameters["$defs"], json!({"Page": {"type": "integer"}}));
    let faulty = OpenApiTools::builder().document("common.json", "{").read_document(&document.to_string());
    assert_eq!(faulty.unwrap_err().kind(), OpenApiErrorKind::Syntax);
}
