//! Three servers behind a balancer, killed and restarted under load, all of this test program.

use serde_json::json;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};
use toolkit_ai::{Dispatcher, ToolCall, ToolRegistry, tool, tools};
use toolkit_mcp::client::{McpClient, McpProtocol, McpUrl};
use toolkit_mcp::server::McpServer;

const ADDRESS: &str = "TOOLKIT_MCP_MANY_ADDRESS";
const LEDGER: &str = "TOOLKIT_MCP_MANY_LEDGER";

const CALLS: usize = 600;

/// Writes a call's effect where all servers write.
fn record(effect: &str) {
    let ledger = File::options().append(true).open(std::env::var_os(LEDGER).unwrap());
    // One write, because other servers write as well.
    ledger.unwrap().write_all(format!("{effect}\n").as_bytes()).unwrap();
}

/// Looks at a thing.
#[tool(idempotent)]
async fn look(thing: String) -> String {
    sleep(Duration::from_millis(15)).await;
    record(&thing);
    sleep(Duration::from_millis(15)).await;
    thing
}

/// Buys a thing.
#[tool]
async fn buy(thing: String) -> String {
    sleep(Duration::from_millis(15)).await;
    record(&thing);
    sleep(Duration::from_millis(15)).await;
    thing
}

#[tokio::test]
#[ignore = "the server of another test"]
async fn serve() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    let server = McpServer::new(ToolRegistry::from_tools(tools![look, buy]).unwrap()).unwrap();
    server.with_max_sessions(0).serve_http(address.as_str()).await.unwrap();
}

async fn start(address: SocketAddr, ledger: &Path) -> Child {
    let server = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "many_machines::serve", "--ignored", "--nocapture"])
        .env(ADDRESS, address.to_string())
        .env(LEDGER, ledger)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    while TcpStream::connect(address).await.is_err() {
        sleep(Duration::from_millis(10)).await;
    }
    server
}

/// Passes connections to the next server that accepts them.
async fn balance(listener: TcpListener, servers: Vec<SocketAddr>) {
    let next = Arc::new(AtomicUsize::new(0));
    while let Ok((mut client, _)) = listener.accept().await {
        let servers = servers.clone();
        let next = next.clone();
        tokio::spawn(async move {
            for _ in 0..servers.len() {
                let server = servers[next.fetch_add(1, Ordering::Relaxed) % servers.len()];
                if let Ok(mut server) = TcpStream::connect(server).await {
                    let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
                    return;
                }
            }
        });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_are_killed_lose_no_idempotent_call_and_repeat_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = folder.path().join("ledger");
    File::create(&ledger).unwrap();
    let mut addresses = Vec::new();
    let mut servers = Vec::new();
    for _ in 0..3 {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        addresses.push(free.local_addr().unwrap());
    }
    for address in &addresses {
        servers.push(start(*address, &ledger).await);
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = McpUrl::new(format!("http://{}/mcp", listener.local_addr().unwrap()));
    let balancer = tokio::spawn(balance(listener, addresses.clone()));

    let builder = McpClient::builder(url).protocol(McpProtocol::Stateless).retries(8);
    let client = builder.connect().await.unwrap();
    let mut registry = ToolRegistry::new();
    registry.register_provider(client.clone()).unwrap();
    let dispatcher = Dispatcher::new(registry).unwrap().with_max_concurrency(32);
    let calls = (0..CALLS).flat_map(|number| {
        ["look", "buy"].map(|tool| {
            let thing = format!("{tool}-{number}");
            ToolCall::new(thing.clone(), tool, json!({ "thing": thing }).to_string())
        })
    });
    let calls: Vec<_> = calls.collect();
    let running = tokio::spawn(async move { dispatcher.dispatch(calls).await });
    for _ in 0..2 {
        for (server, address) in servers.iter_mut().zip(&addresses) {
            sleep(Duration::from_millis(150)).await;
            server.kill().await.unwrap();
            sleep(Duration::from_millis(100)).await;
            *server = start(*address, &ledger).await;
        }
    }
    assert!(!running.is_finished(), "the load lasts longer than the kills");
    let results = timeout(Duration::from_secs(60), running).await.expect("nothing hangs").unwrap();

    let effects = fs::read_to_string(&ledger).unwrap();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for effect in effects.lines() {
        *counts.entry(effect).or_default() += 1;
    }
    let mut unknown = 0;
    for result in &results {
        let call = result.call_id.to_string();
        let effects = counts.get(call.as_str()).copied().unwrap_or_default();
        match &result.outcome {
            Ok(output) => {
                assert_eq!(output.to_text(), call);
                assert!(effects == 1 || effects > 1 && call.starts_with("look"), "{call}: {effects}");
            }
            Err(error) => {
                assert!(call.starts_with("buy"), "{call}: {error:#}");
                assert!(error.message().contains("may have been executed"), "{call}: {error:#}");
                assert!(effects <= 1, "{call}: {effects}");
                unknown += 1;
            }
        }
    }
    assert_eq!(results.len(), 2 * CALLS);
    assert!((1..CALLS / 4).contains(&unknown), "{unknown} calls are lost");
    client.close().await;
    balancer.abort();
}
