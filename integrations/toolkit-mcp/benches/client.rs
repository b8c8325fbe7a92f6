//! The client beside a bare client of the official SDK: calls of the same bare server, one by one and many at once, and
//! counted instructions.
//!
//! `cargo bench -p toolkit-mcp --all-features --bench client [-- WORD]` measures the sections that contain the word.
//! Both clients take turns in short rounds, so that both meet the same load of the machine.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

#[path = "support/bare.rs"]
mod bare;

use bare::{Bare, can_count, count, counted, report_counts, wanted};
use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService};
use serde_json::{Map, Value};
use std::env;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::process::Command;
use toolkit_ai::ToolRegistry;
use toolkit_mcp::client::{McpClient, McpEndpoint, McpProtocol};

/// A client in the comparison.
enum Client {
    /// Ours, as the provider of a registry: from JSON text to the output of a tool.
    Toolkit(Box<ToolRegistry>),
    Sdk(RunningService<RoleClient, ()>),
}

impl Client {
    const NAMES: [&str; 2] = ["toolkit", "rmcp"];

    async fn open(
        name: &str,
        read: impl tokio::io::AsyncRead + Send + Unpin + 'static,
        write: impl tokio::io::AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        if name == "rmcp" {
            return Self::Sdk(().serve((read, write)).await.unwrap());
        }
        let builder = McpClient::builder(McpEndpoint::streams(read, write));
        let client = builder.protocol(McpProtocol::Handshake).connect().await.unwrap();
        let mut registry = ToolRegistry::new();
        registry.register_provider(client).unwrap();
        Self::Toolkit(Box::new(registry))
    }

    async fn in_memory(name: &str) -> Self {
        let (client, server) = tokio::io::duplex(1 << 16);
        tokio::spawn(async { Bare::new().serve(server).await.unwrap().waiting().await });
        let (read, write) = tokio::io::split(client);
        Self::open(name, read, write).await
    }

    /// Calls the tool once, from JSON text to the text of the result.
    async fn call(&self, number: u64) -> String {
        let arguments = format!(r#"{{"a": {number}, "b": 2}}"#);
        match self {
            Self::Toolkit(registry) => {
                registry.call("add", arguments.as_str()).await.unwrap().to_text().into_owned()
            }
            Self::Sdk(client) => {
                let arguments: Map<String, Value> = serde_json::from_str(&arguments).unwrap();
                let params = CallToolRequestParams::new("add").with_arguments(arguments);
                let result = client.call_tool(params).await.unwrap();
                result.content[0].as_text().unwrap().text.clone()
            }
        }
    }
}

async fn calls() {
    const ROUNDS: usize = 25;
    const CALLS: u64 = 200;
    let clients = [Client::in_memory("toolkit").await, Client::in_memory("rmcp").await];
    let mut times = [const { Vec::new() }; 4];
    for _ in 0..ROUNDS {
        for (index, client) in clients.iter().enumerate() {
            let started = Instant::now();
            for number in 0..CALLS {
                assert_eq!(client.call(number).await, (number + 2).to_string());
            }
            times[index].push(started.elapsed() / CALLS as u32);
            let started = Instant::now();
            for start in (0..CALLS).step_by(50) {
                futures_util::future::join_all((start..start + 50).map(|number| client.call(number))).await;
            }
            times[index + 2].push(started.elapsed() / CALLS as u32);
        }
    }
    let medians = times.map(|mut times: Vec<Duration>| {
        times.sort_unstable();
        times[ROUNDS / 2].as_secs_f64() * 1e6
    });
    for (section, ours, sdk) in
        [("one by one", medians[0], medians[1]), ("50 at once, per call", medians[2], medians[3])]
    {
        for (name, time) in Client::NAMES.into_iter().zip([ours, sdk]) {
            println!(
                "{:<44} {name:<8} {time:>10.1} µs  {:>5.2}",
                format!("calls/memory, {section}"),
                time / sdk
            );
        }
    }
}

/// Makes calls to a server in a process of its own.
async fn drive(name: &str, calls: u64) {
    let mut server = Command::new(env::current_exe().unwrap())
        .arg("serve-stdio")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let read = server.stdout.take().unwrap();
    let write = server.stdin.take().unwrap();
    let client = Client::open(name, read, write).await;
    for number in 0..calls {
        client.call(number).await;
    }
}

async fn instructions() {
    let mut counts = Client::NAMES.map(|name| (name, 0));
    for (name, per_call) in &mut counts {
        let mut totals = [0; 2];
        for (total, calls) in totals.iter_mut().zip(["500", "1000"]) {
            *total = count(counted(&["drive", name, calls]).stdout(Stdio::null()).spawn().unwrap()).await;
        }
        *per_call = (totals[1] - totals[0]) / 500;
    }
    report_counts("instructions/stdio, one call", counts);
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["serve-stdio"] => bare::serve_stdio().await,
        ["drive", name, calls] => drive(name, calls.parse().unwrap()).await,
        _ => {
            println!("{:<44} {:<8} {:>13}  {:>5}", "", "", "median", "/rmcp");
            if wanted("calls") {
                calls().await;
            }
            if wanted("instructions") && can_count().await {
                instructions().await;
            }
        }
    }
}
