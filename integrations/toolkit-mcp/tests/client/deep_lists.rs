//! Servers with too deep tools, over streams and HTTP.

use super::bare::tool;
use super::raw::{Behaviour, Client, Raw};
use super::within;
use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use toolkit_ai::ToolProvider;
use toolkit_mcp::client::{McpClient, McpEndpoint, McpProtocol, McpUrl, ToolIssueKind};

struct Listed(fn() -> Value);

impl Behaviour for Listed {
    fn list(&self, _: &Value) -> Value {
        (self.0)()
    }

    fn call(&self, _: Value, _: &Value, _: &Client) {}
}

/// Tools with a deep value in every member that holds values.
fn nested_tools() -> Value {
    let mut tools = vec![tool("first", json!({"type": "object"}))];
    for levels in [60, 64, 115, 117, 118, 119, 120, 121, 122, 123, 124, 125, 130, 300] {
        let nested = (0..levels).fold(json!([]), |inside, _| json!([inside]));
        for member in ["inputSchema", "outputSchema", "annotations", "_meta"] {
            let mut tool = tool(&format!("{member}_{levels}"), json!({"type": "object"}));
            tool[member] = json!({"type": "object", "x-\"[{": nested});
            tools.push(tool);
        }
    }
    tools.push(tool("last", json!({"type": "object"})));
    json!({ "tools": tools })
}

#[derive(Clone, Copy)]
enum Form {
    JsonBody,
    Event,
}

impl Form {
    async fn endpoint(self, list: fn() -> Value) -> McpEndpoint {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let answer = post(async move |body: String| self.answer(&serde_json::from_str(&body).unwrap(), list));
        let router = Router::new().route("/mcp", answer);
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        McpUrl::new(url).into()
    }

    fn answer(self, request: &Value, list: fn() -> Value) -> Response {
        let result = match request["method"].as_str().unwrap() {
            "initialize" => json!({
                "protocolVersion": "2025-11-25", "serverInfo": {"name": "nested", "version": "1"},
                "capabilities": {"tools": {}},
            }),
            "tools/list" => list(),
            _ => return StatusCode::ACCEPTED.into_response(),
        };
        let message = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
        match self {
            Self::JsonBody => ([("content-type", "application/json")], message.to_string()),
            Self::Event => ([("content-type", "text/event-stream")], format!("data: {message}\n\n")),
        }
        .into_response()
    }
}

/// Returns endpoints of servers with a list, by its way.
async fn ways(list: fn() -> Value) -> [(&'static str, McpEndpoint); 3] {
    [
        ("stream", Raw::new(Listed(list)).endpoint()),
        ("JSON body", Form::JsonBody.endpoint(list).await),
        ("event", Form::Event.endpoint(list).await),
    ]
}

#[tokio::test]
async fn the_entry_of_a_tool_arrives_as_the_server_sent_it() {
    fn list() -> Value {
        let mut tools = ["known", "hinted", "task"].map(|name| tool(name, json!({"type": "object"})));
        tools[1]["x-hint"] = json!({"icon": [1]});
        tools[1]["execution"] = json!({"taskSupport": "optional"});
        tools[1]["annotations"] = json!({"futureHint": true, "readOnlyHint": true});
        tools[2]["execution"] = json!({"taskSupport": "required"});
        json!({ "tools": tools })
    }
    for (way, endpoint) in ways(list).await {
        let builder = McpClient::builder(endpoint).namespace("n").protocol(McpProtocol::Handshake);
        let client = within(builder.connect()).await.expect(way);
        let issues: Vec<_> = client.issues().into_iter().map(|issue| (issue.tool, issue.kind)).collect();
        assert_eq!(issues, [("task".to_owned(), ToolIssueKind::Task)], "{way}");
        let expected = list();
        for (index, name) in ["n-known", "n-hinted"].into_iter().enumerate() {
            assert_eq!(client.listed_tool(name).as_ref(), Some(&expected["tools"][index]), "{way}");
        }
        assert_eq!(client.listed_tool("n-task"), None);
        let hinted = client.tools().into_iter().find(|tool| tool.name.as_str() == "n-hinted").expect(way);
        assert_eq!((hinted.metadata.read_only, hinted.metadata.meta.len()), (Some(true), 0), "{way}");
        assert_eq!(hinted.parameters, json!({"type": "object"}), "{way}");
    }
}

#[tokio::test]
async fn a_tool_that_is_nested_too_deep_is_left_out_alone() {
    for (way, endpoint) in ways(nested_tools).await {
        let builder = McpClient::builder(endpoint).protocol(McpProtocol::Handshake);
        let client = within(builder.connect()).await.expect(way);
        let names: Vec<String> = client.tools().iter().map(|tool| tool.name.to_string()).collect();
        let deepest: Vec<&str> = names.iter().filter_map(|name| name.strip_prefix("_meta_")).collect();
        assert_eq!(deepest, ["115", "117", "60", "64"], "{way}");
        assert!(
            names.contains(&"first".to_owned()) && names.contains(&"last".to_owned()),
            "{way}: {names:?}"
        );
        assert!(!names.contains(&"inputSchema_64".to_owned()), "{way}: {names:?}");
        // Unknown members of annotations are not read.
        assert!(names.contains(&"annotations_300".to_owned()), "{way}: {names:?}");
        let issues = client.issues();
        for (name, message) in [
            ("inputSchema_64", "deeper than 64 levels, and was left out"),
            ("inputSchema_117", "deeper than 64 levels, and was left out"),
            ("outputSchema_117", "was registered without output schema"),
            ("inputSchema_120", "its entry is nested deeper than 120 levels"),
            ("_meta_123", "its entry is nested deeper than 120 levels"),
            ("_meta_125", "its entry is nested deeper than 120 levels"),
            ("outputSchema_130", "its entry is nested deeper than 120 levels"),
            ("inputSchema_300", "its entry is nested deeper than 120 levels"),
        ] {
            let issue = issues.iter().find(|issue| issue.tool == name).expect(name);
            assert!(issue.message.contains(message), "{way}: {issue}");
        }
    }
}
