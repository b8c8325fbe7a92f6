//! Our MCP server beside a bare one of the official SDK, over a stream in memory.

use super::{agents, repeat};
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{ServerCapabilities, ServerConfig};
use rmcp::{ServerHandler, ServiceExt, tool_handler, tool_router};
use std::io;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use toolkit_ai::prelude::*;
use toolkit_mcp::server::McpServer;

#[derive(toolkit_ai::serde::Deserialize, toolkit_ai::schemars::JsonSchema)]
#[serde(crate = "toolkit_ai::serde")]
#[schemars(crate = "toolkit_ai::schemars")]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Clone)]
struct Sdk {
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl Sdk {
    #[rmcp::tool(description = "Add two integers.")]
    fn add(&self, Parameters(Add { a, b }): Parameters<Add>) -> String {
        (a + b).to_string()
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Sdk {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

pub(crate) fn sdk(count: usize) {
    calls(count, |stream| async {
        let running =
            Sdk { tool_router: Sdk::tool_router() }.serve(stream).await.map_err(io::Error::other)?;
        running.waiting().await.map(drop).map_err(io::Error::other)
    });
}

pub(crate) fn server(count: usize) {
    let server = McpServer::new(ToolRegistry::from_tools(tools![super::tools::add]).unwrap()).unwrap();
    calls(count, |stream| server.serve(stream));
}

fn calls<F>(count: usize, serve: impl FnOnce(DuplexStream) -> F)
where
    F: Future<Output: Send> + Send + 'static,
{
    let runtime = agents::runtime();
    let (client, served) = tokio::io::duplex(1 << 16);
    runtime.spawn(serve(served));
    let mut client = runtime.block_on(Client::open(client));
    repeat(count, || runtime.block_on(client.call()));
}

/// A minimal client, with a write for each message.
struct Client {
    stream: BufReader<DuplexStream>,
    line: String,
}

const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#,
    "\n"
);
const INITIALIZED: &str = concat!(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "\n");
const CALL: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":17,"b":25}}}"#,
    "\n"
);

impl Client {
    async fn open(stream: DuplexStream) -> Self {
        let mut client = Self { stream: BufReader::new(stream), line: String::new() };
        client.send(INITIALIZE).await;
        client.response().await;
        client.send(INITIALIZED).await;
        client
    }

    async fn send(&mut self, message: &str) {
        self.stream.write_all(message.as_bytes()).await.unwrap();
    }

    async fn response(&mut self) {
        self.line.clear();
        assert!(self.stream.read_line(&mut self.line).await.unwrap() > 0, "the server has left");
    }

    async fn call(&mut self) {
        self.send(CALL).await;
        self.response().await;
        assert!(self.line.contains("42"), "{}", self.line);
    }
}
