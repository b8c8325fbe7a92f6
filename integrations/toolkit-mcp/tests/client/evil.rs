//! Servers over HTTP that answer one method without end, or too much.

use super::bare::tool;
use super::{call, within};
use crate::memory::{alone, resident};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use toolkit_mcp::client::{McpClient, McpLimits, McpUrl};

const METHODS: [&str; 7] = [
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
];

/// An answer that a client must neither await nor keep.
#[derive(Debug, Clone, Copy)]
enum Evil {
    /// No byte.
    Silence,
    SlowHead,
    SlowBody,
    Comments,
    Notifications,
    Huge,
    /// Nested arrays.
    Deep,
    /// Endless pages of a list, each with a large entry.
    Pages,
    HangUp,
}

const EVIL: [Evil; 9] = [
    Evil::Silence,
    Evil::SlowHead,
    Evil::SlowBody,
    Evil::Comments,
    Evil::Notifications,
    Evil::Huge,
    Evil::Deep,
    Evil::Pages,
    Evil::HangUp,
];

const JSON: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
const EVENTS: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// The client's limit of a message in bytes.
const LIMIT: usize = 1 << 20;

impl Evil {
    async fn answer(self, stream: &mut TcpStream, request: &Value) -> std::io::Result<()> {
        let notification = r#"{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}"#;
        let (head, piece, pause) = match self {
            Self::Silence => ("", String::new(), 100),
            Self::SlowHead => ("HTTP/1.1 200 OK\r\nx: ", "x".to_owned(), 20),
            Self::SlowBody => (JSON, " ".to_owned(), 20),
            Self::Comments => (EVENTS, ": a comment\n\n".to_owned(), 20),
            Self::Notifications => (EVENTS, format!("data: {notification}\n\n").repeat(100), 0),
            Self::Huge => (JSON, "x".repeat(1 << 16), 0),
            Self::Deep => (JSON, "[".repeat(1 << 16), 0),
            Self::Pages => {
                let long = "x".repeat(LIMIT / 2);
                let entry = json!({"name": long, "uri": long, "uriTemplate": long, "description": long,
                    "inputSchema": {"type": "object"}, "arguments": [{"name": long}]});
                let answer = result(
                    request,
                    &json!({
                        "tools": [entry], "resources": [entry], "resourceTemplates": [entry], "prompts": [entry],
                        "content": [], "contents": [], "nextCursor": format!("{:?}", Instant::now()),
                    }),
                );
                return stream.write_all(format!("{JSON}{answer}").as_bytes()).await;
            }
            Self::HangUp => return Ok(()),
        };
        let start = if matches!(self, Self::Huge) { "\"" } else { "" };
        stream.write_all(format!("{head}{start}").as_bytes()).await?;
        let mut closed = [0; 1];
        loop {
            stream.write_all(piece.as_bytes()).await?;
            let pause = Duration::from_millis(pause);
            if let Ok(Ok(0)) = tokio::time::timeout(pause, stream.read(&mut closed)).await {
                return Ok(());
            }
        }
    }

    async fn serve(self, method: &'static str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let Some(request) = read(&mut stream).await else { return };
                    let _ = if request["method"] == method {
                        self.answer(&mut stream, &request).await
                    } else {
                        stream.write_all(format!("{JSON}{}", honest(&request)).as_bytes()).await
                    };
                });
            }
        });
        url
    }
}

async fn read(stream: &mut TcpStream) -> Option<Value> {
    let mut bytes = Vec::new();
    loop {
        let mut part = [0; 4096];
        let length = stream.read(&mut part).await.ok().filter(|length| *length > 0)?;
        bytes.extend_from_slice(&part[..length]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((_, body)) = text.split_once("\r\n\r\n") else { continue };
        if let Ok(message) = serde_json::from_str(body) {
            return Some(message);
        }
    }
}

fn result(request: &Value, result: &Value) -> String {
    let mut result = result.clone();
    result["resultType"] = "complete".into();
    (result["ttlMs"], result["cacheScope"]) = (0.into(), "private".into());
    json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string()
}

fn honest(request: &Value) -> String {
    result(
        request,
        &match request["method"].as_str().unwrap_or_default() {
            "server/discover" => json!({"supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}, "resources": {}, "prompts": {}}}),
            "tools/list" => json!({"tools": [tool("add", json!({"type": "object"}))]}),
            _ => {
                json!({"content": [], "contents": [], "resources": [], "resourceTemplates": [], "prompts": []})
            }
        },
    )
}

/// Uses every method once, and returns an error of the attacked one.
async fn attacked(url: String, method: &str) -> Result<(), String> {
    let limits = McpLimits::default().with_message_bytes(LIMIT).with_tools(30);
    let builder = McpClient::builder(McpUrl::new(url)).limits(limits);
    let builder = builder.connect_timeout(Duration::from_secs(1)).call_timeout(Duration::from_secs(1));
    let client = builder.connect().await.map_err(|error| error.to_string())?;
    let used = match method {
        "tools/call" => call(&client, "add", "{}").await.map(drop).map_err(|error| error.to_string()),
        "resources/list" => client.resources().await.map(drop).map_err(|error| error.to_string()),
        "resources/templates/list" => {
            client.resource_templates().await.map(drop).map_err(|error| error.to_string())
        }
        "resources/read" => client.read_resource("a://b").await.map(drop).map_err(|error| error.to_string()),
        "prompts/list" => client.prompts().await.map(drop).map_err(|error| error.to_string()),
        _ => Ok(()),
    };
    client.close().await;
    used
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answer_to_any_method_takes_the_clients_time_or_resident() {
    let _alone = alone().await;
    for evil in EVIL {
        let before = resident();
        let started = Instant::now();
        let uses = METHODS.map(|method| {
            tokio::spawn(async move { (method, within(attacked(evil.serve(method).await, method)).await) })
        });
        for used in uses {
            let (method, outcome) = used.await.unwrap();
            // A list is cut at its limit.
            let may_succeed = matches!(evil, Evil::Pages);
            assert!(may_succeed || outcome.is_err(), "{evil:?} {method}");
        }
        assert!(started.elapsed() < Duration::from_secs(20), "{evil:?}: {:?}", started.elapsed());
        assert!(resident() < before + 200, "{evil:?}: {before} MiB, {} MiB", resident());
    }
}
