//! Lists without end, or with constant changes.

use super::bare::tool;
use super::raw::{Behaviour, Client, Raw};
use super::raw_stateless::Announcing;
use super::within;
use serde_json::{Value, json};
use std::sync::Mutex;
use std::time::Duration;
use tokio::time::sleep;
use toolkit_ai::ToolProvider;
use toolkit_mcp::client::{McpClient, McpClientBuilder, McpEndpoint, McpLimits, McpProtocol};

/// A server whose lists always have a further page, with a unique cursor of at least this length.
struct Endless {
    cursor_bytes: usize,
    pages: Mutex<usize>,
}

impl Endless {
    fn server(cursor_bytes: usize) -> Raw<Self> {
        Raw::new(Self { cursor_bytes, pages: Mutex::default() })
    }

    fn page(&self, entries: &str) -> Value {
        let mut pages = self.pages.lock().unwrap();
        *pages += 1;
        let first = tool("first", json!({"type": "object"}));
        let tools = if entries == "tools" && *pages == 1 { vec![first] } else { Vec::new() };
        let mut cursor = pages.to_string();
        cursor += &"x".repeat(self.cursor_bytes.saturating_sub(cursor.len()));
        json!({entries: tools, "nextCursor": cursor})
    }

    fn asked(&self) -> usize {
        std::mem::take(&mut *self.pages.lock().unwrap())
    }
}

impl Behaviour for Endless {
    fn list(&self, _: &Value) -> Value {
        self.page("tools")
    }

    fn call(&self, _: Value, _: &Value, _: &Client) {}

    fn other(&self, method: &str, _: &Value) -> Option<Value> {
        let entries = match method {
            "resources/list" => "resources",
            "resources/templates/list" => "resourceTemplates",
            "prompts/list" => "prompts",
            _ => return None,
        };
        Some(self.page(entries))
    }
}

fn builder(endpoint: McpEndpoint) -> McpClientBuilder {
    McpClient::builder(endpoint).name("shop").protocol(McpProtocol::Handshake)
}

#[tokio::test]
async fn pages_without_end_reach_a_limit() {
    let limits = McpLimits::default;
    for (cursor_bytes, limits, pages, reason) in [
        (1, limits(), 1_000, "more than 1000 pages"),
        (4_096, limits().with_pages(7), 7, "more than 7 pages"),
        (4_097, limits(), 1, "a cursor of more than 4096 bytes"),
        (4 << 20, limits(), 1, "a cursor of more than 4096 bytes"),
        (5_000, limits().with_cursor_bytes(5_000).with_pages(3), 3, "more than 3 pages"),
        (10, limits().with_cursor_bytes(9), 1, "a cursor of more than 9 bytes"),
        (1, limits().with_pages(0), 1, "more than 0 pages"),
    ] {
        let server = Endless::server(cursor_bytes);
        let client = within(builder(server.endpoint()).limits(limits).connect()).await.unwrap();
        assert_eq!(server.behaviour.asked(), pages, "{reason}");
        let names: Vec<String> = client.tools().iter().map(|tool| tool.name.to_string()).collect();
        assert_eq!(names, ["first"]);
        let issues: Vec<String> = client.issues().iter().map(ToString::to_string).collect();
        assert_eq!(issues, [format!("`tools/list` has {reason}; the rest was left out")]);
        for (method, error) in [
            ("resources/list", client.resources().await.map(drop)),
            ("resources/templates/list", client.resource_templates().await.map(drop)),
            ("prompts/list", client.prompts().await.map(drop)),
        ] {
            let text = format!("MCP server `shop`: `{method}` has {reason}");
            assert_eq!(error.unwrap_err().to_string(), text);
        }
        assert_eq!(server.behaviour.asked(), 3 * pages, "{reason}");
    }
}

#[derive(Default)]
struct Changing {
    names: Mutex<Vec<&'static str>>,
    listings: Mutex<usize>,
}

impl Behaviour for Changing {
    fn list(&self, _: &Value) -> Value {
        *self.listings.lock().unwrap() += 1;
        let names = self.names.lock().unwrap().clone();
        let tools: Vec<Value> = names.iter().map(|name| tool(name, json!({"type": "object"}))).collect();
        json!({ "tools": tools })
    }

    fn call(&self, _: Value, _: &Value, _: &Client) {}
}

/// The listings of a client told of a change every ten milliseconds for a hundred seconds: one first, seven
/// while the pause grows, and one each ten seconds.
const MOST_LISTINGS: usize = 19;

async fn sees(client: &McpClient, name: &str) {
    within(async {
        while !client.tools().iter().any(|tool| tool.name.as_str() == name) {
            sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn announcements_without_end_are_followed_by_few_listings_and_the_last_change_is_seen() {
    let server = Raw::new(Changing::default());
    let client = builder(server.endpoint()).connect().await.unwrap();
    for round in ["first", "second"] {
        *server.behaviour.listings.lock().unwrap() = 0;
        for _ in 0..10_000 {
            server.client().notify("notifications/tools/list_changed", &json!({}));
            sleep(Duration::from_millis(10)).await;
        }
        let listings = *server.behaviour.listings.lock().unwrap();
        assert!((10..=MOST_LISTINGS).contains(&listings), "{listings}");
        server.behaviour.names.lock().unwrap().push(round);
        server.client().notify("notifications/tools/list_changed", &json!({}));
        sees(&client, round).await;
        // After quiet, a change is seen at once.
        sleep(Duration::from_secs(100)).await;
        server.behaviour.names.lock().unwrap().push("quiet");
        server.client().notify("notifications/tools/list_changed", &json!({}));
        sleep(Duration::from_millis(200)).await;
        assert_eq!(client.tools().iter().filter(|tool| tool.name.as_str() == "quiet").count(), 1);
        server.behaviour.names.lock().unwrap().pop();
        sleep(Duration::from_secs(100)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn announcements_of_a_subscription_are_followed_by_few_listings_and_the_last_change_is_seen() {
    let server = Announcing::default();
    let client = McpClient::builder(server.endpoint()).connect().await.unwrap();
    within(server.subscribed()).await;
    for number in 0..1_000 {
        server.announce(&format!("tool_{number}"));
        sleep(Duration::from_millis(100)).await;
    }
    let listings = *server.listings.lock().unwrap();
    assert!((10..=MOST_LISTINGS).contains(&listings), "{listings}");
    sees(&client, "tool_999").await;
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_connection_is_noticed_while_a_listing_waits() {
    let server = Raw::new(Changing::default());
    let client = builder(server.endpoint()).connect().await.unwrap();
    for _ in 0..10_000 {
        server.client().notify("notifications/tools/list_changed", &json!({}));
        sleep(Duration::from_millis(10)).await;
    }
    server.client().hang_up();
    *server.is_down.lock().unwrap() = true;
    sleep(Duration::from_millis(50)).await;
    assert!(!client.is_connected());
}
