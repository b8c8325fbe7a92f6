//! The document and the page of a served registry.

use crate::served::{add, both, chart, greet, registry, send, weather};
use http::Request;
use http_body_util::{BodyExt, Empty};
use serde_json::{Value, json};
use toolkit_ai::name::Separator;
use toolkit_ai::output::JsonText;
use toolkit_ai::prelude::*;
use toolkit_ai::{ClosureTool, Media};
use toolkit_openapi::server::{OpenApiServer, openapi_document};

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[expect(dead_code, reason = "only the schema is of interest")]
struct Folder {
    /// The name.
    name: String,
    inner: Vec<Self>,
}

/// Archive folders.
#[tool(title = "Archive", input_examples = [serde_json::json!({"root": {"name": "a", "inner": []}})])]
fn archive(root: Folder) -> i64 {
    drop(root);
    1
}

/// A <script>alert(1)</script> & "more".
#[tool]
fn marked(
    /// A <b>value</b>
    text: Option<String>,
    #[param(default = 2, range = 1..=5)] times: usize,
) -> String {
    text.unwrap_or_default().repeat(times)
}

fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[test]
fn each_tool_is_an_operation() {
    let document = openapi_document(&registry());
    assert_eq!(document["openapi"], "3.1.1");
    assert_eq!(document["info"], json!({"title": "Tools", "version": "1.0.0"}));
    assert_eq!(document.get("security"), None);
    let expected = json!({"post": {
        "operationId": "add",
        "description": "Add two numbers.",
        "requestBody": {
            "required": true,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/add.arguments"}}},
        },
        "responses": {
            "200": {
                "description": "The result of the call.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/add.result"}}},
            },
            "422": {"$ref": "#/components/responses/Refused"},
            "default": {"$ref": "#/components/responses/Problem"},
        },
    }});
    assert_eq!(document["paths"]["/tools/add"], expected);
    let arguments = &document["components"]["schemas"]["add.arguments"];
    assert_eq!(arguments["required"], json!(["a", "b"]));
    assert_eq!(arguments["properties"]["b"], json!({"type": "integer", "minimum": 0, "maximum": 10}));
    assert_eq!(document["components"]["schemas"]["add.result"]["type"], "integer");
    assert_eq!(document["paths"]["/tools/greet"]["post"]["requestBody"]["required"], false);
    assert_eq!(document["paths"]["/tools/chart"]["post"].get("requestBody"), None);
}

#[tool]
fn word() -> &'static str {
    "word"
}

#[tool]
fn letter() -> Result<char, ToolError> {
    Ok('x')
}

#[tool]
async fn path() -> std::path::PathBuf {
    std::path::PathBuf::from("/srv")
}

#[tool]
fn perhaps(has_text: bool) -> Option<String> {
    has_text.then(|| "text".to_owned())
}

#[tool]
fn nothing() {}

#[tool]
fn drawn() -> Result<Media, ToolError> {
    Ok(Media::new("image/svg+xml", b"<svg/>"))
}

#[tool]
fn written() -> JsonText {
    JsonText::new(&[1]).unwrap()
}

#[tokio::test]
async fn an_operation_has_the_one_media_type_that_the_return_type_tells() {
    let mut registry = ToolRegistry::from_tools(tools![
        add, weather, greet, chart, both, word, letter, path, perhaps, nothing, drawn, written
    ])
    .unwrap();
    registry.register(ClosureTool::without_arguments("closure", "", String::new).unwrap()).unwrap();
    registry
        .register(ClosureTool::without_arguments("picture", "", || Media::new("a/b", b"")).unwrap())
        .unwrap();
    let later = ClosureTool::without_arguments("later", "", || async { Ok::<_, ToolError>(1) });
    registry.register(later.unwrap()).unwrap();
    let server = OpenApiServer::new(registry).unwrap();
    let document: Value = serde_json::from_str(&server.document()).unwrap();
    let (json, text, media) =
        (["application/json"].as_slice(), ["text/plain"].as_slice(), ["*/*"].as_slice());
    let all = ["text/plain", "application/json", "*/*"].as_slice();
    for (tool, arguments, expected) in [
        ("add", r#"{"a": 1, "b": 1}"#, json),
        ("weather", r#"{"city": "Rome"}"#, json),
        ("written", "", json),
        ("later", "", json),
        ("greet", "", text),
        ("word", "", text),
        ("letter", "", text),
        ("path", "", text),
        ("nothing", "", text),
        ("closure", "", text),
        ("chart", "", media),
        ("drawn", "", media),
        ("picture", "", media),
        ("both", "", all),
        ("perhaps", r#"{"has_text": true}"#, all),
        ("perhaps", r#"{"has_text": false}"#, all),
    ] {
        let content = &document["paths"][format!("/tools/{tool}")]["post"]["responses"]["200"]["content"];
        let documented: Vec<&str> = content.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(documented, expected, "{tool}");
        let reply = send(server.clone(), &format!("POST /tools/{tool}"), &[], arguments).await;
        let sent = reply.header("content-type").split(';').next().unwrap().to_owned();
        assert_eq!(reply.status, 200, "{tool}");
        assert!(documented.contains(&sent.as_str()) || documented.contains(&"*/*"), "{tool} {sent}");
        if documented == media {
            assert!(sent.contains("image/") || sent == "a/b", "{tool} {sent}");
        }
    }
}

#[test]
fn every_reference_of_the_document_has_its_target() {
    let mut registry = registry();
    let nested = toolkit_ai::ToolName::qualified("files", "archive", Separator::Dash).unwrap();
    registry.register(archive::tool().in_namespace("files").unwrap()).unwrap();
    let document = openapi_document(&registry);
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(found.len() > 20, "{found:?}");
    for target in found {
        assert!(document.pointer(target.strip_prefix('#').unwrap()).is_some(), "{target}");
    }
    let operation = &document["paths"][format!("/tools/{nested}")]["post"];
    assert_eq!(operation["summary"], "Archive");
    assert_eq!(operation["tags"], json!(["files"]));
    assert_eq!(document["tags"], json!([{"name": "files"}]));
    let example = &operation["requestBody"]["content"]["application/json"]["examples"]["example1"]["value"];
    assert_eq!(example["root"]["name"], "a");
    // A recursive type's definition is a schema of the document, with a reference to itself.
    let schemas = &document["components"]["schemas"];
    let inner = |folder: &Value| folder["properties"]["inner"]["items"]["$ref"].as_str().unwrap().to_owned();
    let target = format!("#/components/schemas/{nested}.Folder_arguments");
    assert_eq!(inner(&schemas[format!("{nested}.arguments")]["properties"]["root"]), target);
    assert_eq!(inner(&schemas[format!("{nested}.Folder_arguments")]), target);
}

#[test]
fn the_settings_of_a_server_are_in_its_document() {
    let registry = ToolRegistry::from_tools(tools![add, chart, greet]).unwrap();
    let server = OpenApiServer::new(registry).unwrap();
    let server = server.with_name("Sums", "2.0.0").with_description("Adds.").with_path("api").unwrap();
    let document: Value = serde_json::from_str(&server.with_bearer_token("secret").document()).unwrap();
    assert_eq!(document["info"], json!({"title": "Sums", "version": "2.0.0", "description": "Adds."}));
    assert_eq!(document["servers"], json!([{"url": "/api"}]));
    assert_eq!(document["security"], json!([{"bearer": []}]));
    let scheme = json!({"bearer": {"type": "http", "scheme": "bearer"}});
    assert_eq!(document["components"]["securitySchemes"], scheme);
    assert!(!document.to_string().contains("secret"));
}

#[test]
fn a_path_that_no_request_can_have_is_a_build_error() {
    let server = || OpenApiServer::new(ToolRegistry::from_tools(tools![add]).unwrap()).unwrap();
    for path in [
        "{",
        "}",
        "{}",
        ":x",
        "*x",
        "/a/{*rest}",
        "/a/:b",
        "a/*",
        "a b",
        "é",
        "a?b",
        "a#b",
        "\"",
        "..",
        "a/./b",
        "%",
        "%2",
        "%zz",
        "a\\b",
        "a\r\nb",
    ] {
        let error = server().with_path(path).unwrap_err().to_string();
        assert!(error.contains("cannot be served: write letters, digits and "), "{path}: {error}");
    }
    for path in
        ["", "/", "//", "a", "/a/b/", "a//b", "v1.0", "~a", "a:b", "a*b", "%7Bx%7D", "...", "a=b;c,d!$&'()+@"]
    {
        let server = server().with_path(path).unwrap();
        #[cfg(feature = "axum-08")]
        let _: axum::Router = server.clone().into_router();
        let _ = server.into_service();
    }
}

#[tokio::test]
async fn the_page_needs_nothing_else_and_escapes_what_it_shows() {
    let registry = ToolRegistry::from_tools(tools![marked, archive]).unwrap();
    let server = OpenApiServer::new(registry).unwrap().with_name("<i>Tools</i>", "1");
    let request = Request::get("/").header("host", "localhost").body(Empty::<&[u8]>::new());
    let response = tower::ServiceExt::oneshot(server.into_service(), request.unwrap()).await.unwrap();
    let policy = response.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    let page = response.into_body().collect().await.unwrap().to_bytes();
    let page = String::from_utf8(page.to_vec()).unwrap();
    for text in [
        "<h1>&lt;i&gt;Tools&lt;/i&gt; 1</h1>",
        "<code>POST /tools/marked</code>",
        "A &lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;more&quot;.",
        "<tr><td><code>text</code><td>string, optional<td>A &lt;b&gt;value&lt;/b&gt;</tr>",
        "<td>integer from 1 to 5, default 2, optional<td>",
        "<h3>Archive</h3>",
    ] {
        assert!(page.contains(text), "{text}\n{page}");
    }
    for text in ["<script", "src=", "http:", "https:", "javascript:"] {
        assert!(!page.contains(text), "{text}");
    }
}
