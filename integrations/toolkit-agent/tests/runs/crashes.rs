//! Runs whose process dies again and again, after a decision, or with an input that it has read.

use super::owned::{KEY, Program, agent, calls, local};
use crate::support::Nothing;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use toolkit_agent::runs::{InputMode, LocalRuns, RunInput, Runs as _};
use toolkit_agent::session::{EndReason, MemoryStore, RunStatus};
use toolkit_agent::{Agent, Decision};
use toolkit_core::middleware::{Permission, PermissionRule, Permissions};
use toolkit_core::{ClosureTool, ToolRegistry};
use toolkit_llm::ScriptedModel;

/// A process that dies when it is shut down: no task ends its runs.
fn process() -> Runtime {
    Builder::new_multi_thread().enable_all().build().unwrap()
}

async fn until(reached: impl Fn() -> bool) {
    let wait = async {
        while !reached() {
            sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(Duration::from_secs(20), wait).await.expect("it is reached");
}

/// A call that crashes its process would crash the program at each of its starts.
#[tokio::test]
async fn a_run_that_kills_its_process_again_and_again_is_ended() {
    let store = MemoryStore::new();
    let model = ScriptedModel::new().response(calls(["crash"])).text("Survived.");
    let (started, permits) = (Arc::<AtomicU32>::default(), Arc::new(Semaphore::new(0)));
    let owner = || {
        let (started, permits) = (started.clone(), permits.clone());
        let crash = ClosureTool::new("crash", "Reads, and crashes.", move |_: Nothing| {
            started.fetch_add(1, Ordering::Relaxed);
            let permits = permits.clone();
            async move { permits.acquire().await.map(drop).map_err(|error| error.to_string()) }
        });
        let crash = crash.unwrap().map_metadata(|metadata| metadata.with_read_only(true));
        let agent = Agent::builder(model.clone()).tools(ToolRegistry::from_tools([crash]).unwrap());
        local(agent.build().unwrap(), &store)
    };
    let first = process();
    let runs = owner();
    first.spawn(async move { runs.submit(KEY, RunInput::new("Read.").with_run("1")).await });
    until(|| started.load(Ordering::Relaxed) == 1).await;
    first.shutdown_background();
    for attempt in 2..=5 {
        let next = process();
        let runs = owner();
        next.spawn(async move { runs.take_over().await });
        until(|| started.load(Ordering::Relaxed) == attempt).await;
        next.shutdown_background();
    }
    let program = Program { store: store.clone(), runs: owner(), paid: started.clone(), permits };
    program.runs.take_over().await.unwrap();
    let reason = program.ended().await;
    assert!(
        matches!(&reason, EndReason::Failed { kind, message, .. } if kind == "limit" && message.contains("5 processes")),
        "{reason:?}"
    );
    assert_eq!(started.load(Ordering::Relaxed), 5);
    // The next start has nothing to take over, and another input begins another run.
    assert_eq!(program.runs.take_over().await.unwrap(), 0);
    program.begin("Then without it.", "2").await;
    program.status(|status| matches!(status, RunStatus::Ended { run, .. } if &**run == "2")).await;
    assert_eq!(program.texts().await.last().unwrap(), "Survived.");
}

/// The decision was used: the call may have had its effect, so it neither runs again nor asks again.
#[tokio::test]
async fn an_approved_call_that_was_killed_neither_runs_nor_asks_again() {
    let store = MemoryStore::new();
    let model = ScriptedModel::new().response(calls(["pay"])).text("I do not know whether it is paid.");
    let (paid, permits) = (Arc::<AtomicU32>::default(), Arc::new(Semaphore::new(0)));
    let owner = || {
        let (paid, permits) = (paid.clone(), permits.clone());
        let pay = ClosureTool::new("pay", "Pays.", move |_: Nothing| {
            paid.fetch_add(1, Ordering::Relaxed);
            let permits = permits.clone();
            async move { permits.acquire().await.map(drop).map_err(|error| error.to_string()) }
        });
        let tools = ToolRegistry::from_tools([pay.unwrap()]).unwrap();
        let permissions = Permissions::new()
            .rule(PermissionRule::ask("it costs money").for_tool("pay").unwrap())
            .otherwise(Permission::Allow)
            .decide_later();
        let agent = Agent::builder(model.clone()).tools(tools).middleware(permissions);
        local(agent.build().unwrap(), &store)
    };
    let program =
        Program { store: store.clone(), runs: owner(), paid: paid.clone(), permits: permits.clone() };
    program.begin("Pay.", "1").await;
    let [call] = program.waiting().await.try_into().unwrap();
    drop(program);
    let killed = process();
    let (runs, name) = (owner(), call.clone());
    killed.spawn(async move { runs.decide(KEY, &name, Decision::Approve, "bob").await });
    until(|| paid.load(Ordering::Relaxed) == 1).await;
    killed.shutdown_background();

    let program = Program { store: store.clone(), runs: owner(), paid: paid.clone(), permits };
    program.runs.take_over().await.unwrap();
    assert_eq!(program.ended().await, EndReason::Answered);
    assert_eq!(paid.load(Ordering::Relaxed), 1);
    let texts = program.texts().await;
    assert!(texts.iter().any(|text| text.contains("was started, but the program stopped")), "{texts:?}");
    assert!(program.runs.decide(KEY, &call, Decision::Approve, "eve").await.is_ok(), "the same decision");
}

/// The model was asked with the input, and has not answered when the process dies.
#[tokio::test]
async fn a_steered_input_is_read_once_after_a_kill() {
    let store = MemoryStore::new();
    let asked = Arc::<AtomicU32>::default();
    let hangs = asked.clone();
    let model = ScriptedModel::new()
        .response(calls(["work"]))
        .respond_with(move |_| {
            hangs.fetch_add(1, Ordering::Relaxed);
            loop {
                std::thread::park();
            }
        })
        .text("Both.");
    let permits = Arc::new(Semaphore::new(0));
    let owner =
        || -> LocalRuns { local(agent(model.clone(), &Arc::default(), &permits).build().unwrap(), &store) };
    let killed = process();
    let runs = owner();
    killed.spawn(async move { runs.submit(KEY, RunInput::new("One.").with_run("1")).await });
    until(|| model.requests().len() == 1).await;
    let program =
        Program { store: store.clone(), runs: owner(), paid: Arc::default(), permits: permits.clone() };
    program.status(|status| matches!(status, RunStatus::Working { .. })).await;
    let two = RunInput::new("Two.").with_run("2").with_mode(InputMode::Steer);
    program.runs.submit(KEY, two).await.unwrap();
    sleep(Duration::from_millis(100)).await;
    permits.add_permits(1);
    until(|| asked.load(Ordering::Relaxed) == 1).await;
    killed.shutdown_background();

    program.runs.take_over().await.unwrap();
    assert_eq!(program.ended().await, EndReason::Answered);
    let texts = program.texts().await;
    assert_eq!(texts.iter().filter(|text| *text == "Two.").count(), 1, "{texts:?}");
    assert_eq!(model.remaining(), 0);
}
