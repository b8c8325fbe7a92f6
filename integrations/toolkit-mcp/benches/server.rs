//! The server beside a bare server of the official SDK with the same tool: calls in memory, over stdio and
//! over HTTP, counted instructions, the list of a thousand tools, and the memory of two hundred sessions.
//!
//! `cargo bench -p toolkit-mcp --all-features --bench server [-- WORD]` measures the sections that contain
//! the word. Both servers take turns in short rounds, so that both meet the same load of the machine.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

#[path = "support/bare.rs"]
mod bare;
#[path = "support/peers.rs"]
mod peers;

use bare::{Add, can_count, count, counted, report_counts, wanted};
use futures_util::future::join_all;
use peers::{HttpCall, HttpClient, Kind, LineClient, http_child, ours, port, serve_http};
use rmcp::handler::server::router::tool::{ToolRoute, ToolRouter};
use rmcp::model::{CallToolResult, ContentBlock, Tool};
use serde_json::json;
use std::env;
use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::process::Child;
use toolkit_ai::{ClosureTool, ToolRegistry};
use toolkit_mcp::server::McpServer;

/// Counts the instructions of one call with callgrind, over stdio and over HTTP. The count does not depend on the load
/// of the machine.
async fn instructions() {
    const CALLS: [u64; 2] = [500, 1_000];
    let per_call = |counts: [u64; 2]| (counts[1] - counts[0]) / (CALLS[1] - CALLS[0]);
    let mut stdio = Kind::BOTH.map(|kind| (kind.name(), 0));
    let mut http = stdio;
    for (index, kind) in Kind::BOTH.into_iter().enumerate() {
        let mut over_stdio = [0; 2];
        let mut over_http = [0; 2];
        for (round, calls) in CALLS.into_iter().enumerate() {
            let mut command = counted(&["serve-stdio", kind.name()]);
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let read = child.stdout.take().unwrap();
            let write = child.stdin.take().unwrap();
            let mut client = LineClient::new(read, write, None).open().await;
            for _ in 0..calls {
                client.call().await;
            }
            drop(client);
            over_stdio[round] = count(child).await;

            let mut command = counted(&["serve-http", kind.name()]);
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let mut client = HttpClient::connect(port(&mut child).await).await;
            for _ in 0..calls {
                client.call().await;
            }
            drop((client, child.stdin.take()));
            over_http[round] = count(child).await;
        }
        (stdio[index].1, http[index].1) = (per_call(over_stdio), per_call(over_http));
    }
    report_counts("instructions/stdio, one call", stdio);
    report_counts("instructions/http without sessions, one call", http);
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Prints the median time of each side, and the median over all rounds of the ratio to the time of the SDK.
fn report(section: &str, sides: &[(Kind, Vec<Duration>)]) {
    let sdk = sides.iter().find(|(kind, _)| *kind == Kind::Sdk).map(|(_, times)| times);
    for (kind, times) in sides {
        let mut ratios: Vec<f64> = sdk.into_iter().flat_map(|sdk| ratios(times, sdk)).collect();
        ratios.sort_by(f64::total_cmp);
        let ratio = ratios.get(ratios.len() / 2).copied().unwrap_or_default();
        let micros = median(times.clone()).as_secs_f64() * 1e6;
        println!("{section:<48} {:<8} {micros:>10.1} µs  {ratio:>5.2}", kind.name());
    }
}

fn ratios(times: &[Duration], sdk: &[Duration]) -> impl Iterator<Item = f64> {
    times.iter().zip(sdk).map(|(time, sdk)| time.as_secs_f64() / sdk.as_secs_f64())
}

/// Measures rounds of all sides in turn and returns the times of each.
async fn rounds<T: Send>(
    sides: &mut [(Kind, T)],
    rounds: usize,
    mut round: impl for<'a> FnMut(&'a mut T) -> Pin<Box<dyn Future<Output = Duration> + 'a>>,
) -> Vec<(Kind, Vec<Duration>)> {
    let mut times: Vec<(Kind, Vec<Duration>)> = sides.iter().map(|(kind, _)| (*kind, Vec::new())).collect();
    for (_, side) in sides.iter_mut() {
        round(side).await;
    }
    for _ in 0..rounds {
        for (index, (_, side)) in sides.iter_mut().enumerate() {
            times[index].1.push(round(side).await);
        }
    }
    times
}

fn one_by_one(client: &mut LineClient) -> Pin<Box<dyn Future<Output = Duration> + '_>> {
    Box::pin(async {
        let started = Instant::now();
        for _ in 0..200 {
            client.call().await;
        }
        started.elapsed() / 200
    })
}

fn flood(client: &mut LineClient) -> Pin<Box<dyn Future<Output = Duration> + '_>> {
    Box::pin(async {
        let started = Instant::now();
        client.flood(2_000).await;
        started.elapsed() / 2_000
    })
}

async fn calls() {
    let mut sides = Vec::new();
    for kind in Kind::BOTH {
        sides.push((kind, LineClient::in_memory(kind).await));
    }
    report("calls/memory, one by one", &rounds(&mut sides, 25, one_by_one).await);
    report("calls/memory, 50 at once, per call", &rounds(&mut sides, 25, flood).await);

    let mut sides = Vec::new();
    for kind in [Kind::Toolkit, Kind::Sdk, Kind::FastMcp] {
        match LineClient::over_stdio(kind).await {
            Some(client) => sides.push((kind, client)),
            None => println!("{} is not installed; `conformance/peers.sh` installs it", kind.name()),
        }
    }
    report("calls/stdio, one by one", &rounds(&mut sides, 15, one_by_one).await);
    report("calls/stdio, 50 at once, per call", &rounds(&mut sides, 15, flood).await);

    let mut sides = Vec::new();
    for kind in [Kind::Toolkit, Kind::Sdk, Kind::FastMcp] {
        match http_child(kind).await {
            Some((child, port)) => sides.push((kind, (child, HttpClient::connect(port).await))),
            None => println!("{} is not installed; `conformance/peers.sh` installs it", kind.name()),
        }
    }
    let mut switches: Vec<u64> = sides.iter().map(|(_, (child, _))| context_switches(child)).collect();
    let http = rounds(&mut sides, 25, |(_, client): &mut (Child, HttpClient)| {
        Box::pin(async {
            let started = Instant::now();
            for _ in 0..100 {
                client.call().await;
            }
            started.elapsed() / 100
        })
    });
    report("calls/http without sessions, one by one", &http.await);
    for ((kind, (child, _)), before) in sides.iter().zip(&mut switches) {
        // 26 rounds: the first is not measured.
        let switches = (context_switches(child) - *before) as f64 / 2_600.0;
        println!("{:<44} {:<8} {switches:>10.2}", "context switches, one such call", kind.name());
    }
}

/// Measures the kinds of calls over HTTP, one by one and from 64 connections at once.
async fn http_calls() {
    const AT_ONCE: usize = 64;
    for kind in HttpCall::ALL {
        for connections in [1, AT_ONCE] {
            let mut sides = Vec::new();
            for server in Kind::BOTH {
                let (child, port) = http_child(server).await.unwrap();
                let mut clients = Vec::new();
                for _ in 0..connections {
                    clients.push(kind.client(port).await);
                }
                sides.push((server, (child, clients)));
            }
            // As many calls in each round, whatever the number of connections.
            let calls = 640 / connections;
            let times = rounds(&mut sides, 25, |(_, clients): &mut (Child, Vec<HttpClient>)| {
                Box::pin(async move {
                    let started = Instant::now();
                    let all = clients.iter_mut().map(|client| async move {
                        for _ in 0..calls {
                            kind.run(client).await;
                        }
                    });
                    join_all(all).await;
                    started.elapsed() / 640
                })
            });
            let section = match connections {
                1 => format!("http calls {}, one by one", kind.name()),
                _ => format!("http calls {}, {AT_ONCE} at once", kind.name()),
            };
            report(&section, &times.await);
        }
    }
}

/// Returns the number of times at which the threads of a process waited.
fn context_switches(child: &Child) -> u64 {
    let threads = std::fs::read_dir(format!("/proc/{}/task", child.id().unwrap())).into_iter().flatten();
    let count = |status: String| {
        let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        count.and_then(|count| count.trim().parse::<u64>().ok()).unwrap_or_default()
    };
    threads
        .flatten()
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("status")).ok())
        .map(count)
        .sum()
}

/// A server of the SDK whose router is rebuilt for each request, as its macro does by default.
struct Rebuilt(usize);

impl Rebuilt {
    fn router(&self) -> ToolRouter<Self> {
        let mut router = ToolRouter::new();
        for number in 0..self.0 {
            let schema = rmcp::handler::server::tool::schema_for_type::<Add>();
            let tool = Tool::new(format!("tool_{number:04}"), "Adds two numbers.", schema);
            router.add_route(ToolRoute::new_dyn(tool, |_| {
                Box::pin(async { Ok(CallToolResult::success(vec![ContentBlock::text("")]).into()) })
            }));
        }
        router
    }
}

async fn listing() {
    const TOOLS: usize = 1_000;
    let tools = (0..TOOLS).map(|number| {
        ClosureTool::new(&format!("tool_{number:04}"), "Adds two numbers.", |Add { a, b }: Add| a + b)
            .unwrap()
    });
    let registry = ToolRegistry::from_tools(tools).unwrap();
    let server = McpServer::new(registry).unwrap();
    let bare = Rebuilt(TOOLS);
    let stored = bare.router();
    let time = |mut list: Box<dyn FnMut() -> usize>| {
        list();
        let times = (0..25).map(|_| {
            let started = Instant::now();
            assert_eq!(black_box(list()), TOOLS);
            started.elapsed()
        });
        times.collect::<Vec<_>>()
    };
    let ours = time(Box::new(move || server.list_once()));
    let rebuilt = time(Box::new(move || bare.router().list_all().len()));
    let stored = time(Box::new(move || stored.list_all().len()));
    report("listing a thousand tools", &[(Kind::Toolkit, ours), (Kind::Sdk, rebuilt)]);
    report("listing a thousand tools, stored router", &[(Kind::Sdk, stored)]);
}

/// The way of arguments to the decoder: the client's own text, or the parsed object written as text.
fn argument_texts() {
    #[derive(serde::Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        params: Params<'a>,
    }
    #[derive(serde::Deserialize)]
    struct Params<'a> {
        #[serde(borrow)]
        arguments: &'a serde_json::value::RawValue,
    }
    let rows: Vec<_> =
        (0..100).map(|row| json!({"id": row, "name": "a name", "value": 1.5, "on": true})).collect();
    for (size, arguments) in [("small", json!({"a": 1, "b": 2})), ("6 KB", json!({ "rows": rows }))] {
        let params = json!({"name": "add", "arguments": arguments});
        let message =
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        let time = |work: &dyn Fn() -> usize| {
            let times = (0..101).map(|_| {
                let started = Instant::now();
                for _ in 0..100 {
                    black_box(work());
                }
                started.elapsed() / 100
            });
            median(times.collect())
        };
        let raw = time(&|| {
            let message: Message<'_> = serde_json::from_str(&message).unwrap();
            let text: std::sync::Arc<str> = message.params.arguments.get().into();
            black_box(&*text).to_owned().len()
        });
        let written = time(&|| arguments.to_string().len());
        for (way, time) in [("found in the message", raw), ("written again", written)] {
            println!("arguments, {size:<6} {way:<26} {:>20.2} µs", time.as_secs_f64() * 1e6);
        }
    }
}

fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").trim().parse().unwrap_or(0)
}

async fn sessions() {
    for kind in Kind::BOTH {
        let (child, port) = http_child(kind).await.unwrap();
        let pid = child.id().unwrap();
        let mut first = HttpClient::connect(port).await;
        first.open_session().await;
        let before = resident(pid);
        let mut clients = Vec::new();
        for _ in 0..200 {
            let mut client = HttpClient::connect(port).await;
            client.open_session().await;
            clients.push(client);
        }
        let used = resident(pid).saturating_sub(before);
        println!(
            "sessions, 200 open {:>33} {used:>8} KiB, {:.1} KiB each",
            kind.name(),
            used as f64 / clients.len() as f64
        );
    }
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let kind = |name: &str| if name == "toolkit" { Kind::Toolkit } else { Kind::Sdk };
    match words[..] {
        ["serve-stdio", name] => match kind(name) {
            Kind::Toolkit => ours().serve_stdio().await.unwrap(),
            _ => bare::serve_stdio().await,
        },
        // Ends with standard input.
        ["serve-http", name] => {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            println!("{}", listener.local_addr().unwrap().port());
            let mut input = tokio::io::stdin();
            tokio::select! {
                () = serve_http(kind(name), listener) => {}
                _ = input.read_u8() => {}
            }
        }
        _ => {
            println!("{:<48} {:<8} {:>13}  {:>5}", "", "", "median", "/rmcp");
            if wanted("calls") {
                calls().await;
            }
            if wanted("http calls") {
                http_calls().await;
            }
            if wanted("instructions") && can_count().await {
                instructions().await;
            }
            if wanted("arguments") {
                argument_texts();
            }
            if wanted("listing") {
                listing().await;
            }
            if wanted("sessions") {
                sessions().await;
            }
        }
    }
}
