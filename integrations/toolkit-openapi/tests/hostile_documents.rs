//! Documents that mean harm, or crash other importers.

use serde_json::{Value, json};
use std::time::{Duration, Instant};
use toolkit_ai::ToolProvider;
use toolkit_openapi::OpenApiErrorKind;
use toolkit_openapi::client::{OpenApiLimits, OpenApiTools};

fn toolset(document: &Value) -> OpenApiTools {
    OpenApiTools::from_document(&document.to_string()).unwrap()
}

#[test]
fn recursion_stays_a_reference_and_cycles_are_issues() {
    let document = json!({
        "openapi": "3.0.3",
        "paths": {
            "/tree": {"post": {"operationId": "tree", "requestBody": {"required": true, "content": {"application/json": {
                "schema": {"$ref": "#/components/schemas/Node"}}}}}},
            "/loop": {"post": {"operationId": "loop", "parameters": [{"$ref": "#/components/parameters/A"}]}},
            "/chain": {"post": {"operationId": "chain", "requestBody": {"content": {"application/json": {
                "schema": {"type": "array", "items": {"$ref": "#/components/schemas/B"}}}}}}},
            "/merge": {"post": {"operationId": "merge", "requestBody": {"required": true, "content": {"application/json": {
                "schema": {"$ref": "#/components/schemas/Merged"}}}}}},
            "/self": {"$ref": "#/paths/~1self"},
        },
        "components": {
            "parameters": {"A": {"$ref": "#/components/parameters/A"}},
            "schemas": {
                "Node": {"type": "object", "properties": {"value": {"type": "string"}, "next": {"$ref": "#/components/schemas/Node"}}},
                "B": {"$ref": "#/components/schemas/C"},
                "C": {"$ref": "#/components/schemas/B"},
                "Merged": {"allOf": [{"$ref": "#/components/schemas/Merged"}], "properties": {"a": {"type": "string"}}},
            },
        },
    });
    let toolset = toolset(&document);
    let tools = toolset.tools();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["tree", "chain", "merge"]);
    let node = json!({"type": "object", "properties": {"value": {"type": "string"}, "next": {"$ref": "#/$defs/Node"}}});
    assert_eq!(tools[0].parameters["properties"], node["properties"]);
    assert_eq!(tools[0].parameters["$defs"], json!({"Node": node}));
    assert_eq!(tools[1].parameters["properties"]["body"]["items"], json!({}));
    let places: Vec<&str> = toolset.issues().iter().map(|issue| issue.place.as_str()).collect();
    let items = "/paths/~1chain/post/requestBody/content/application~1json/schema/items";
    assert_eq!(places, [items, "/paths/~1loop/post/parameters/0", "/paths/~1self"]);
    assert!(toolset.issues().iter().all(|issue| issue.message.contains("lead back to themselves")));
}

#[test]
fn a_document_of_100_megabytes_is_refused_at_once() {
    // Its first character is a fault, so it is not read.
    let error = OpenApiTools::from_document(&"}".repeat(100 << 20)).unwrap_err();
    assert!(error.kind() == OpenApiErrorKind::TooLarge);
    let values = format!(r#"{{"openapi": "3.1.0", "x": [{}0]}}"#, "0,".repeat(1_000));
    let limits = OpenApiLimits::default().with_values(500);
    let error = OpenApiTools::builder().document_limits(limits).read_document(&values).unwrap_err();
    assert_eq!(error.to_string(), "the document has more than 500 values");
    let deep = format!(r#"{{"openapi": "3.1.0", "x": {}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(OpenApiTools::from_document(&deep).unwrap_err().kind(), OpenApiErrorKind::Syntax);
}

#[test]
#[cfg(feature = "yaml")]
fn aliases_of_yaml_count_as_often_as_they_are_used() {
    let list = |anchor: &str, item: &str| format!("x-{anchor}: &{anchor} [{}]\n", [item; 50].join(", "));
    let bomb = format!(
        "openapi: 3.1.0\n{}{}{}{}{}",
        list("a", "1"),
        list("b", "*a"),
        list("c", "*b"),
        list("d", "*c"),
        list("e", "*d")
    );
    let start = Instant::now();
    let error = OpenApiTools::from_document(&bomb).unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(10));
    let is_refused = matches!(error.kind(), OpenApiErrorKind::TooLarge | OpenApiErrorKind::Syntax);
    assert!(
        is_refused && (error.to_string().contains("more than") || error.to_string().contains("repetition")),
        "{error}"
    );
}

#[test]
fn references_to_other_documents_are_refused() {
    for reference in [
        "https://evil.example/a.json#/A",
        "file:///etc/passwd",
        "//evil.example",
        "../../etc/passwd",
        "other.yaml#/A",
    ] {
        let document = json!({"openapi": "3.1.0", "paths": {
            "/a": {"post": {"operationId": "a", "requestBody": {"required": true, "content": {"application/json": {
                "schema": {"type": "object", "properties": {"x": {"$ref": reference}}}}}}}},
        }});
        let toolset = toolset(&document);
        assert_eq!(toolset.tools()[0].parameters["properties"], json!({"x": {}}));
        let message = &toolset.issues()[0].message;
        assert!(message.contains(reference) && message.contains("never fetched"), "{message}");
    }
}

#[test]
fn hidden_text_reaches_neither_names_nor_descriptions() {
    let hidden: String = "obey".chars().filter_map(|c| char::from_u32(0xe0000 + u32::from(c))).collect();
    let text = format!("Plain.{hidden}\u{202e}");
    let document = json!({"openapi": "3.1.0", "paths": {"/a": {"get": {
        "operationId": format!("read{hidden}"), "summary": text, "description": text, "tags": [format!("t{hidden}")],
        "parameters": [{"name": format!("q{hidden}"), "in": "query", "description": text,
            "schema": {"type": "object", "title": text, "properties": {"n": {"description": text}}}}],
    }}}});
    let toolset = toolset(&document);
    let tool = toolset.tools().remove(0);
    let shown = format!("{} {} {} {:?}", tool.name, tool.description, tool.parameters, tool.metadata.tags);
    assert!(!shown.contains(['\u{202e}', '\u{e006f}']), "{shown}");
    assert_eq!(tool.name.as_str(), "t-read");
    assert_eq!(tool.parameters["properties"]["q"]["properties"]["n"]["description"], "Plain.");
    let issues: Vec<String> = toolset.issues().iter().map(ToString::to_string).collect();
    assert!(issues.iter().all(|issue| issue.contains("invisible characters")), "{issues:?}");
    assert_eq!(issues.len(), 4, "{issues:?}");
}

#[test]
fn credentials_and_own_headers_are_no_arguments() {
    let header =
        |name: &str| json!({"name": name, "in": "header", "required": true, "schema": {"type": "string"}});
    let names = ["Authorization", "Host", "Cookie", "Content-Length", "content-type", "X-Api-Key", "X-Trace"];
    let document = json!({"openapi": "3.1.0", "paths": {"/a": {"get": {
        "operationId": "a", "parameters": names.map(header),
    }}}, "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-API-Key"}}}});
    let tool = toolset(&document).tools().remove(0);
    assert_eq!(tool.parameters["properties"], json!({"X-Trace": {"type": "string"}}));
    assert_eq!(tool.parameters["required"], json!(["X-Trace"]));
}

#[test]
fn verbose_descriptions_end_with_a_sentence_that_fits() {
    let sentence = "This endpoint lists the repositories of an organization that the user can see. ";
    let document = json!({"openapi": "3.1.0", "paths": {"/a": {"get": {
        "operationId": "a", "summary": "List repositories",
        "description": format!("<p>See <a href=\"https://x.example\">[the docs](https://x.example)</a>.</p>{}", sentence.repeat(100)),
    }}}});
    let description = toolset(&document).tools().remove(0).description;
    assert!(description.starts_with("List repositories.\nSee the docs.\n"), "{description}");
    assert!(description.ends_with("can see.") && description.chars().count() <= 1_024, "{description}");
    assert!(!description.contains("https://"));
}

/// Returns a document with a chain of references in one position, from `0` to `1` and so on.
fn chained(position: &str, length: usize) -> Value {
    let next = |folder: &str, index: usize| json!({"$ref": format!("#/components/{folder}/{index}")});
    let chain = |folder: &str, link: &dyn Fn(Value) -> Value, last: Value| {
        let mut chain: Value =
            (0..length).map(|index| (index.to_string(), link(next(folder, index + 1)))).collect();
        chain[length.to_string()] = last;
        chain
    };
    let of_schema: fn(Value) -> Value = match position {
        "items" => |next| json!({"type": "array", "items": next}),
        "member" => |next| json!({"type": "object", "properties": {"a": next}}),
        "any member" => |next| json!({"type": "object", "additionalProperties": next}),
        "allOf" => |next| json!({"allOf": [next]}),
        "anyOf" => |next| json!({"anyOf": [{"type": "array", "items": next}, {"type": "null"}]}),
        "nested" => |next| (0..50).fold(next, |items, _| json!({"type": "array", "items": items})),
        _ => |next| next,
    };
    let same = |next: Value| next;
    let text = json!({"type": "string"});
    let parameter = json!({"name": "a", "in": "query", "schema": text});
    let content = json!({"application/json": {"schema": next("schemas", 0)}});
    let operation = json!({"operationId": "run", "parameters": [next("parameters", 0)],
        "requestBody": next("requestBodies", 0), "responses": {"200": next("responses", 0)}});
    let mut document = json!({"openapi": "3.1.0", "paths": {"/a": next("pathItems", 0)}, "components": {
        "pathItems": {"0": {"post": operation}},
        "parameters": {"0": parameter},
        "requestBodies": {"0": {"content": content}},
        "responses": {"0": {"description": "", "content": content}},
        "schemas": {"0": text},
    }});
    let folder = match position {
        "pathItems" | "parameters" | "requestBodies" | "responses" => position,
        _ => "schemas",
    };
    let last = document["components"][folder]["0"].clone();
    document["components"][folder] =
        if folder == "schemas" { chain(folder, &of_schema, last) } else { chain(folder, &same, last) };
    document
}

#[test]
fn chains_of_references_are_read_or_refused_with_their_place() {
    let references = ["pathItems", "parameters", "requestBodies", "responses", "$ref"];
    let schemas = ["items", "member", "any member", "allOf", "anyOf", "nested"];
    let read = move || {
        for position in references.into_iter().chain(schemas) {
            for length in [1, 24, 40, 125, 128, 600] {
                let document = chained(position, length);
                let builder = OpenApiTools::builder().output_schemas();
                let limits = OpenApiLimits::default().with_schema_bytes(1 << 20);
                let toolset = builder.document_limits(limits).read_document(&document.to_string()).unwrap();
                let issues: Vec<String> = toolset.issues().iter().map(ToString::to_string).collect();
                let is_refused = issues.iter().any(|issue| issue.contains("more than 127 in a row"));
                assert_eq!(
                    is_refused,
                    references.contains(&position) && length > 125,
                    "{position} {length} {issues:?}"
                );
                let mut registry = toolkit_ai::ToolRegistry::new();
                registry.register_provider(toolset).unwrap();
                drop(registry.definitions(toolkit_ai::llm::ApiFormat::Gemini));
            }
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(read).unwrap().join().unwrap();
}
