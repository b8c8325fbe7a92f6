//! The forms of results.

use super::client::{Client, text};
use serde_json::json;
use toolkit_ai::output::{Resource, Truncation};
use toolkit_ai::{ClosureTool, Content, ErrorKind, Media, ToolError, ToolOutput, ToolRegistry, tool, tools};
use toolkit_mcp::server::McpServer;

/// Returns text with a message.
#[tool]
fn plain() -> ToolOutput {
    ToolOutput::text("first").with_content(Content::text("second")).with_message("explained")
}

/// Returns all kinds of media.
#[tool]
fn media() -> Vec<Content> {
    vec![
        Media::new("image/png", b"png").into(),
        Media::new("audio/wav", b"wav").into(),
        Media::new("text/csv", "a,b").with_name("table.csv").into(),
        Media::new("application/pdf", b"pdf").into(),
        Media::from_url("image/png", "https://example.com/a.png").with_name("a.png").into(),
        Media::from_url("audio/wav", "https://example.com/b.wav").into(),
        Content::Resource(Box::new(Resource {
            uri: "file:///notes.txt".to_owned(),
            name: "notes".to_owned(),
            media_type: Some("text/plain".to_owned()),
        })),
    ]
}

/// Returns a text for the model and a value for programs.
#[tool]
fn structured() -> ToolOutput {
    ToolOutput::text("two rows").with_structured(json!({"rows": 2}))
}

/// Fails.
#[tool]
fn fail(kind: String) -> Result<String, ToolError> {
    match kind.as_str() {
        "retry" => Err(ToolError::retry("use another city")),
        "kind" => Err(ToolError::new(ErrorKind::RateLimited, "later")),
        "panic" => panic!("secret text"),
        other => Err(ToolError::failed(other)),
    }
}

/// Returns a long text.
#[tool]
fn long() -> String {
    "0123456789".repeat(100)
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Rows {
    rows: Vec<u32>,
}

/// Returns many rows.
#[tool]
fn rows() -> Rows {
    Rows { rows: (0..500).collect() }
}

fn server() -> McpServer {
    let registry = ToolRegistry::from_tools(tools![plain, media, structured, fail, long, rows]);
    McpServer::new(registry.expect("the names are legal")).expect("complete")
}

#[tokio::test]
async fn contents_become_blocks() {
    let mut client = Client::session(server(), json!({})).await;
    let result = client.call("plain", json!({})).await.expect("a result");
    let expected = json!({
        "content": [
            {"type": "text", "text": "first"},
            {"type": "text", "text": "second"},
            {"type": "text", "text": "explained"},
        ],
        "isError": false,
    });
    assert_eq!(result, expected);
    let result = client.call("media", json!({})).await.expect("a result");
    let expected = json!([
        {"type": "image", "data": "cG5n", "mimeType": "image/png"},
        {"type": "audio", "data": "d2F2", "mimeType": "audio/wav"},
        {
            "type": "resource",
            "resource": {"uri": "attachment:///table.csv", "mimeType": "text/csv", "text": "a,b"},
        },
        {
            "type": "resource",
            "resource": {"uri": "attachment:///4", "mimeType": "application/pdf", "blob": "cGRm"},
        },
        {"type": "resource_link", "uri": "https://example.com/a.png", "name": "a.png", "mimeType": "image/png"},
        {
            "type": "resource_link",
            "uri": "https://example.com/b.wav",
            "name": "attachment 6",
            "mimeType": "audio/wav",
        },
        {"type": "resource_link", "uri": "file:///notes.txt", "name": "notes", "mimeType": "text/plain"},
    ]);
    assert_eq!(result["content"], expected);
    let result = client.call("structured", json!({})).await.expect("a result");
    assert_eq!((text(&result), &result["structuredContent"]), ("two rows", &json!({"rows": 2})));
}

#[tokio::test]
async fn failures_are_results_that_the_model_reads() {
    let mut client = Client::session(server(), json!({})).await;
    for (kind, message) in [
        ("retry", "Try again: use another city"),
        ("kind", "later"),
        ("panic", "Tool `fail` panicked"),
        ("x", "Error running tool: x"),
    ] {
        let result = client.call("fail", json!({"kind": kind})).await.expect("a result");
        assert_eq!((&result["isError"], text(&result)), (&json!(true), message));
    }
    let result = client.call("fail", json!({"kind": 5, "more": 1})).await.expect("a result");
    assert_eq!(result["isError"], true);
    assert!(text(&result).starts_with("Error validating JSON arguments"), "{result}");
}

#[tokio::test]
async fn an_unknown_tool_is_a_protocol_error_and_a_disabled_tool_a_failure() {
    let mut registry = ToolRegistry::from_tools(tools![plain, fail]).expect("the names are legal");
    registry.disable("plain", "it is under repair").expect("it is known");
    let mut client = Client::session(McpServer::new(registry).expect("complete"), json!({})).await;
    let error = client.call("fial", json!({})).await.expect_err("no such tool");
    assert_eq!(error, json!({"code": -32602, "message": "Tool `fial` not found; did you mean `fail`?"}));
    let result = client.call("plain", json!({})).await.expect("a result");
    assert_eq!(result["isError"], true);
    assert_eq!(text(&result), "Tool `plain` is disabled: it is under repair");
}

#[tokio::test]
async fn a_truncated_result_links_to_its_full_text() {
    let mut client = Client::session(server().with_truncation(Truncation::new(200)), json!({})).await;
    let result = client.call("long", json!({})).await.expect("a result");
    let link = &result["content"][1];
    assert_eq!(
        (&link["type"], &link["name"], &link["mimeType"], &link["size"]),
        (&json!("resource_link"), &json!("long-output"), &json!("text/plain"), &json!(1_000)),
    );
    let uri = link["uri"].as_str().expect("a URI");
    assert!(text(&result).contains(&format!("full output: resource {uri}")), "{result}");
    let read = client.request("resources/read", json!({"uri": uri})).await.expect("the text");
    let expected = json!({"uri": uri, "mimeType": "text/plain", "text": "0123456789".repeat(100)});
    assert_eq!(read["contents"], json!([expected]));

    let listed = client.request("resources/list", json!({})).await.expect("a list");
    assert_eq!(listed["resources"], json!([]));
    let error =
        client.request("resources/read", json!({"uri": "toolkit://outputs/1"})).await.expect_err("none");
    assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(-32002), &json!("toolkit://outputs/1")));
}

#[tokio::test]
async fn a_result_that_breaks_the_output_schema_of_its_tool_is_an_error() {
    let tool = |name: &str, output: fn() -> ToolOutput| {
        ClosureTool::without_arguments(name, "Counts.", output).expect("legal").with_output::<Rows>()
    };
    let fits = || ToolOutput::text("one row").with_structured(json!({"rows": [1]}));
    let breaks = || ToolOutput::text("one row").with_structured(json!({"rows": ["one"]}));
    let json = || ToolOutput::json(&json!({"lines": []})).expect("JSON");
    let registry = ToolRegistry::from_tools([tool("fits", fits), tool("breaks", breaks), tool("json", json)]);
    let mut client =
        Client::session(McpServer::new(registry.expect("legal")).expect("complete"), json!({})).await;
    let result = client.call("fits", json!({})).await.expect("a result");
    assert_eq!((&result["isError"], &result["structuredContent"]), (&json!(false), &json!({"rows": [1]})));
    for (name, fault) in [
        ("breaks", "`rows[0]`: expected integer from 0 to 4294967295, got string \"one\""),
        ("json", "`rows`: required, but missing; expected array of integer from 0 to 4294967295"),
    ] {
        let result = client.call(name, json!({})).await.expect("a result");
        assert_eq!((&result["isError"], result.get("structuredContent")), (&json!(true), None), "{result}");
        let expected = format!(
            "Error running tool: the output of tool `{name}` does not fit its output schema: {fault}"
        );
        assert_eq!(text(&result), expected);
    }
}

#[tokio::test]
async fn a_truncated_result_keeps_its_structured_content() {
    let mut client = Client::session(server().with_truncation(Truncation::new(200)), json!({})).await;
    let result = client.call("rows", json!({})).await.expect("a result");
    assert!(text(&result).contains("truncated"), "{result}");
    assert_eq!(result["structuredContent"]["rows"].as_array().map(Vec::len), Some(500));
}
