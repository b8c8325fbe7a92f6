//! What other readers lose: operations by reference, unions of texts in forms, fragments, encodings.

use crate::recorder::{Recorder, call_with, document, json_answer, registry};
use serde_json::{Value, json};
use toolkit_ai::{State, ToolProvider};
use toolkit_openapi::client::{Attachments, Namespaces, OpenApiTools};

fn text(name: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn an_operation_by_reference_is_read_or_an_issue() {
    let builder = || OpenApiTools::builder().namespaces(Namespaces::None);
    let text = text("operation_references.json");
    let toolset = builder().read_document(&text).unwrap();
    assert!(toolset.is_empty());
    let issues: Vec<String> = toolset.issues().iter().map(ToString::to_string).collect();
    let lost = "is in another document, which is never fetched; add it with `document`";
    assert_eq!(
        issues,
        [
            format!("`/paths/~1a/delete`: the operation was left out: `ops/d.json` {lost}"),
            format!("`/paths/~1a/post`: the operation was left out: `ops/a.json` {lost}"),
            format!("`/paths/~1b`: the path was left out: `items/b.json` {lost}"),
            format!("`/paths/~1c/get/parameters/0`: `c` was left out: `params/p.json` {lost}"),
        ]
    );
    // References in another document begin there.
    let post = json!({"operationId": "a", "parameters": [{"$ref": "../params/p.json"}],
        "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/x-body"}}}},
        "x-body": {"type": "object", "properties": {"size": {"type": "string"}}}});
    let parameter = json!({"name": "tag", "in": "query", "required": true, "schema": {"type": "string"}});
    let with_documents = builder()
        .document("ops/a.json", post.to_string())
        .document("ops/d.json", json!({"$ref": "a.json"}).to_string())
        .document("items/b.json", json!({"get": {"$ref": "#/put"}, "put": {"operationId": "b"}}).to_string())
        .document("params/p.json", parameter.to_string());
    let toolset = with_documents.read_document(&text).unwrap();
    assert_eq!(toolset.issues(), []);
    let arguments = |tool: &toolkit_ai::ToolDefinition| {
        let properties = tool.parameters["properties"].as_object().unwrap();
        (
            tool.name.as_str().split('_').next().unwrap().to_owned(),
            properties.keys().cloned().collect::<Vec<_>>(),
        )
    };
    let tools: Vec<_> = toolset.tools().iter().map(arguments).collect();
    let both = || vec!["tag".to_owned(), "size".to_owned()];
    let expected =
        [("a", both()), ("a", both()), ("b", vec![]), ("b", vec![]), ("c", vec!["tag".to_owned()])];
    assert_eq!(tools, expected.map(|(name, arguments)| (name.to_owned(), arguments)));
}

#[test]
fn what_is_no_operation_behind_a_reference_is_an_issue() {
    for (reference, reason) in [
        ("#/nowhere", "the operation was left out: there is no `#/nowhere`"),
        (
            "#/paths/~1a/get",
            "the operation was left out: the references at `/paths/~1a/get` lead back to themselves, or are more than 127 in a row",
        ),
        ("#/info/title", "was left out: an operation is an object"),
    ] {
        let document = json!({"openapi": "3.1.0", "info": {"title": "t", "version": "1"},
            "paths": {"/a": {"get": {"$ref": reference}}}});
        let toolset = OpenApiTools::from_document(&document.to_string()).unwrap();
        assert!(toolset.is_empty() && toolset.issues().len() == 1, "{:?}", toolset.issues());
        assert_eq!(toolset.issues()[0].message, reason);
    }
    let parameters = json!({"operationId": "call", "parameters": {"$ref": "#/x-parameters"}});
    let document = json!({"openapi": "3.1.0", "paths": {"/a": {"get": parameters}}});
    let toolset = OpenApiTools::from_document(&document.to_string()).unwrap();
    assert_eq!(toolset.issues()[0].message, "`call` was left out: parameters are a list");
}

#[tokio::test]
async fn a_form_is_written_by_the_values_of_the_call() {
    let service = Recorder::start(|_, _| json_answer(200, &json!({}))).await;
    let toolset = service.builder().read_document(&text("form_unions.json")).unwrap();
    assert_eq!(toolset.issues(), []);
    let tools = toolset.registry().unwrap();
    let arguments =
        json!({"plain": "p", "any": "a", "en": "x", "all": "z", "ref": "r", "nul": "n", "one": "o"});
    tools.call("m", &arguments.to_string()).await.unwrap();
    let part = |(name, value): (&str, &str)| {
        format!("Content-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    let parts =
        [("plain", "p"), ("any", "a"), ("en", "x"), ("all", "z"), ("ref", "r"), ("nul", "n"), ("one", "o")];
    let body = service.requests()[0].body.clone();
    for (name, value) in parts {
        assert!(body.contains(&part((name, value))), "{name}: {body}");
    }
    let arguments = json!({"any": "a", "en": "x", "obj": {"k": "v"}, "arr": ["1", "2"]});
    tools.call("f", &arguments.to_string()).await.unwrap();
    assert_eq!(service.requests()[1].body, "any=a&en=x&obj=%7B%22k%22%3A%22v%22%7D&arr=1&arr=2");
    // A path's fragment is not sent.
    tools.call("h", "{}").await.unwrap();
    assert_eq!(service.requests()[2].line, "GET /h");
    // A foreign schema's encoding is a remark.
    let picture = "data:image/png;base64,iVBORw0KGgo=";
    tools.call("d", &json!({"av": picture}).to_string()).await.unwrap();
    assert_eq!(service.requests()[3].body, json!({"av": picture}).to_string());
}

#[tokio::test]
async fn a_file_may_be_one_of_several_forms_of_a_member() {
    let service = Recorder::start(|_, _| json_answer(200, &json!({}))).await;
    let file = json!({"type": "string", "format": "binary"});
    let nested = json!({"anyOf": [file, {"type": "array", "items": file}, {"type": "null"}]});
    let recursive = json!({"type": "array", "items": {"$ref": "#/components/schemas/Endless"}});
    let properties = json!({"image": nested, "mask": {"allOf": [file]}, "text": {"anyOf": [file, {"type": "integer"}]},
        "endless": {"$ref": "#/components/schemas/Endless"}});
    let schema = json!({"type": "object", "properties": properties});
    let body = json!({"required": true, "content": {"multipart/form-data": {"schema": schema}}});
    let mut document = document("post", "/", json!({"requestBody": body}));
    document["components"] = json!({"schemas": {"Endless": recursive}});
    let tools = registry(service.builder(), document);
    let state = || State::new().with(Attachments::new().with("cat.png", "image/png", "pixels"));
    for (arguments, parts) in [
        (json!({"image": "cat.png", "mask": "aGk="}), vec!["pixels", "hi"]),
        (json!({"image": ["cat.png", "aGk="], "text": "aGk="}), vec!["pixels", "hi", "aGk="]),
    ] {
        call_with(&tools, arguments, state()).await.unwrap();
        let body = service.requests().pop().unwrap().body;
        let contents: Vec<&str> =
            body.split("\r\n\r\n").skip(1).map(|part| part.split("\r\n").next().unwrap()).collect();
        assert_eq!(contents, parts, "{body}");
    }
}

#[tokio::test]
async fn a_server_with_a_query_or_a_fragment_gets_no_request() {
    for url in ["http://127.0.0.1:1/v1?a=b", "http://127.0.0.1:1/v1#a"] {
        let mut document: Value = document("get", "/", json!({}));
        document["servers"] = json!([{"url": url}]);
        let builder = OpenApiTools::builder().namespaces(Namespaces::None);
        let tools = builder.read_document(&document.to_string()).unwrap().registry().unwrap();
        let error = tools.call("call", "{}").await.unwrap_err();
        assert_eq!(error.details(), Some("it has a query or a fragment"), "{error}");
    }
}
