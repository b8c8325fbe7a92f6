//! A client over JSON lines, independent of the SDK.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use toolkit_mcp::server::McpServer;

/// The time after which a test fails.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

pub(super) const STATELESS: &str = "2026-07-28";

/// The signals of a waiting tool: begun, may end, dropped before.
#[derive(Default)]
pub(super) struct Signals {
    pub(super) begun: Notify,
    pub(super) open: Notify,
    pub(super) dropped: Notify,
}

impl Signals {
    pub(super) async fn wait(&self) {
        struct OnDrop<'a>(&'a Signals);
        impl Drop for OnDrop<'_> {
            fn drop(&mut self) {
                self.0.dropped.notify_one();
            }
        }
        let guard = OnDrop(self);
        // It hears the notice from here on.
        let opened = self.open.notified();
        self.begun.notify_one();
        opened.await;
        std::mem::forget(guard);
    }
}

pub(super) struct Client {
    write: WriteHalf<DuplexStream>,
    read: BufReader<ReadHalf<DuplexStream>>,
    next_id: u64,
    /// The server's notifications and requests, in order.
    pub(super) messages: VecDeque<Value>,
    pub(super) server: JoinHandle<Result<(), toolkit_mcp::McpError>>,
    meta: Option<Value>,
}

impl Client {
    /// Starts a server in memory without a handshake.
    pub(super) fn connect(server: McpServer) -> Self {
        Self::connect_with_buffer(server, 1 << 20)
    }

    pub(super) fn connect_with_buffer(server: McpServer, bytes: usize) -> Self {
        let (ours, theirs) = tokio::io::duplex(bytes);
        let server = tokio::spawn(server.serve(theirs));
        let (read, write) = tokio::io::split(ours);
        Self { write, read: BufReader::new(read), next_id: 1, messages: VecDeque::new(), server, meta: None }
    }

    /// Starts a server in memory and opens a session.
    pub(super) async fn session(server: McpServer, capabilities: Value) -> Self {
        let mut client = Self::connect(server);
        client.initialize(capabilities).await;
        client
    }

    pub(super) async fn initialize(&mut self, capabilities: Value) -> Value {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": {"name": "tester", "version": "1.2.3"},
        });
        let result = self.request("initialize", params).await.expect("the handshake succeeds");
        self.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        result
    }

    /// Starts a server in memory without sessions.
    pub(super) fn stateless(server: McpServer, capabilities: Value) -> Self {
        let mut client = Self::connect(server);
        client.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": STATELESS,
            "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1.2.3"},
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }));
        client
    }

    pub(super) async fn send(&mut self, message: Value) {
        self.send_text(&message.to_string()).await;
    }

    pub(super) async fn send_text(&mut self, line: &str) {
        let send = async {
            self.write.write_all(line.as_bytes()).await?;
            self.write.write_all(b"\n").await?;
            self.write.flush().await
        };
        timeout(PATIENCE, send).await.expect("the server reads").expect("the server is there");
    }

    pub(super) async fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = timeout(PATIENCE, self.read.read_line(&mut line)).await.expect("the server answers");
        match read.expect("the server is there") {
            0 => None,
            _ => Some(serde_json::from_str(&line).expect("a line is JSON")),
        }
    }

    pub(super) async fn start(&mut self, method: &str, mut params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        if let Some(meta) = &self.meta {
            let own = params["_meta"].take();
            let mut meta = meta.clone();
            if let (Some(meta), Value::Object(own)) = (meta.as_object_mut(), own) {
                meta.extend(own);
            }
            params["_meta"] = meta;
        }
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    /// Waits for a response, and keeps other messages.
    pub(super) async fn finish(&mut self, id: u64) -> Result<Value, Value> {
        loop {
            let mut message = self.read().await.expect("the server is there");
            if message.get("method").is_none() && message["id"] == id {
                return match message.get_mut("result") {
                    Some(result) => Ok(result.take()),
                    None => Err(message["error"].take()),
                };
            }
            self.messages.push_back(message);
        }
    }

    pub(super) async fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.start(method, params).await;
        self.finish(id).await
    }

    pub(super) async fn call(&mut self, name: &str, arguments: Value) -> Result<Value, Value> {
        self.request("tools/call", json!({"name": name, "arguments": arguments})).await
    }

    pub(super) async fn next(&mut self, method: &str) -> Value {
        loop {
            if let Some(at) = self.messages.iter().position(|message| message["method"] == method) {
                return self.messages.remove(at).expect("it is there");
            }
            let message = self.read().await.expect("the server is there");
            self.messages.push_back(message);
        }
    }

    pub(super) async fn close(self) -> Result<(), toolkit_mcp::McpError> {
        drop((self.write, self.read));
        timeout(PATIENCE, self.server).await.expect("the server ends").expect("the server does not panic")
    }
}

pub(super) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}
