//! The handshake and the list of tools.

use super::client::{Client, STATELESS, text};
use serde_json::{Value, json};
use toolkit_ai::name::NameRule;
use toolkit_ai::{ClosureTool, LiveRegistry, ToolOutput, ToolRegistry, tool, tools};
use toolkit_mcp::server::McpServer;

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Celsius,
    Fahrenheit,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Weather {
    degrees: i32,
}

/// Tells the weather.
#[tool(
    name = "get.weather",
    title = "Weather",
    read_only,
    open_world,
    icons("https://example.com/sun.png"),
    meta(cost = 5)
)]
fn weather(city: String, unit: Option<Unit>) -> Weather {
    let _ = (city, unit);
    Weather { degrees: 21 }
}

/// Adds.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Does nothing.
#[tool(destructive = false, idempotent)]
fn nothing() {}

/// Switches a lamp.
#[tool]
fn switch(on: bool, dimmed: Option<bool>, rooms: Vec<Unit>) {
    let _ = (on, dimmed, rooms);
}

fn registry() -> ToolRegistry {
    let own = nothing::tool().map_metadata(|metadata| {
        metadata.with_meta("example.com/cost", 7).with_meta("ui", json!({"resourceUri": "ui://a"}))
    });
    let mut registry = ToolRegistry::from_tools(tools![weather, add]).expect("the names are legal");
    registry.register(own).expect("another name");
    registry
}

#[tokio::test]
async fn a_session_begins_with_name_version_instructions_and_capabilities() {
    let server = McpServer::new(registry())
        .expect("complete")
        .with_name("weather station", "3.2.1")
        .with_title("Weather Station")
        .with_instructions("Cities are in English.");
    let mut client = Client::connect(server);
    let result = client.initialize(json!({})).await;
    let expected = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {"logging": {}, "completions": {}, "tools": {}},
        "serverInfo": {"name": "weather station", "title": "Weather Station", "version": "3.2.1"},
        "instructions": "Cities are in English.",
    });
    assert_eq!(result, expected);
    client.close().await.expect("a client may leave");
}

#[tokio::test]
async fn tools_are_listed_with_schemas_annotations_icons_and_published_metadata() {
    let mut client = Client::session(McpServer::new(registry()).expect("complete"), json!({})).await;
    let result = client.request("tools/list", json!({})).await.expect("a list");
    let expected = json!({
        "tools": [
            {
                "name": "add",
                "description": "Adds.",
                "inputSchema": {
                    "type": "object",
                    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                    "required": ["a", "b"],
                    "additionalProperties": false,
                },
                "outputSchema": {
                    "type": "object",
                    "properties": {"result": {"type": "integer"}},
                    "required": ["result"],
                },
            },
            {
                "name": "get.weather",
                "title": "Weather",
                "description": "Tells the weather.",
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        "city": {"type": "string"},
                        "unit": {"anyOf": [{"type": "string", "enum": ["celsius", "fahrenheit"]}, {"type": "null"}]},
                    },
                    "required": ["city"],
                    "additionalProperties": false,
                },
                "outputSchema": {
                    "type": "object",
                    "properties": {"degrees": {"type": "integer", "minimum": i32::MIN, "maximum": i32::MAX}},
                    "required": ["degrees"],
                },
                "annotations": {"title": "Weather", "readOnlyHint": true, "openWorldHint": true},
                "icons": [{"src": "https://example.com/sun.png"}],
                "_meta": {"cost": 5},
            },
            {
                "name": "nothing",
                "description": "Does nothing.",
                "inputSchema": {"type": "object", "properties": {}, "additionalProperties": false},
                "annotations": {"destructiveHint": false, "idempotentHint": true},
                "_meta": {"example.com/cost": 7, "ui": {"resourceUri": "ui://a"}},
            },
        ],
    });
    assert_eq!(result["tools"][1]["inputSchema"]["properties"]["city"], json!({"type": "string"}));
    let mut result = result;
    let mut expected = expected;
    for list in [&mut result, &mut expected] {
        // The schema crate decides the exact form.
        list["tools"][1]["inputSchema"]["properties"]["unit"] = Value::Null;
    }
    assert_eq!(result, expected);
}

#[tokio::test]
async fn an_output_schema_of_another_type_is_listed_since_the_stateless_version() {
    let mut client = Client::stateless(McpServer::new(registry()).expect("complete"), json!({}));
    let result = client.request("tools/list", json!({})).await.expect("a list");
    assert_eq!(result["tools"][0]["outputSchema"], json!({"type": "integer"}));
    assert_eq!(
        (&result["resultType"], &result["ttlMs"], &result["cacheScope"]),
        (&json!("complete"), &json!(300_000), &json!("public"))
    );
    let result = client.call("add", json!({"a": 1, "b": 2})).await.expect("a result");
    assert_eq!(result["structuredContent"], 3);
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Node {
    children: Vec<Self>,
}

#[tokio::test]
async fn an_output_of_another_type_is_wrapped_in_earlier_versions() {
    let nodes = ClosureTool::without_arguments("nodes", "Grows.", || {
        ToolOutput::json(&[Node { children: vec![Node { children: Vec::new() }] }]).expect("JSON")
    });
    let registry =
        ToolRegistry::from_tools([nodes.expect("legal").with_output::<Vec<Node>>()]).expect("legal");
    let mut client = Client::session(McpServer::new(registry).expect("complete"), json!({})).await;
    let list = client.request("tools/list", json!({})).await.expect("a list");
    let nodes = json!({"type": "array", "items": {"$ref": "#/$defs/Node"}});
    let node = json!({"type": "object", "properties": {"children": nodes}, "required": ["children"]});
    let result = json!({"type": "array", "items": node});
    let expected = json!({
        "type": "object", "properties": {"result": result}, "required": ["result"], "$defs": {"Node": node},
    });
    assert_eq!(list["tools"][0]["outputSchema"], expected);
    let result = client.call("nodes", json!({})).await.expect("a result");
    assert_eq!(text(&result), r#"[{"children":[{"children":[]}]}]"#);
    assert_eq!(result["structuredContent"], json!({"result": [{"children": [{"children": []}]}]}));
}

/// Returns the tool list's time to live and cache scope.
async fn lifetime(server: McpServer) -> (Value, Value) {
    let mut client = Client::stateless(server, json!({}));
    let mut result = client.request("tools/list", json!({})).await.expect("a list");
    (result["ttlMs"].take(), result["cacheScope"].take())
}

#[tokio::test]
async fn the_list_of_a_live_registry_has_no_lifetime_unless_it_is_set() {
    let live = LiveRegistry::new(registry()).expect("complete");
    let server = McpServer::new(&live).expect("complete");
    assert_eq!(lifetime(server.clone()).await, (json!(0), json!("public")));
    let minute = std::time::Duration::from_secs(60);
    assert_eq!(lifetime(server.with_list_ttl(minute)).await, (json!(60_000), json!("public")));
    let fixed = McpServer::new(registry()).expect("complete");
    assert_eq!(lifetime(fixed.with_list_ttl(std::time::Duration::ZERO)).await, (json!(0), json!("public")));
}

#[cfg(feature = "server-http")]
#[tokio::test]
async fn the_list_behind_a_token_is_not_for_shared_caches() {
    let server = McpServer::new(registry()).expect("complete").with_bearer_token("secret");
    assert_eq!(lifetime(server).await, (json!(300_000), json!("private")));
}

#[tokio::test]
async fn pages_are_stable_while_tools_come_and_go() {
    let tool = |name: &str| ClosureTool::without_arguments(name, "Works.", || 1).expect("a legal name");
    let names = ["a", "b", "c", "d", "e"];
    let live =
        LiveRegistry::new(ToolRegistry::from_tools(names.map(tool)).expect("legal")).expect("complete");
    let server = McpServer::new(&live).expect("complete").with_page_size(2);
    let mut client = Client::session(server, json!({})).await;
    let listed = |page: &Value| -> Vec<String> {
        let tools = page["tools"].as_array().expect("a list").iter();
        tools.map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
    };

    let page = client.request("tools/list", json!({})).await.expect("a page");
    assert_eq!(listed(&page), ["a", "b"]);
    live.change(|registry| {
        registry.unregister("b")?;
        registry.register(tool("aa"))?;
        registry.register(tool("bb"))
    })
    .expect("it changes");
    let page = client.request("tools/list", json!({"cursor": page["nextCursor"]})).await.expect("a page");
    assert_eq!(listed(&page), ["bb", "c"]);
    let page = client.request("tools/list", json!({"cursor": page["nextCursor"]})).await.expect("a page");
    assert_eq!(listed(&page), ["d", "e"]);
    assert!(page.get("nextCursor").is_none());
    let error = client.request("tools/list", json!({"cursor": "forged"})).await.expect_err("no such cursor");
    assert_eq!(error["code"], -32602);
}

#[tokio::test]
async fn a_change_of_a_live_registry_is_announced_once() {
    let live = LiveRegistry::new(registry()).expect("complete");
    let mut client = Client::session(McpServer::new(&live).expect("complete"), json!({})).await;
    // The session has begun with the answer.
    client.request("ping", json!({})).await.expect("an answer");
    live.change(|registry| {
        registry.unregister("add")?;
        registry.unregister("nothing")
    })
    .expect("it changes");
    client.next("notifications/tools/list_changed").await;
    let result = client.request("tools/list", json!({})).await.expect("a list");
    assert_eq!(result["tools"].as_array().map(Vec::len), Some(1));
    assert!(client.messages.is_empty(), "{:?}", client.messages);
}

#[tokio::test]
async fn a_subscription_of_the_stateless_version_announces_changes() {
    let live = LiveRegistry::new(registry()).expect("complete");
    let mut client = Client::stateless(McpServer::new(&live).expect("complete"), json!({}));
    let id = client.start("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}})).await;
    client.next("notifications/subscriptions/acknowledged").await;
    // The subscription is open when a request after the acknowledgment is answered.
    client.request("tools/list", json!({})).await.expect("a list");
    live.change(|registry| registry.unregister("add")).expect("it changes");
    let message = client.next("notifications/tools/list_changed").await;
    assert_eq!(message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
}

#[tokio::test]
async fn names_follow_the_rule_and_are_found_again() {
    let server = McpServer::new(registry()).expect("complete").with_name_rule(NameRule::DASHES);
    let mut client = Client::session(server, json!({})).await;
    let result = client.request("tools/list", json!({})).await.expect("a list");
    assert_eq!(result["tools"][1]["name"], "get_weather");
    for name in ["get_weather", "get.weather"] {
        let result = client.call(name, json!({"city": "Rome"})).await.expect("a result");
        assert_eq!(result["structuredContent"], json!({"degrees": 21}));
    }
}

#[tokio::test]
async fn parameters_with_known_values_are_completed() {
    let mut registry = registry();
    registry.register(switch::tool()).expect("another name");
    let mut client = Client::session(McpServer::new(registry).expect("complete"), json!({})).await;
    for (tool, argument, typed, expected) in [
        ("switch", "on", "", json!(["true", "false"])),
        ("switch", "on", "F", json!(["false"])),
        ("switch", "dimmed", "t", json!(["true"])),
        ("switch", "rooms", "c", json!(["celsius"])),
        ("get.weather", "unit", "", json!(["celsius", "fahrenheit"])),
        ("get.weather", "unit", "F", json!(["fahrenheit"])),
        ("get.weather", "city", "R", json!([])),
        ("missing", "unit", "", json!([])),
    ] {
        let params = json!({
            "ref": {"type": "ref/prompt", "name": tool},
            "argument": {"name": argument, "value": typed},
        });
        let result = client.request("completion/complete", params).await.expect("a completion");
        assert_eq!(result["completion"]["values"], expected, "{tool} {argument} {typed}");
    }
}

#[tokio::test]
async fn the_stateless_version_discovers_the_server() {
    let server = McpServer::new(registry()).expect("complete").with_name("station", "1.0.0");
    let mut client = Client::stateless(server, json!({}));
    let result = client.request("server/discover", json!({})).await.expect("the server tells about itself");
    let versions = result["supportedVersions"].as_array().expect("a list");
    assert!(versions.contains(&STATELESS.into()) && versions.contains(&"2025-11-25".into()), "{versions:?}");
}

#[tokio::test]
async fn names_that_are_spelled_alike_stay_apart() {
    let names = ["shop.buy", "shop_buy", "shop-buy", "kaufen_straße", "kaufen_strasse", "買う"];
    let tools = names.map(|name| ClosureTool::without_arguments(name, "Works.", move || name.to_owned()));
    let registry = ToolRegistry::from_tools(tools.into_iter().flatten()).expect("legal");
    let count = registry.len();
    for rule in [NameRule::DASHES, NameRule::DASHES.with_max_length(10)] {
        let server = McpServer::new(registry.clone()).expect("complete").with_name_rule(rule);
        let mut client = Client::session(server, json!({})).await;
        let result = client.request("tools/list", json!({})).await.expect("a list");
        let listed: Vec<&str> = result["tools"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|tool| tool["name"].as_str().expect("a name"))
            .collect();
        let distinct: std::collections::BTreeSet<&str> = listed.iter().copied().collect();
        assert_eq!((listed.len(), distinct.len()), (count, count), "{listed:?}");
        let mut called = Vec::new();
        for name in &listed {
            assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)), "{name}");
            called.push(text(&client.call(name, json!({})).await.expect("a result")).to_owned());
        }
        called.sort();
        called.dedup();
        assert_eq!(called.len(), count, "each name leads to its own tool: {called:?}");
    }
}

#[tokio::test]
async fn a_repeated_handshake_announces_changes_once() {
    let live = LiveRegistry::new(registry()).expect("complete");
    let mut client = Client::session(McpServer::new(&live).expect("complete"), json!({})).await;
    for _ in 0..3 {
        // The SDK may refuse the repeated handshake.
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "again", "version": "1"}});
        let _ = client.request("initialize", params).await;
        client.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    }
    client.request("ping", json!({})).await.expect("an answer");
    live.change(|registry| registry.unregister("add")).expect("it changes");
    client.next("notifications/tools/list_changed").await;
    for _ in 0..10 {
        client.request("ping", json!({})).await.expect("an answer");
    }
    assert!(client.messages.is_empty(), "{:?}", client.messages);
}
