//! A server by hand, for faults of all kinds.

use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex, split};
use tokio::sync::mpsc;
use toolkit_mcp::client::McpEndpoint;

pub(super) trait Behaviour: Send + Sync + 'static {
    fn list(&self, params: &Value) -> Value;

    fn call(&self, id: Value, params: &Value, client: &Client);

    /// Returns another method's result, if the server knows it.
    fn other(&self, _method: &str, _params: &Value) -> Option<Value> {
        None
    }
}

#[derive(Clone)]
pub(super) struct Client(mpsc::UnboundedSender<Option<String>>);

impl Client {
    pub(super) fn line(&self, line: impl Into<String>) {
        let _ = self.0.send(Some(line.into()));
    }

    pub(super) fn result(&self, id: &Value, result: &Value) {
        // The id comes last, as in the official TypeScript server.
        self.line(json!({"result": result, "jsonrpc": "2.0", "id": id}).to_string());
    }

    pub(super) fn error(&self, id: &Value, error: &Value) {
        self.line(json!({"error": error, "jsonrpc": "2.0", "id": id}).to_string());
    }

    pub(super) fn text(&self, id: &Value, text: &str) {
        self.result(id, &json!({"content": [{"type": "text", "text": text}]}));
    }

    pub(super) fn notify(&self, method: &str, params: &Value) {
        self.line(json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    pub(super) fn hang_up(&self) {
        let _ = self.0.send(None);
    }
}

/// A server, and its connections.
pub(super) struct Raw<B> {
    pub(super) behaviour: Arc<B>,
    pub(super) clients: Arc<Mutex<Vec<Client>>>,
    pub(super) received: Arc<Mutex<Vec<Value>>>,
    /// Whether new connections are refused.
    pub(super) is_down: Arc<Mutex<bool>>,
}

impl<B> Clone for Raw<B> {
    fn clone(&self) -> Self {
        Self {
            behaviour: self.behaviour.clone(),
            clients: self.clients.clone(),
            received: self.received.clone(),
            is_down: self.is_down.clone(),
        }
    }
}

impl<B: Behaviour> Raw<B> {
    pub(super) fn new(behaviour: B) -> Self {
        Self {
            behaviour: Arc::new(behaviour),
            clients: Arc::default(),
            received: Arc::default(),
            is_down: Arc::default(),
        }
    }

    pub(super) fn endpoint(&self) -> McpEndpoint {
        let server = self.clone();
        McpEndpoint::streams_from(move || {
            let server = server.clone();
            async move {
                if *server.is_down.lock().unwrap() {
                    return Err(std::io::ErrorKind::ConnectionRefused.into());
                }
                let (near, far) = duplex(1 << 16);
                server.serve(far);
                Ok(split(near))
            }
        })
    }

    pub(super) fn client(&self) -> Client {
        self.clients.lock().unwrap().last().expect("a client").clone()
    }

    pub(super) fn serve(self, stream: DuplexStream) {
        let (reader, mut writer) = split(stream);
        let (sender, mut lines) = mpsc::unbounded_channel();
        let client = Client(sender);
        self.clients.lock().unwrap().push(client.clone());
        let answering = tokio::spawn(async move {
            let mut lines = BufReader::new(reader).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                self.answer(&serde_json::from_str(&line).unwrap(), &client);
            }
        });
        tokio::spawn(async move {
            while let Some(Some(line)) = lines.recv().await {
                if writer.write_all(line.as_bytes()).await.is_err() || writer.write_all(b"\n").await.is_err()
                {
                    break;
                }
            }
            answering.abort();
        });
    }

    fn answer(&self, message: &Value, client: &Client) {
        self.received.lock().unwrap().push(message.clone());
        let id = &message["id"];
        let params = &message["params"];
        match message["method"].as_str() {
            Some("initialize") => client.result(
                id,
                &json!({
                    "protocolVersion": "2025-11-25", "serverInfo": {"name": "raw", "version": "1"},
                    "capabilities": {"tools": {"listChanged": true}},
                }),
            ),
            Some("tools/list") => client.result(id, &self.behaviour.list(params)),
            Some("tools/call") => self.behaviour.call(id.clone(), params, client),
            Some(method) if !id.is_null() => {
                if let Some(result) = self.behaviour.other(method, params) {
                    return client.result(id, &result);
                }
                let error = json!({"code": -32601, "message": "Method not found"});
                client.line(json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string());
            }
            _ => {}
        }
    }
}
