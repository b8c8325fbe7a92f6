//! Servers that ask without end and read no answers.

use super::bare::tool;
use super::{call, within};
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::sleep;
use toolkit_mcp::client::{McpClient, McpEndpoint, McpProtocol, McpUrl};

/// A ping, a refused request, an unknown one, and one for the user.
const METHODS: [&str; 5] =
    ["ping", "sampling/createMessage", "roots/list", "unheard/of", "elicitation/create"];

/// The number of answers a client keeps.
const KEPT: usize = 256;

/// A server that asks, counts questions and answers, and reads answers once it may.
#[derive(Clone)]
struct Asking {
    method: &'static str,
    questions: usize,
    bytes: usize,
    asked: Arc<watch::Sender<usize>>,
    answered: Arc<watch::Sender<usize>>,
    reads: Arc<watch::Sender<bool>>,
}

impl Asking {
    fn new(method: &'static str, questions: usize, bytes: usize) -> Self {
        let [asked, answered] = [(); 2].map(|()| Arc::new(watch::Sender::new(0)));
        Self { method, questions, bytes, asked, answered, reads: Arc::default() }
    }

    fn question(&self) -> Option<String> {
        let number = *self.asked.borrow();
        if number == self.questions {
            return None;
        }
        let params = json!({"message": "x".repeat(self.bytes), "messages": [], "maxTokens": 1,
            "requestedSchema": {"type": "object", "properties": {}}});
        let question =
            json!({"jsonrpc": "2.0", "id": format!("q{number}"), "method": self.method, "params": params});
        self.asked.send_modify(|asked| *asked += 1);
        Some(question.to_string())
    }

    fn asked(&self) -> usize {
        *self.asked.borrow()
    }

    fn answer(&self, request: &Value) -> Value {
        let result = match request["method"].as_str().unwrap_or_default() {
            "initialize" => {
                json!({"protocolVersion": "2025-11-25", "serverInfo": {"name": "asking", "version": "1"},
                "capabilities": {"tools": {}}})
            }
            "tools/list" => json!({"tools": [tool("add", json!({"type": "object"}))]}),
            _ => json!({"content": [{"type": "text", "text": "added"}]}),
        };
        json!({"jsonrpc": "2.0", "id": request["id"], "result": result})
    }

    async fn may_read(&self) {
        let _ = self.reads.subscribe().wait_for(|reads| *reads).await;
    }

    async fn has_all_answers(&self) {
        within(self.answered.subscribe().wait_for(|answered| *answered == self.questions)).await.unwrap();
    }

    /// Asks during a tool's call, and answers it after the last question.
    fn over_lines(&self) -> McpEndpoint {
        let server = self.clone();
        let (reader, mut to_client) = duplex(1 << 12);
        let (from_client, writer) = duplex(1 << 10);
        let (sender, mut messages) = tokio::sync::mpsc::unbounded_channel::<Value>();
        let asking = self.clone();
        tokio::spawn(async move {
            while let Some(message) = messages.recv().await {
                let is_call = message["result"]["content"].is_array();
                while is_call && let Some(question) = asking.question() {
                    to_client.write_all(format!("{question}\n").as_bytes()).await.unwrap();
                }
                to_client.write_all(format!("{message}\n").as_bytes()).await.unwrap();
            }
        });
        tokio::spawn(async move {
            let mut lines = BufReader::new(from_client).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let message: Value = serde_json::from_str(&line).unwrap();
                if message.get("method").is_none() {
                    server.answered.send_modify(|answered| *answered += 1);
                } else if !message["id"].is_null() {
                    sender.send(server.answer(&message)).unwrap();
                }
                if message["method"] == "tools/call" {
                    server.may_read().await;
                }
            }
        });
        McpEndpoint::streams(reader, writer)
    }

    /// Asks on the session's stream, counts arriving answers, and accepts them once it may read.
    async fn over_http(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let router = axum::Router::new().fallback(handle).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        url
    }
}

async fn handle(State(server): State<Asking>, request: Request) -> Response {
    if request.method() == Method::GET {
        let events = stream::unfold(server, async |server| {
            let event = match server.question() {
                Some(question) => format!("data: {question}\n\n"),
                None => std::future::pending().await,
            };
            Some((Ok::<_, Infallible>(Bytes::from(event)), server))
        });
        return ([("content-type", "text/event-stream")], Body::from_stream(events)).into_response();
    }
    let body = axum::body::to_bytes(request.into_body(), usize::MAX).await.unwrap();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    if message.get("result").or(message.get("error")).is_some() {
        server.answered.send_modify(|answered| *answered += 1);
        server.may_read().await;
    }
    if message.get("method").is_none() || message["id"].is_null() {
        return StatusCode::ACCEPTED.into_response();
    }
    let headers = [("content-type", "application/json"), ("mcp-session-id", "a")];
    (headers, server.answer(&message).to_string()).into_response()
}

/// Paused time passes when both sides wait.
#[tokio::test(start_paused = true)]
async fn a_stream_is_not_read_on_while_its_server_reads_no_answers() {
    for method in METHODS {
        let server = Asking::new(method, 600, 1 << 13);
        let builder = McpClient::builder(server.over_lines()).protocol(McpProtocol::Handshake);
        let client = builder.connect().await.unwrap();
        let calling = client.clone();
        let calling =
            tokio::spawn(async move { call(&calling, "add", "{}").await.unwrap().to_text().into_owned() });
        sleep(Duration::from_secs(10)).await;
        // Pipes hold a few more.
        assert!((KEPT..KEPT + 40).contains(&server.asked()), "{method}: {}", server.asked());
        server.reads.send_replace(true);
        assert_eq!(within(calling).await.unwrap(), "added");
        server.has_all_answers().await;
        within(client.close()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_stream_of_a_session_is_not_read_on_while_its_server_reads_no_answers() {
    for method in ["ping", "unheard/of"] {
        let server = Asking::new(method, 700, 1 << 17);
        let url = McpUrl::new(server.over_http().await);
        let client =
            within(McpClient::builder(url).protocol(McpProtocol::Handshake).connect()).await.unwrap();
        // Calls are answered beside questions, until no more are taken.
        let mut asked = 0;
        let mut same = 0;
        while asked < KEPT || same < 20 {
            assert_eq!(call(&client, "add", "{}").await.unwrap().to_text(), "added");
            same = if server.asked() == asked { same + 1 } else { 0 };
            asked = server.asked();
        }
        // Connections keep some more, as the system allows.
        assert!((KEPT..700).contains(&asked), "{method}: {asked}");
        server.reads.send_replace(true);
        server.has_all_answers().await;
        assert_eq!(call(&client, "add", "{}").await.unwrap().to_text(), "added");
        within(client.close()).await;
    }
}
