//! What a client sees of a server: filters and scopes.

use super::client::{Client, text};
use serde_json::{Value, json};
use toolkit_ai::{LiveRegistry, ToolName, ToolRegistry, tool, tools};
use toolkit_mcp::server::McpServer;
use toolkit_mcp::server::ServerResource;

/// Lists notes.
#[tool(read_only)]
fn list() -> &'static str {
    "no notes"
}

/// Writes a note.
#[tool(meta(scopes = "notes:read notes:write"))]
fn write(is_long: bool) -> String {
    format!("{is_long}")
}

/// Deletes all notes.
#[tool(meta(scopes = "admin"))]
fn wipe() -> &'static str {
    "gone"
}

fn server() -> McpServer {
    let prompts = ToolRegistry::from_tools(tools![list, wipe]).expect("legal");
    let resources = ToolRegistry::from_tools([
        ServerResource::function("notes://all", list::tool()),
        ServerResource::function("notes://wipe", wipe::tool()),
    ]);
    let server = McpServer::new(ToolRegistry::from_tools(tools![list, write, wipe]).expect("legal"));
    let server = server.expect("complete").with_prompts(prompts).expect("complete");
    let server = server.with_resources(resources.expect("legal")).expect("complete");
    server.with_scopes(|caller| {
        caller.meta("example.com/scope").and_then(Value::as_str).unwrap_or_default().to_owned()
    })
}

async fn request(client: &mut Client, scope: &str, method: &str, mut params: Value) -> Result<Value, Value> {
    params["_meta"] = json!({"example.com/scope": scope});
    client.request(method, params).await
}

#[tokio::test]
async fn lists_show_what_the_scopes_of_the_client_allow() {
    let mut client = Client::stateless(server().with_page_size(2), json!({}));
    for (scope, tools, others) in [
        ("", &["list"][..], 1),
        ("notes:read", &["list"], 1),
        ("notes:write notes:read", &["list", "write"], 1),
        ("admin notes:read", &["list", "wipe"], 2),
    ] {
        let list = request(&mut client, scope, "tools/list", json!({})).await.expect("a list");
        let names = list["tools"]
            .as_array()
            .expect("tools")
            .iter()
            .map(|tool| tool["name"].as_str().expect("a name"));
        assert_eq!(names.collect::<Vec<_>>(), tools, "{scope}");
        assert_eq!((&list["cacheScope"], list.get("nextCursor")), (&json!("private"), None), "{scope}");
        for (method, member) in [("prompts/list", "prompts"), ("resources/list", "resources")] {
            let list = request(&mut client, scope, method, json!({})).await.expect("a list");
            assert_eq!(list[member].as_array().map(Vec::len), Some(others), "{scope} {list}");
        }
    }
}

#[tokio::test]
async fn what_a_client_does_not_see_is_not_found() {
    let mut client = Client::stateless(server(), json!({}));
    for (method, params, message) in [
        ("tools/call", json!({"name": "wipe", "arguments": {}}), "Tool `wipe` not found"),
        ("tools/call", json!({"name": "wip", "arguments": {}}), "Tool `wip` not found"),
        ("prompts/get", json!({"name": "wipe"}), "Prompt `wipe` not found"),
        ("resources/read", json!({"uri": "notes://wipe"}), "Resource `notes://wipe` not found"),
    ] {
        let error = request(&mut client, "notes:read", method, params).await.expect_err(method);
        assert_eq!((&error["code"], &error["message"]), (&json!(-32_602), &json!(message)), "{method}");
    }
    let argument = json!({"name": "is_long", "value": ""});
    let params = json!({"ref": {"type": "ref/prompt", "name": "write"}, "argument": argument});
    for (scope, values) in [("", json!([])), ("notes:read notes:write", json!(["true", "false"]))] {
        let result =
            request(&mut client, scope, "completion/complete", params.clone()).await.expect("values");
        assert_eq!(result["completion"]["values"], values, "{scope}");
    }
    let params = json!({"name": "wipe", "arguments": {}});
    let result = request(&mut client, "admin", "tools/call", params).await.expect("a result");
    assert_eq!(text(&result), "gone");
}

#[tokio::test]
async fn a_tool_is_hidden_if_the_filter_panics() {
    let server = server().with_filter(|_, tool| tool.name.as_str() != "list" || panic!("no such user"));
    let mut client = Client::stateless(server, json!({}));
    let list = request(&mut client, "admin", "tools/list", json!({})).await.expect("a list");
    let names: Vec<_> = list["tools"].as_array().expect("tools").iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["wipe"]);
}

/// A filter may take time or change tools: what it has seen runs.
#[tokio::test]
async fn a_call_runs_the_tool_that_its_filter_has_seen() {
    let live = LiveRegistry::new(ToolRegistry::from_tools(tools![list]).expect("legal")).expect("complete");
    let changed = live.clone();
    let server = McpServer::new(&live).expect("complete").with_filter(move |_, tool| {
        let is_seen = tool.metadata.read_only == Some(true);
        let change = changed.change(|registry| {
            registry.unregister("list")?;
            registry.register(wipe::tool().with_name(ToolName::new("list").expect("legal")))
        });
        change.expect("it changes");
        is_seen
    });
    let mut client = Client::stateless(server, json!({}));
    let answer = client.request("tools/call", json!({"name": "list", "arguments": {}})).await;
    assert_eq!(text(&answer.expect("a result")), "no notes");
}
