//! Two processes that work on one saved conversation.

use crate::support::{Hesitant, Nothing, transcript};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::time::{sleep, timeout};
use toolkit_agent::session::{ConversationStore, MemoryStore};
use toolkit_agent::team::ParallelAgent;
use toolkit_agent::{
    Agent, AgentError, Decisions, Message, ModelRequest, ModelResponse, PendingCall, RunError, RunOptions,
    RunOutput, ScriptedModel, Sessions,
};
use toolkit_core::middleware::{PermissionRule, Permissions};
use toolkit_core::{ClosureTool, Dispatcher, ToolCall, ToolRegistry};

/// Creates an agent whose model counts its requests, makes these calls, and then answers.
fn counted(name: &str, calls: &[&str], below: Option<&Agent>, asked: &Arc<AtomicU32>) -> Agent {
    let wait = |_: Nothing| async {
        sleep(Duration::from_millis(3)).await;
        "waited"
    };
    let mut tools = ToolRegistry::from_tools([ClosureTool::new("wait", "Waits.", wait).unwrap()]).unwrap();
    below.into_iter().for_each(|agent| tools.register(agent.to_tool().unwrap()).unwrap());
    let asked = asked.clone();
    let calls = calls.iter().map(|call| (*call).to_owned()).collect::<Vec<_>>();
    let model = ScriptedModel::new().fallback(move |request: &ModelRequest| {
        asked.fetch_add(1, Ordering::Relaxed);
        Ok(match request.messages.last() {
            Some(Message::Tool(_)) => ModelResponse::text("done"),
            _ => ModelResponse::calls(calls.iter().zip(0..).map(|(tool, number)| {
                let arguments = if tool == "expert" { r#"{"request": "Help."}"# } else { "{}" };
                ToolCall::new(format!("{number}"), tool.as_str(), arguments)
            })),
        })
    });
    Agent::builder(Hesitant(model)).name(name).tools(tools).build().unwrap()
}

fn team(kind: usize, asked: &Arc<AtomicU32>) -> Agent {
    let one = |name: &str| counted(name, &["wait"], None, asked);
    match kind {
        0 => one("one"),
        1 => ParallelAgent::new("team", [one("one"), one("two")]).into(),
        2 => counted("root", &["expert", "wait"], Some(&one("expert")), asked),
        _ => {
            let outer = counted("outer", &["expert"], Some(&one("expert")), asked);
            ParallelAgent::new("team", [outer, one("two")]).into()
        }
    }
}

fn is_conflict(ended: &Result<RunOutput, RunError>) -> bool {
    matches!(ended, Err(RunError { error: AgentError::Store(error), .. }) if error.is_conflict)
}

async fn log(store: &MemoryStore) -> Vec<String> {
    store.load("ada", "1").await.unwrap().unwrap().entries
}

/// Returns a copy of the store, as it is now.
async fn copied(store: &MemoryStore) -> MemoryStore {
    let copy = MemoryStore::new();
    let mut version = 0;
    for entry in log(store).await {
        version = copy.append("ada", "1", version, &entry).await.unwrap();
    }
    copy
}

#[tokio::test(start_paused = true)]
async fn of_two_processes_that_resume_one_is_refused_before_it_asks_a_model() {
    for kind in 0..4 {
        for crash in 1.. {
            let store = MemoryStore::new();
            let asked = Arc::default();
            let agent = team(kind, &asked);
            let run = async { Sessions::new(store.clone()).run(&agent, "ada", "1", "go").await };
            let ended = timeout(Duration::from_millis(crash), run).await;
            // A dropped save finishes in its own task.
            sleep(Duration::from_millis(1)).await;
            let resume =
                async |store: &MemoryStore| Sessions::new(store.clone()).resume(&agent, "ada", "1").await;
            let requests = || asked.swap(0, Ordering::Relaxed);
            requests();
            let alone = copied(&store).await;
            resume(&alone).await.unwrap();
            let expected = requests();
            let before = log(&store).await;
            let is_finished = log(&alone).await == before;
            assert!(is_finished || ended.is_err());
            let both = tokio::join!(resume(&store), resume(&store));
            let case = format!("kind {kind}, crash after {crash} ms: {both:?}");
            assert_eq!(requests(), expected, "{case}");
            if is_finished {
                // A finished conversation is not changed.
                assert!(both.0.is_ok() && both.1.is_ok() && expected == 0, "{case}");
                assert_eq!(log(&store).await, before);
                if ended.is_ok() {
                    break;
                }
                continue;
            }
            let (won, lost) = if both.0.is_ok() { both } else { (both.1, both.0) };
            assert!(won.is_ok() && is_conflict(&lost), "{case}");
        }
    }
}

/// Creates an agent that calls `pay`, which needs approval, and `slow`, which takes a minute, itself or within another
/// agent.
fn slow(is_nested: bool) -> Agent {
    let slow = |_: Nothing| async {
        sleep(Duration::from_secs(60)).await;
        "slow"
    };
    let tools = [
        ClosureTool::new("pay", "Pays.", |_: Nothing| "paid").unwrap(),
        ClosureTool::new("slow", "Is slow.", slow).unwrap(),
    ];
    let permissions = Permissions::new()
        .rule(PermissionRule::ask("it costs money").for_tool("pay").unwrap())
        .rule(PermissionRule::allow())
        .decide_later();
    let dispatcher =
        Dispatcher::new(ToolRegistry::from_tools(tools).unwrap()).unwrap().with_middleware(permissions);
    let model = ScriptedModel::new().call("pay", "{}").call("slow", "{}").fallback(said);
    let agent = Agent::builder(model).name("expert").dispatcher(dispatcher).build().unwrap();
    if !is_nested {
        return agent;
    }
    let model = ScriptedModel::new().call("expert", r#"{"request": "Pay."}"#).fallback(said);
    Agent::builder(model)
        .tools(ToolRegistry::from_tools([agent.to_tool().unwrap()]).unwrap())
        .build()
        .unwrap()
}

/// Answers with the results of the latest calls.
fn said(request: &ModelRequest) -> Result<ModelResponse, toolkit_agent::ModelError> {
    let latest = request.messages.last().map(std::slice::from_ref).unwrap_or_default();
    Ok(ModelResponse::text(transcript(latest).join("\n")))
}

async fn pending(store: &MemoryStore) -> Vec<PendingCall> {
    Sessions::new(store.clone()).open("ada", "1").await.unwrap().pending()
}

#[tokio::test(start_paused = true)]
async fn decisions_wait_for_the_end_of_a_run() {
    for (is_nested, is_crash) in [(false, false), (false, true), (true, false), (true, true)] {
        let store = MemoryStore::new();
        let agent = slow(is_nested);
        let decide = async || {
            let decisions =
                pending(&store).await.iter().fold(Decisions::new(), |all, call| all.approve(&call.id));
            assert!(!decisions.is_empty());
            let options = RunOptions::new().with_decisions(decisions);
            Sessions::new(store.clone()).resume_with(&agent, "ada", "1", options).await
        };
        let run = async { Sessions::new(store.clone()).run(&agent, "ada", "1", "go").await };
        let early = async {
            sleep(Duration::from_secs(1)).await;
            decide().await
        };
        let limit = Duration::from_secs(if is_crash { 10 } else { 100 });
        let (ended, early) = tokio::join!(timeout(limit, run), early);
        let refused = "a run works on this conversation, or its process has died; wait for the end of the run, or \
            resume without decisions to take it over, and decide then";
        assert_eq!(early.map_err(AgentError::from), Err(AgentError::InvalidDecision(refused.to_owned())));
        let ended = match ended {
            Ok(ended) => ended,
            Err(_) => {
                let calls = pending(&store).await;
                assert_eq!(
                    decide().await.unwrap_err().error,
                    AgentError::InvalidDecision(refused.to_owned())
                );
                assert_eq!(pending(&store).await, calls);
                Sessions::new(store.clone()).resume(&agent, "ada", "1").await
            }
        };
        assert!(matches!(ended.unwrap_err().error, AgentError::Interrupted { .. }));
        let text = decide().await.unwrap().text;
        assert_eq!(text.contains("may have run"), is_crash, "{text}");
        assert!(
            text.contains("results: paid, ") || text.contains(r#""response":"results: paid, "#),
            "{text}"
        );
        assert!(is_crash || text.contains("paid, slow"), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn decisions_continue_a_run_that_was_dropped_in_this_process() {
    let agent = slow(false);
    let sessions = Sessions::default();
    let mut conversation = sessions.open("ada", "1").await.unwrap();
    let options = || RunOptions::new().with_autosave(&sessions);
    let run = agent.run_with(&mut conversation, "go", options());
    timeout(Duration::from_secs(10), run).await.unwrap_err();
    let id = conversation.pending().remove(0).id;
    let options = options().with_decisions(Decisions::new().approve(id));
    let output = agent.resume(&mut conversation, options).await.unwrap();
    assert!(output.text.starts_with("results: paid, "), "{}", output.text);
}
