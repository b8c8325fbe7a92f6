//! The time for which a tool list is fresh.

use super::bare::tool;
use super::raw::{Behaviour, Client, Raw};
use super::{call, event, within};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use toolkit_ai::ToolProvider;
use toolkit_mcp::client::{McpClient, McpEvent, McpProtocol};

struct Growing {
    lists: AtomicUsize,
    ttl: Value,
}

impl Growing {
    fn with_ttl(ttl: Value) -> Raw<Self> {
        Raw::new(Self { lists: AtomicUsize::new(0), ttl })
    }
}

impl Behaviour for Growing {
    fn list(&self, _: &Value) -> Value {
        let count = self.lists.fetch_add(1, Ordering::Relaxed) + 1;
        let tools: Vec<Value> =
            (0..count).map(|n| tool(&format!("t{n}"), json!({"type": "object"}))).collect();
        let mut list = json!({ "tools": tools });
        if !self.ttl.is_null() {
            (list["ttlMs"], list["cacheScope"]) = (self.ttl.clone(), "private".into());
        }
        list
    }

    fn call(&self, id: Value, _: &Value, client: &Client) {
        client.text(&id, "called");
    }
}

async fn connect(server: &Raw<Growing>) -> McpClient {
    let builder = McpClient::builder(server.endpoint()).protocol(McpProtocol::Handshake);
    within(builder.connect()).await.unwrap()
}

fn lists(server: &Raw<Growing>) -> usize {
    server.behaviour.lists.load(Ordering::Relaxed)
}

#[tokio::test(start_paused = true)]
async fn a_list_is_used_while_it_is_fresh_and_then_read_again() {
    let server = Growing::with_ttl(json!(40_000));
    let client = connect(&server).await;
    let mut events = client.events();
    let started = Instant::now();
    for _ in 0..3 {
        sleep(Duration::from_secs(11)).await;
        call(&client, "t0", "{}").await.unwrap();
    }
    assert_eq!((lists(&server), client.tools().len()), (1, 1), "the list is fresh");
    let changed = |event: &McpEvent| matches!(event, McpEvent::ToolsChanged(_)).then_some(());
    event(&mut events, changed).await;
    assert_eq!((started.elapsed().as_secs(), lists(&server), client.tools().len()), (40, 2, 2));
    // An announced change is read at once, and restarts the time.
    sleep(Duration::from_secs(30)).await;
    server.client().notify("notifications/tools/list_changed", &json!({}));
    event(&mut events, changed).await;
    assert_eq!((started.elapsed().as_secs(), lists(&server)), (70, 3));
    event(&mut events, changed).await;
    assert_eq!((started.elapsed().as_secs(), lists(&server)), (110, 4));
    client.refresh().await.unwrap();
    assert_eq!(lists(&server), 5, "the program may ask at any time");
}

#[tokio::test(start_paused = true)]
async fn without_a_time_a_list_is_read_again_only_when_it_changes() {
    for ttl in [json!(null), json!(0), json!("soon"), json!(-5)] {
        let server = Growing::with_ttl(ttl.clone());
        let client = connect(&server).await;
        sleep(Duration::from_secs(100_000)).await;
        assert_eq!(lists(&server), 1, "{ttl}");
        drop(client);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_cannot_make_the_client_list_without_pause_or_never_again() {
    let eager = Growing::with_ttl(json!(1));
    let lazy = Growing::with_ttl(json!(u64::MAX));
    let eager_client = connect(&eager).await;
    let _lazy_client = connect(&lazy).await;
    sleep(Duration::from_secs(65)).await;
    assert_eq!((lists(&eager), lists(&lazy)), (7, 1), "at most every ten seconds");
    drop(eager_client);
    sleep(Duration::from_secs(86_400)).await;
    assert_eq!(lists(&lazy), 2, "at least every day");
}

struct Stumbling(AtomicUsize);

impl Behaviour for Stumbling {
    fn list(&self, _: &Value) -> Value {
        match self.0.fetch_add(1, Ordering::Relaxed) {
            0 => json!({"tools": []}),
            1 => json!({"tools": "none"}),
            _ => json!({"tools": [tool("new", json!({"type": "object"}))]}),
        }
    }

    fn call(&self, _: Value, _: &Value, _: &Client) {}
}

#[tokio::test(start_paused = true)]
async fn a_list_that_could_not_be_read_is_read_again() {
    let server = Raw::new(Stumbling(AtomicUsize::new(0)));
    let client = within(McpClient::builder(server.endpoint()).connect()).await.unwrap();
    let mut events = client.events();
    server.client().notify("notifications/tools/list_changed", &json!({}));
    event(&mut events, |event| matches!(event, McpEvent::ListFailed { .. }).then_some(())).await;
    sleep(Duration::from_secs(59)).await;
    event(&mut events, |event| matches!(event, McpEvent::ToolsChanged(_)).then_some(())).await;
    assert_eq!(client.tools().len(), 1);
}
