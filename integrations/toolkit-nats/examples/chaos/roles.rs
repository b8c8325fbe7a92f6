//! The processes of a case: workers, whose tool writes each of its runs into a file, and callers.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use toolkit_ai::{
    ClosureTool, Dispatcher, LiveRegistry, RunContext, Tool, ToolCall, ToolContext, ToolRegistry, ToolResult,
};
use toolkit_nats::{CallFailure, CallLedger, Fleet, FleetTools, Worker};

/// The name of all callers.
pub(crate) const CALLER: &str = "chaos";

/// The options of a process, as `name=value`.
pub(crate) struct Options(HashMap<String, String>);

impl Options {
    pub(crate) fn read(arguments: &[&str]) -> Self {
        let pairs = arguments.iter().filter_map(|argument| argument.split_once('='));
        Self(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn number(&self, name: &str) -> u64 {
        self.get(name).unwrap().parse().unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.get(name).unwrap().into()
    }
}

/// Appends a line to a file. One write at the end of a file is whole, also between processes.
fn append(path: &PathBuf, line: &str) {
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Amount {
    amount: u64,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Sum {
    sum: u64,
}

/// What both tools of a worker do.
struct Work {
    effects: PathBuf,
    planted: bool,
    /// The shortest time of a call in milliseconds.
    time: u64,
    /// The time of the longest calls, which are few.
    longest: u64,
    /// The size of a result in bytes.
    size: usize,
}

impl Work {
    fn new(options: &Options) -> Self {
        let number = |name, default| options.get(name).map_or(default, |_| options.number(name));
        Self {
            effects: options.path("effects"),
            planted: options.get("planted").is_some(),
            time: number("time", 5),
            longest: number("longest", 0),
            size: usize::try_from(number("size", 0)).unwrap(),
        }
    }

    /// Writes that the tool starts, works, and writes that it has ended.
    async fn run(&self, kind: &'static str, number: u64, context: ToolContext) -> String {
        let id = context.call_id().unwrap().to_string();
        append(&self.effects, &format!("S {kind} {id}"));
        if self.planted && number.is_multiple_of(10) {
            append(&self.effects, &format!("S {kind} {id}"));
        }
        let is_long = number % 100 < 3;
        let time = self.time + number * 7 % 40;
        tokio::time::sleep(Duration::from_millis(if is_long { time.max(self.longest) } else { time })).await;
        append(&self.effects, &format!("E {kind} {id}"));
        format!("{kind} {number}{}", "x".repeat(self.size))
    }
}

/// Serves `pay` and `read` until it is asked to end.
pub(crate) async fn worker(options: &Options) {
    let work = Arc::new(Work::new(options));
    let tool = |kind: &'static str| {
        let work = work.clone();
        if options.get("version") == Some("2") {
            let run = move |Sum { sum }: Sum, context: ToolContext| {
                let work = work.clone();
                async move { work.run(kind, sum, context).await }
            };
            ClosureTool::new_with_context(kind, "Version 2.", run).unwrap()
        } else {
            let run = move |Amount { amount }: Amount, context: ToolContext| {
                let work = work.clone();
                async move { work.run(kind, amount, context).await }
            };
            ClosureTool::new_with_context(kind, "Version 1.", run).unwrap()
        }
    };
    let read = tool("read").map_metadata(|metadata| metadata.with_idempotent(true));
    let registry = ToolRegistry::from_tools([tool("pay"), read]).unwrap();
    let fleet = connect(options).await;
    // A caller that comes back needs a name: an anonymous one is another caller then.
    let mut worker = Worker::new(registry).unwrap().trust_subjects();
    if let Some(calls) = options.get("max_calls") {
        worker = worker.with_max_calls(calls.parse().unwrap());
    }
    if let Some(config) = options.get("ledger") {
        worker = worker
            .with_ledger(CallLedger::connect(&config.replace('~', "=").replace('+', " ")).await.unwrap());
    }
    worker.serve(&fleet).await.unwrap();
}

async fn connect(options: &Options) -> Fleet {
    loop {
        match Fleet::connect(options.get("server").unwrap()).await {
            Ok(fleet) => return fleet,
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

/// Makes calls, and writes one line for each result: id, kind, outcome, milliseconds.
pub(crate) async fn caller(options: &Options) {
    let fleet = FleetTools::builder(&connect(options).await).name(CALLER).join().await.unwrap();
    let live = LiveRegistry::new(ToolRegistry::new()).unwrap();
    let _following = fleet.follow(&live).unwrap();
    while live.snapshot().len() < 2 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let next = Arc::new(AtomicUsize::new(0));
    let deadline = Duration::from_millis(options.number("deadline"));
    let calls = usize::try_from(options.number("calls")).unwrap();
    // A few calls last as long as the disturbance.
    let pause = Duration::from_millis(if calls < 1_000 { 60 } else { 0 });
    let name: Arc<str> = options.get("name").unwrap().into();
    let mut tasks = Vec::new();
    for _ in 0..options.number("concurrency") {
        let (next, live, name) = (next.clone(), live.clone(), name.clone());
        let (issued, results) = (options.path("issued"), options.path("results"));
        tasks.push(tokio::spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= calls {
                    return;
                }
                let kind = if number.is_multiple_of(3) { "read" } else { "pay" };
                let id = format!("{name}/{number}");
                append(&issued, &id);
                let started = Instant::now();
                let result = call(&live, &name, number, kind, deadline).await;
                let outcome = outcome(&result);
                append(&results, &format!("{id} {kind} {outcome} {}", started.elapsed().as_millis()));
                tokio::time::sleep(if outcome == "ok" { pause } else { Duration::from_millis(50) }).await;
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
}

/// Makes one call as a model does: by the definition that it is shown.
async fn call(live: &LiveRegistry, name: &str, number: usize, kind: &str, deadline: Duration) -> ToolResult {
    let shown = live.snapshot();
    let is_new = shown.get(kind).is_some_and(|tool| tool.definition().description == "Version 2.");
    let arguments =
        if is_new { format!(r#"{{"sum": {number}}}"#) } else { format!(r#"{{"amount": {number}}}"#) };
    let run = RunContext::new().with_invocation_id(name);
    let dispatcher = Dispatcher::new(shown).unwrap().with_timeout(deadline).with_run(run);
    dispatcher.dispatch([ToolCall::new(number.to_string(), kind, arguments)]).await.remove(0)
}

/// Returns the word for an outcome.
pub(crate) fn outcome(result: &ToolResult) -> &'static str {
    let Some(error) = result.error() else { return "ok" };
    match CallFailure::from_error(error) {
        Some(CallFailure::NoWorker) => "no_worker",
        Some(CallFailure::Busy) => "busy",
        Some(CallFailure::Disconnected) => "disconnected",
        Some(CallFailure::Refused) => "refused",
        Some(CallFailure::Unknown) => "unknown",
        Some(CallFailure::Deadline) => "deadline",
        Some(_) => "other",
        None if error.kind() == toolkit_ai::ErrorKind::TimedOut => "deadline",
        // The last worker of all has gone, so the registry has no such tool.
        None if error.kind() == toolkit_ai::ErrorKind::NotFound => "no_worker",
        None => "error",
    }
}
