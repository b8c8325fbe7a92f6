//! A server of version 2026-07-28 by hand, with changes of tools.

use super::bare::tool;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex, split};
use tokio::sync::{mpsc, watch};
use toolkit_mcp::client::McpEndpoint;

#[derive(Clone, Default)]
pub(super) struct Announcing {
    tools: Arc<Mutex<Vec<Value>>>,
    /// The subscription's id, and lines for the client.
    subscription: Arc<watch::Sender<Option<Subscription>>>,
    refusals: Arc<Mutex<usize>>,
    pub(super) listings: Arc<Mutex<usize>>,
}

type Subscription = (Value, mpsc::UnboundedSender<Value>);

impl Announcing {
    pub(super) async fn subscribed(&self) {
        self.subscription.subscribe().wait_for(Option::is_some).await.unwrap();
    }

    pub(super) fn refuse(&self, times: usize) {
        *self.refusals.lock().unwrap() = times;
    }

    pub(super) fn end_subscription(&self) {
        let (id, lines) = self.subscription.send_replace(None).unwrap();
        lines.send(json!({"jsonrpc": "2.0", "id": id, "result": {"resultType": "complete"}})).unwrap();
    }

    pub(super) fn announce(&self, name: &str) {
        self.tools.lock().unwrap().push(tool(name, json!({"type": "object"})));
        let subscription = self.subscription.borrow();
        let (id, lines) = subscription.as_ref().unwrap();
        lines.send(notification("notifications/tools/list_changed", id, json!({}))).unwrap();
    }

    pub(super) fn endpoint(&self) -> McpEndpoint {
        let server = self.clone();
        let (near, far) = duplex(1 << 16);
        let (reader, mut writer) = split(far);
        let (sender, mut lines) = mpsc::unbounded_channel::<Value>();
        tokio::spawn(async move {
            while let Some(line) = lines.recv().await {
                writer.write_all(format!("{line}\n").as_bytes()).await.unwrap();
            }
        });
        tokio::spawn(async move {
            let mut requests = BufReader::new(reader).lines();
            while let Ok(Some(line)) = requests.next_line().await {
                let request: Value = serde_json::from_str(&line).unwrap();
                let id = request["id"].clone();
                let capabilities = json!({"tools": {"listChanged": true}});
                let cached = |mut result: Value| {
                    result["resultType"] = "complete".into();
                    (result["ttlMs"], result["cacheScope"]) = (0.into(), "private".into());
                    json!({"jsonrpc": "2.0", "id": id, "result": result})
                };
                let answer = match request["method"].as_str().unwrap() {
                    "server/discover" => {
                        cached(json!({"supportedVersions": ["2026-07-28"], "capabilities": capabilities}))
                    }
                    "tools/list" => {
                        *server.listings.lock().unwrap() += 1;
                        cached(json!({"tools": *server.tools.lock().unwrap()}))
                    }
                    "subscriptions/listen" if *server.refusals.lock().unwrap() > 0 => {
                        *server.refusals.lock().unwrap() -= 1;
                        json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": "starting"}})
                    }
                    "subscriptions/listen" => {
                        server.subscription.send_replace(Some((id.clone(), sender.clone())));
                        let filter = json!({"notifications": {"toolsListChanged": true}});
                        notification("notifications/subscriptions/acknowledged", &id, filter)
                    }
                    _ => continue,
                };
                sender.send(answer).unwrap();
            }
        });
        let (reader, writer) = split(near);
        McpEndpoint::streams(reader, writer)
    }
}

fn notification(method: &str, subscription: &Value, mut params: Value) -> Value {
    params["_meta"] = json!({"io.modelcontextprotocol/subscriptionId": subscription});
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}
