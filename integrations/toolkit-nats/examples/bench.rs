//! What a fleet costs, against the bare engine in one run. Without `--bench`, it prints what it would measure.
//!
//! `cargo run --release -p toolkit-nats --all-features --example bench -- --bench`. Starts the server of
//! `TOOLKIT_NATS_SERVER` or of the search path.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program that measures")]

mod local_server;

use async_nats::Client;
use futures_util::future::join_all;
use futures_util::{StreamExt as _, stream};
use local_server::LocalServer;
use std::env;
use std::time::{Duration, Instant};
use toolkit_ai::{
    ClosureTool, Dispatcher, Tool, ToolCall, ToolContext, ToolDefinition, ToolFuture, ToolName, ToolOutput,
    ToolProvider, ToolRegistry,
};
use toolkit_nats::{Fleet, FleetTools, RunningWorker, Worker};

/// The time of one measurement.
const TIME: Duration = Duration::from_secs(2);
/// The number of calls at the same time.
const IN_FLIGHT: usize = 64;
/// The arguments of each call, and the payload of the bare engine.
const ARGUMENTS: &str =
    r#"{"a":1234567,"b":7654321,"note":"a payload of about a hundred bytes, as arguments often are"}"#;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    a: i64,
    b: i64,
    note: String,
}

fn add() -> ClosureTool {
    ClosureTool::new("add", "Adds.", |Add { a, b, note }: Add| a + b + i64::try_from(note.len()).unwrap())
        .unwrap()
}

/// Calls a second, the time of the processors for each, and the median and the 99th percentile of one call after another.
#[derive(Clone, Copy)]
struct Figures {
    rate: f64,
    cpu: Duration,
    median: Duration,
    p99: Duration,
}

/// Measures a call: many at the same time, then one after another.
async fn measure<F: Future<Output = ()> + Send>(
    server: u32,
    call: impl Fn() -> F + Clone + Send + 'static,
) -> Figures {
    let processes = ["self".to_owned(), server.to_string()];
    let cpu = || processes.iter().map(|process| cpu_time(process)).sum::<Duration>();
    let cpu_before = cpu();
    let started = Instant::now();
    let loops: Vec<_> = (0..IN_FLIGHT)
        .map(|_| {
            let call = call.clone();
            tokio::spawn(async move {
                let mut calls = 0_u32;
                while started.elapsed() < TIME {
                    call().await;
                    calls += 1;
                }
                calls
            })
        })
        .collect();
    let mut calls = 0;
    for ended in loops {
        calls += ended.await.unwrap();
    }
    let rate = f64::from(calls) / started.elapsed().as_secs_f64();
    let cpu = (cpu() - cpu_before) / calls;
    let alone = tokio::spawn(async move {
        let mut times = Vec::new();
        let started = Instant::now();
        while started.elapsed() < TIME {
            let before = Instant::now();
            call().await;
            times.push(before.elapsed());
        }
        times.sort();
        times
    });
    let times = alone.await.unwrap();
    Figures { rate, cpu, median: times[times.len() / 2], p99: times[times.len() * 99 / 100] }
}

/// A responder of the bare engine: it parses the JSON and answers with the sum, as the tool does.
async fn respond(client: Client) {
    let mut requests = client.queue_subscribe("bare", "workers".to_owned()).await.unwrap();
    while let Some(request) = requests.next().await {
        let client = client.clone();
        tokio::spawn(async move {
            let Add { a, b, note } = serde_json::from_slice(&request.payload).unwrap();
            let sum = a + b + i64::try_from(note.len()).unwrap();
            client.publish(request.reply.unwrap(), sum.to_string().into()).await.unwrap();
        });
    }
}

/// A responder of the bare engine that runs the tool through a dispatcher, as a worker does.
async fn respond_with_dispatcher(client: Client) {
    let dispatcher = Dispatcher::new(ToolRegistry::from_tools([add()]).unwrap()).unwrap();
    let mut requests = client.queue_subscribe("dispatched", "workers".to_owned()).await.unwrap();
    while let Some(request) = requests.next().await {
        let (client, dispatcher) = (client.clone(), dispatcher.clone());
        tokio::spawn(async move {
            let arguments = String::from_utf8(request.payload.to_vec()).unwrap();
            let results = dispatcher.dispatch([ToolCall::new("1", "add", arguments)]).await;
            client.publish(request.reply.unwrap(), results[0].to_text().into_owned().into()).await.unwrap();
        });
    }
}

/// A tool that asks the responders of the bare engine.
struct Bare(Client);

impl ToolProvider for Bare {
    fn tools(&self) -> Vec<ToolDefinition> {
        vec![add().definition().clone()]
    }

    fn handle<'a>(&'a self, call: ToolCall, _: &'a ToolContext) -> ToolFuture<'a> {
        let arguments = call.arguments.as_str().to_owned();
        let request = async move { self.0.request("dispatched", arguments.into()).await.unwrap().payload };
        ToolFuture::new(async { Ok(ToolOutput::text(String::from_utf8_lossy(&request.await))) })
    }
}

async fn against_the_engine(LocalServer { process, address }: &LocalServer) {
    println!("| workers | what | calls/s | of the engine | CPU µs | median µs | more µs | p99 µs |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    let server = process.id();
    for count in [1, 4, 16] {
        let mut responders = Vec::new();
        let mut workers: Vec<RunningWorker> = Vec::new();
        for _ in 0..count {
            let client = async_nats::connect(address).await.unwrap();
            responders.push(tokio::spawn(respond(client.clone())));
            responders.push(tokio::spawn(respond_with_dispatcher(client)));
            let fleet = Fleet::builder(address).prefix(format!("w{count}")).connect().await.unwrap();
            let registry = ToolRegistry::from_tools([add()]).unwrap();
            workers.push(Worker::new(registry).unwrap().start(&fleet).await.unwrap());
        }
        let client = async_nats::connect(address).await.unwrap();
        let mut bare = ToolRegistry::new();
        bare.register_provider(Bare(client.clone())).unwrap();
        let engine = move || {
            let client = client.clone();
            async move { drop(client.request("bare", ARGUMENTS.into()).await.unwrap()) }
        };
        let fleet = Fleet::builder(address).prefix(format!("w{count}")).connect().await.unwrap();
        let tools = FleetTools::join(&fleet).await.unwrap();
        let dispatched = through(Dispatcher::new(bare).unwrap());
        let fleet = through(Dispatcher::new(tools.registry().unwrap()).unwrap());
        // Three rounds in turn; the best one of each counts, because other programs disturb all of them.
        let mut best: [Option<Figures>; 3] = [None; 3];
        for _ in 0..3 {
            let round = [
                measure(server, engine.clone()).await,
                measure(server, dispatched.clone()).await,
                measure(server, fleet.clone()).await,
            ];
            for (best, figures) in best.iter_mut().zip(round) {
                let better = |best: Figures| Figures {
                    rate: best.rate.max(figures.rate),
                    cpu: best.cpu.min(figures.cpu),
                    median: best.median.min(figures.median),
                    p99: best.p99.min(figures.p99),
                };
                *best = Some(best.map_or(figures, better));
            }
        }
        let Some(engine) = best[0] else { return };
        for (what, figures) in
            ["engine", "engine with dispatchers", "fleet"].into_iter().zip(best.into_iter().flatten())
        {
            let us = |time: Duration| time.as_micros();
            let ratio = figures.rate / engine.rate;
            let more = us(figures.median).saturating_sub(us(engine.median));
            let Figures { rate, cpu, median, p99 } = figures;
            let cpu = cpu.as_secs_f64() * 1e6;
            println!(
                "| {count} | {what} | {rate:.0} | {ratio:.2} | {cpu:.1} | {} | {more} | {} |",
                us(median),
                us(p99)
            );
        }
        responders.iter().for_each(tokio::task::JoinHandle::abort);
        join_all(workers.into_iter().map(RunningWorker::drain)).await;
    }
}

/// Returns a function that makes one call through a dispatcher.
fn through(
    dispatcher: Dispatcher,
) -> impl Fn() -> futures_util::future::BoxFuture<'static, ()> + Clone + Send {
    move || {
        let dispatcher = dispatcher.clone();
        Box::pin(async move {
            let results = dispatcher.dispatch([ToolCall::new("1", "add", ARGUMENTS)]).await;
            assert!(!results[0].is_error(), "{:?}", results[0].error());
        })
    }
}

/// The time of the processors that a process has used. The kernel counts hundredths of a second.
fn cpu_time(process: &str) -> Duration {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let (_, numbers) = status.rsplit_once(')').unwrap_or_default();
    let ticks = numbers.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok());
    Duration::from_millis(10 * ticks.sum::<u64>())
}

/// The memory of this process in KiB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or_default()
}

fn tool(worker: usize, number: usize) -> ClosureTool {
    let namespace = format!("team_{worker}");
    let name = ToolName::qualified(&namespace, &format!("tool_{number}"), toolkit_ai::name::Separator::Dash)
        .unwrap();
    let text =
        "Looks up the orders of a customer, newest first, and returns at most the given number of them.";
    add().with_name(name).with_description(text)
}

async fn discovery(address: &str) {
    let fleet = Fleet::builder(address).prefix("many").connect().await.unwrap();
    let before = memory();
    let mut workers = Vec::new();
    for worker in 0..100 {
        let registry = ToolRegistry::from_tools((0..100).map(|number| tool(worker, number))).unwrap();
        workers.push(Worker::new(registry).unwrap().start(&fleet).await.unwrap());
    }
    let with_workers = memory();
    let caller = Fleet::builder(address).prefix("many").connect().await.unwrap();
    let started = Instant::now();
    let tools = FleetTools::join(&caller).await.unwrap();
    let seconds = started.elapsed().as_secs_f64();
    let found = tools.tools().len();
    println!("discovered {found} tools of {} workers in {seconds:.2} s", tools.workers().len());
    println!(
        "memory: {} KiB a worker of 100 tools, {} KiB for the caller",
        (with_workers - before) / 100,
        memory() - with_workers
    );
    let longest = tools.tools().iter().map(|tool| tool.definition().description.len()).max();
    assert!(longest > Some(10));
    join_all(workers.into_iter().map(RunningWorker::drain)).await;
}

/// A thousand workers with the same tools come and go.
async fn thousand(address: &str) {
    let fleet = Fleet::builder(address).prefix("thousand").connect().await.unwrap();
    let caller = Fleet::builder(address).prefix("thousand").connect().await.unwrap();
    let tools = FleetTools::join(&caller).await.unwrap();
    let before = memory();
    let wait = |_: Add, context: ToolContext| async move { context.cancelled().await };
    let registry =
        ToolRegistry::from_tools([add(), ClosureTool::new_with_context("wait", "", wait).unwrap()]).unwrap();
    let started = Instant::now();
    let mut workers = Vec::new();
    for _ in 0..1_000 {
        workers.push(Worker::new(registry.clone()).unwrap().start(&fleet).await.unwrap());
    }
    let seen = |count: usize| {
        let tools = tools.clone();
        async move {
            while tools.workers().len() != count {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    };
    seen(1_000).await;
    println!(
        "1,000 workers have come in {:.1} s, {} KiB each",
        started.elapsed().as_secs_f64(),
        (memory() - before) / 1_000
    );
    let dispatcher = Dispatcher::new(tools.registry().unwrap()).unwrap();
    let started = Instant::now();
    let mut calls = 0;
    let mut failed = 0;
    let rest = workers.split_off(500);
    let drains = tokio::spawn(async move {
        let mut drains = stream::iter(workers.into_iter().map(RunningWorker::drain)).buffer_unordered(20);
        while drains.next().await.is_some() {}
    });
    while !drains.is_finished() {
        let batch = (0..IN_FLIGHT).map(|number| ToolCall::new(number.to_string(), "add", ARGUMENTS));
        let results = dispatcher.dispatch(batch).await;
        calls += results.len();
        for error in results.iter().filter_map(|result| result.error()) {
            failed += 1;
            println!("failed: {error}");
        }
    }
    seen(500).await;
    println!(
        "500 of them have gone in {:.1} s, under {calls} calls, of which {failed} failed",
        started.elapsed().as_secs_f64()
    );
    drop(rest);
}

#[tokio::main]
async fn main() {
    if !env::args().any(|argument| argument == "--bench") {
        println!("compares a fleet with the bare engine; run it with `--bench` and `--release`");
        return;
    }
    let Some(server) = LocalServer::start() else { return };
    against_the_engine(&server).await;
    discovery(&server.address).await;
    thousand(&server.address).await;
}
