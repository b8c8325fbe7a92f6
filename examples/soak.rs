//! A million calls, many faulty, through one dispatcher: each gets a result, and memory does not grow.
//!
//! Run `cargo run --release --example soak [CALLS]`; a debug build makes fewer by default. The exit status is
//! 1 if a result or last event is missing, or memory grew after the first tenth.

#![allow(clippy::panic, clippy::print_stdout, reason = "the tools panic on purpose")]

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use toolkit_ai::events::{CallStatus, ExecutionLog, LogFilter, ToolEvent, ToolEventKind};
use toolkit_ai::middleware::Retry;
use toolkit_ai::prelude::*;

const TASKS: u64 = 16;

/// The tolerated growth of memory, in total and per call.
const TOLERATED_BYTES: (u64, u64) = (1_536 << 10, 4);

#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[tool]
async fn slow(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

#[tool(timeout = "2ms")]
async fn too_slow() {
    std::future::pending::<()>().await;
}

#[tool]
fn panics() {
    panic!("at once");
}

#[tool]
async fn panics_later() {
    tokio::task::yield_now().await;
    panic!("later");
}

#[tool(idempotent, retries = 1)]
fn fails() -> Result<(), &'static str> {
    Err("as always")
}

#[tool(lane = "path")]
async fn write(path: String, text: String) -> String {
    tokio::task::yield_now().await;
    format!("{path}: {text}")
}

#[tool(exclusive)]
async fn alone() {
    tokio::task::yield_now().await;
}

#[tool(blocking)]
fn blocks() -> u8 {
    1
}

/// Returns a pseudo-random number for `n`.
fn mixed(n: u64) -> u64 {
    n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}

/// Returns a call, of which one in four is no plain success.
fn call(n: u64) -> ToolCall {
    let (tool, arguments) = match mixed(n) % 128 {
        0..2 => ("ad", r#"{"a": 1, "b": 2}"#),
        2..4 => ("add", r#"{"a": 1, "b": "#),
        4..6 => ("add", r#"{"a": 1, "c": [2]}"#),
        6..8 => ("add", r#"{"a": "1", "b": 2.0}"#),
        8 => ("panics", "{}"),
        9 => ("panics_later", "{}"),
        10 => ("fails", "{}"),
        11 => ("too_slow", "{}"),
        12..18 => ("slow", r#"{"ms": 1}"#),
        18..24 => ("write", r#"{"path": "a", "text": "x"}"#),
        24..28 => ("write", r#"{"path": "b", "text": "y"}"#),
        28..30 => ("alone", "{}"),
        30 => ("blocks", "{}"),
        _ => ("add", r#"{"a": 17, "b": 25}"#),
    };
    ToolCall::new(format!("call_{n}"), tool, arguments)
}

/// Dispatches batches of all sizes, some cancelled or dropped, and returns the number of missing results.
async fn dispatch(dispatcher: Dispatcher, calls: std::ops::Range<u64>) -> u64 {
    let mut next = calls.start;
    let mut unanswered = 0;
    while next < calls.end {
        let size = (mixed(next) % 64 + 1).min(calls.end - next);
        let batch: Vec<ToolCall> = (next..next + size).map(call).collect();
        let answered = match mixed(next) / 64 % 16 {
            0 => {
                let mut batch = dispatcher.batch(batch);
                tokio::task::yield_now().await;
                batch.cancel_call(format!("call_{next}"));
                tokio::task::yield_now().await;
                batch.cancel();
                batch.finish().await.len()
            }
            1 => {
                // The last event of a dropped batch still comes.
                drop(tokio::time::timeout(Duration::from_millis(1), dispatcher.dispatch(batch)).await);
                usize::try_from(size).unwrap_or_default()
            }
            2 => {
                let mut stream = dispatcher.batch(batch);
                let mut answered = 0;
                while stream.next().await.is_some() {
                    answered += 1;
                }
                answered
            }
            _ => dispatcher.dispatch(batch).await.len(),
        };
        unanswered += size - u64::try_from(answered).unwrap_or_default();
        next += size;
    }
    unanswered
}

/// Open calls, and ended ones by status.
#[derive(Debug, Default, Clone)]
struct Tally(Arc<Mutex<(u64, BTreeMap<CallStatus, u64>)>>);

impl Tally {
    fn add(&self, event: &ToolEvent) {
        let mut tally = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &event.kind {
            ToolEventKind::Called => tally.0 += 1,
            ToolEventKind::Ended(end) => *tally.1.entry(end.status).or_default() += 1,
            _ => {}
        }
    }

    fn so_far(&self) -> (u64, BTreeMap<CallStatus, u64>) {
        let (called, ended) = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (called - ended.values().sum::<u64>(), ended)
    }
}

/// Returns this process's resident memory, if the system reports it.
fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.split_whitespace().next()?.parse().ok())
}

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let default = if cfg!(debug_assertions) { 150_000 } else { 1_000_000 };
    let calls = std::env::args().nth(1).map_or(Ok(default), |calls| calls.parse::<u64>())?;
    // The tools panic on purpose.
    std::panic::set_hook(Box::new(|_| {}));

    let log = ExecutionLog::new(1_000);
    let tally = Tally::default();
    let listener = tally.clone();
    let tools = tools![add, slow, too_slow, panics, panics_later, fails, write, alone, blocks];
    let dispatcher = Dispatcher::new(ToolRegistry::from_tools(tools)?)?
        .with_max_concurrency(256)
        .with_middleware(Retry::new().with_pauses(Duration::from_millis(1), Duration::from_millis(1)))
        .with_log(&log)
        .with_listener(move |event| listener.add(event));

    let started = Instant::now();
    let mut unanswered = 0;
    let mut memory = Vec::new();
    for tenth in 0..10 {
        let from = calls * tenth / 10;
        let to = calls * (tenth + 1) / 10;
        let share = |task: u64| from + (to - from) * task / TASKS..from + (to - from) * (task + 1) / TASKS;
        let tasks: Vec<_> =
            (0..TASKS).map(|task| tokio::spawn(dispatch(dispatcher.clone(), share(task)))).collect();
        for task in tasks {
            unanswered += task.await?;
        }
        let resident = resident_kib();
        memory.extend(resident);
        let resident = resident.map_or("memory cannot be read here".to_owned(), |kib| format!("{kib} KiB"));
        println!("{to:>9} calls, {:5.1} s, {resident}", started.elapsed().as_secs_f64());
    }
    let patience = Instant::now() + Duration::from_secs(5);
    while tally.so_far().0 > 0 && Instant::now() < patience {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }

    let (open, ended) = tally.so_far();
    println!("{ended:?}; of the last {}: {:?}", log.len(), log.statistics(&LogFilter::new()).all.errors);
    println!("{unanswered} calls have no answer, {open} have no last event");
    let grown = memory.iter().max().zip(memory.first()).map_or(0, |(most, first)| most - first);
    println!("memory grew by {grown} KiB after the first tenth");
    let tolerated = (TOLERATED_BYTES.0 + TOLERATED_BYTES.1 * calls) / 1_024;
    let is_fine = unanswered == 0 && open == 0 && grown <= tolerated;
    Ok(if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
