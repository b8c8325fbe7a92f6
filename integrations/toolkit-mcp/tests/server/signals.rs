//! A server over HTTP, run by this test program, that ends with a signal.

use super::client::{PATIENCE, text};
use super::http::call;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;
use toolkit_ai::{ToolRegistry, tool, tools};
use toolkit_mcp::server::McpServer;

/// Serves tools with `serve_http` at a variable's address, until a signal.
#[tokio::test]
#[ignore = "the server of other tests"]
async fn serve() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    let registry = ToolRegistry::from_tools(tools![slow]).expect("legal");
    let served = McpServer::new(registry).expect("complete").serve_http(address.as_str()).await;
    std::process::exit(if served.is_ok() { 7 } else { 8 });
}

/// The process writes this when a call has begun.
const BEGUN: &str = "the call has begun";

const ADDRESS: &str = "TOOLKIT_MCP_TEST_ADDRESS";

/// Takes some time.
#[tool]
async fn slow() -> &'static str {
    println!("{BEGUN}");
    tokio::time::sleep(Duration::from_millis(700)).await;
    "slow"
}

#[tokio::test]
async fn a_signal_stops_the_server_after_its_running_calls() {
    for signal in ["-TERM", "-INT"] {
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = free.local_addr().expect("an address");
        drop(free);
        let mut server = tokio::process::Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "server::signals::serve", "--ignored", "--nocapture"])
            .env(ADDRESS, address.to_string())
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("a process");
        let started = async {
            while TcpStream::connect(address).await.is_err() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(PATIENCE, started).await.expect("the server starts");
        let running = tokio::spawn(async move { call(address, "", "slow", "{}").await });
        let mut lines = BufReader::new(server.stdout.take().expect("a pipe")).lines();
        let begun =
            async { while lines.next_line().await.expect("text").is_some_and(|line| line != BEGUN) {} };
        timeout(PATIENCE, begun).await.expect("the call begins");
        let id = server.id().expect("it runs").to_string();
        let sent = tokio::process::Command::new("kill").args([signal, &id]).status().await;
        assert!(sent.expect("`kill` exists").success());
        let response = running.await.expect("a response");
        assert_eq!(text(&response.json()["result"]), "slow", "{signal}: a running call ends");
        let status = timeout(PATIENCE, server.wait()).await.expect("the server ends").expect("a status");
        assert_eq!(status.code(), Some(7), "{signal}: the server ends without an error");
        assert!(TcpStream::connect(address).await.is_err());
    }
}
