//! The context that tools read, and their writes.

use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolkit_ai::context::{Progress, SessionMap};
use toolkit_ai::prelude::*;
use toolkit_ai::{RunContext, Session, ToolName};

/// Sets a key of the session, and then fails if an argument asks for it.
#[tool(register = false)]
async fn set(
    key: String,
    value: i64,
    #[param(default = 0)] wait: u64,
    #[param(default = false)] fail: bool,
    context: &ToolContext,
) -> Result<Option<i64>, String> {
    let before = context.session().get(&key).and_then(|value| value.as_i64());
    context.session().set(key.as_str(), value);
    tokio::time::sleep(Duration::from_millis(wait)).await;
    assert_eq!(context.session().get(&key), Some(value.into()), "a call reads what it has written");
    if fail { Err("no luck".to_owned()) } else { Ok(before) }
}

/// Removes a key.
#[tool(register = false)]
fn remove(key: String, context: &ToolContext) -> bool {
    context.session().remove(key.as_str());
    context.session().get(&key).is_none()
}

/// Hands over.
#[tool(register = false)]
fn hand_over(
    agent: String,
    #[param(default = false)] fail: bool,
    context: &ToolContext,
) -> Result<(), String> {
    context.actions().transfer_to_agent(agent);
    context.actions().escalate();
    context.actions().skip_summarization();
    if fail { Err("no luck".to_owned()) } else { Ok(()) }
}

/// Returns the agent, the session, the run and the tenant.
#[tool(register = false)]
fn whereami(context: &ToolContext) -> String {
    let session = context.session();
    let tenant = context.extension::<Tenant>();
    format!(
        "{:?} {:?} {:?} {:?}",
        context.agent_name(),
        session.id(),
        context.invocation_id(),
        tenant.map(|tenant| tenant.0)
    )
}

/// Reports its progress in several steps.
#[tool(register = false)]
async fn work(context: &ToolContext) {
    for step in [-1.0, 0.5, f64::NAN, 7.0] {
        context.progress(step, format!("step {step}"));
        tokio::task::yield_now().await;
    }
}

/// Returns the time until the deadline.
#[tool(register = false, timeout = "2s")]
async fn timed(context: &ToolContext) -> (Option<u64>, bool) {
    tokio::time::sleep(Duration::from_millis(500)).await;
    let left = context.time_left().map(|left| u64::try_from(left.as_millis()).unwrap());
    (left, context.deadline().is_some())
}

struct Tenant(&'static str);

fn dispatcher() -> Dispatcher {
    let tools = tools![set, remove, hand_over, whereami, work, timed];
    Dispatcher::new(ToolRegistry::from_tools(tools).unwrap()).unwrap()
}

fn call(id: usize, tool: &str, arguments: serde_json::Value) -> ToolCall {
    ToolCall::new(format!("call_{id}"), tool, arguments.to_string())
}

use serde_json::json;

#[tokio::test(start_paused = true)]
async fn changes_of_successful_calls_are_applied_in_call_order() {
    let session = Session::new("s").with_store(SessionMap::from_iter([("gone", 1), ("kept", 7)]));
    let dispatcher = dispatcher().with_run(RunContext::new().with_session(session.clone()));
    let calls = || {
        [
            call(0, "set", json!({"key": "a", "value": 1, "wait": 50})),
            call(1, "set", json!({"key": "a", "value": 2, "wait": 10})),
            call(2, "set", json!({"key": "a", "value": 3, "fail": true})),
            call(3, "set", json!({"key": "kept", "value": 8, "fail": true})),
            call(4, "remove", json!({"key": "gone"})),
        ]
    };
    let results = dispatcher.dispatch(calls()).await;
    assert_eq!(results[1].to_text(), "null", "no call sees the writes of another one of its batch");
    assert_eq!(session.get("a"), Some(2.into()), "the later call wins, although it was done first");
    assert_eq!(session.get("kept"), Some(7.into()));
    assert_eq!(session.get("gone"), None);
    assert_eq!(results[1].actions.state_delta["a"], Some(2.into()));
    assert!(results[2].actions.is_empty());

    let mut stream = dispatcher.batch(calls());
    session.apply(&[("a".to_owned(), Some(0.into()))].into());
    while let Some(result) = stream.next().await {
        assert_eq!(session.get("a"), Some(0.into()), "{result:?}");
    }
    assert_eq!(session.get("a"), Some(2.into()), "the batch has ended");
    let results = dispatcher.dispatch([call(0, "set", json!({"key": "a", "value": 9}))]).await;
    assert_eq!(results[0].to_text(), "2", "the next batch sees what the one before has changed");
}

#[tokio::test(start_paused = true)]
async fn writes_of_a_stopped_call_are_discarded() {
    let session = Session::new("s");
    let run = RunContext::new().with_session(session.clone());
    let dispatcher = dispatcher().with_timeout(Duration::from_millis(20)).with_run(run);
    let slow = call(0, "set", json!({"key": "a", "value": 1, "wait": 5_000}));
    let results = dispatcher.dispatch([slow, call(1, "set", json!({"key": "b", "value": 1}))]).await;
    assert!(results[0].is_error() && !results[1].is_error());
    assert_eq!((session.get("a"), session.get("b")), (None, Some(1.into())));
}

#[tokio::test(start_paused = true)]
async fn prefixes_select_the_scope_of_a_value() {
    let app = SessionMap::new();
    let user = SessionMap::new();
    let session = |id: &str| Session::new(id).with_app(app.clone()).with_user(user.clone());
    let first = session("1");
    let second = session("2");
    let run = RunContext::new().with_session(first.clone());
    let keys = ["app:k", "user:k", "temp:k", "k"];
    let set = |value: i64| keys.map(|key| call(0, "set", json!({"key": key, "value": value})));
    dispatcher().with_run(run.clone()).dispatch(set(1)).await;

    assert_eq!(keys.map(|key| first.get(key).is_some()), [true, true, false, true]);
    assert_eq!(keys.map(|key| second.get(key).is_some()), [true, true, false, false]);
    assert_eq!(app.snapshot().into_iter().collect::<Vec<_>>(), [("k".to_owned(), 1.into())]);
    let seen =
        |results: Vec<ToolResult>| results.iter().map(|r| r.to_text().into_owned()).collect::<Vec<_>>();
    let again = dispatcher().with_run(run).dispatch(set(2)).await;
    assert_eq!(seen(again), ["1", "1", "1", "1"], "the same run");
    let other_run = RunContext::new().with_session(first);
    let later = dispatcher().with_run(other_run).dispatch(set(3)).await;
    assert_eq!(seen(later), ["2", "2", "null", "2"], "another run of the session");
}

#[tokio::test]
async fn actions_are_merged_in_the_order_of_the_calls() {
    let hand_over = |id, agent: &str, fail| call(id, "hand_over", json!({"agent": agent, "fail": fail}));
    let calls = [hand_over(0, "a", false), hand_over(1, "b", false), hand_over(2, "c", true)];
    let results = dispatcher().dispatch(calls).await;
    let merged = ToolResult::merged_actions(&results);
    assert_eq!(merged.transfer_to_agent.as_deref(), Some("b"));
    assert!(merged.escalate && merged.skip_summarization);
    assert!(results[2].actions.is_empty(), "a call that failed wants nothing");
}

#[tokio::test]
async fn tools_know_their_run() {
    let whereami = || [call(0, "whereami", json!({}))];
    assert_eq!(dispatcher().dispatch(whereami()).await[0].to_text(), "None None None None");
    let run = RunContext::new()
        .with_agent_name("analyst")
        .with_invocation_id("run 1")
        .with_session(Session::new("s1"))
        .with_extension(Tenant("acme"));
    let results = dispatcher().with_run(run.clone()).dispatch(whereami()).await;
    assert_eq!(results[0].to_text(), r#"Some("analyst") Some("s1") Some("run 1") Some("acme")"#);

    let context = ToolContext::new(ToolName::new("t").unwrap()).with_run(run).with_extension(Tenant("own"));
    assert_eq!(context.extension::<Tenant>().map(|tenant| tenant.0), Some("own"));
}

#[tokio::test]
async fn progress_reaches_the_listener_whose_panic_is_ignored() {
    let received = Arc::new(Mutex::new(Vec::new()));
    let listener = received.clone();
    let run = RunContext::new().on_progress(move |progress: Progress| {
        let id = progress.call_id.map(|id| id.to_string());
        listener.lock().unwrap().push((id, progress.fraction, progress.message));
    });
    dispatcher().with_run(run).dispatch([call(3, "work", json!({}))]).await;
    let fractions: Vec<f64> = received.lock().unwrap().iter().map(|(_, fraction, _)| *fraction).collect();
    assert_eq!(fractions, [0.0, 0.5, 0.0, 1.0]);
    assert_eq!(received.lock().unwrap()[1], (Some("call_3".to_owned()), 0.5, "step 0.5".to_owned()));

    let run = RunContext::new().on_progress(|_| panic!("the listener is ill"));
    let results = dispatcher().with_run(run).dispatch([call(0, "work", json!({}))]).await;
    assert_eq!(results[0].to_text(), "done");
}

#[tokio::test(start_paused = true)]
async fn a_call_knows_its_deadline() {
    let results = dispatcher().dispatch([call(0, "timed", json!({}))]).await;
    assert_eq!(results[0].to_text(), "[1500,true]");
    let context = ToolContext::new(ToolName::new("t").unwrap());
    assert_eq!((context.deadline(), context.time_left()), (None, None));
}

#[tokio::test]
async fn writes_of_an_abandoned_thread_are_discarded() {
    let kept = Arc::new(Mutex::new(None));
    let shelf = kept.clone();
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Nothing {}
    let leak =
        toolkit_ai::ClosureTool::new_with_context("leak", "", move |_: Nothing, context: ToolContext| {
            context.session().set("a", 1);
            *shelf.lock().unwrap() = Some(context);
        });
    let registry = ToolRegistry::from_tools([leak.unwrap()]).unwrap();
    let session = Session::new("s");
    let run = RunContext::new().with_session(session.clone());
    let dispatcher = Dispatcher::new(registry).unwrap().with_run(run);
    let results = dispatcher.dispatch([call(0, "leak", json!({}))]).await;
    assert_eq!(results[0].actions.state_delta.len(), 1);
    let context = kept.lock().unwrap().take().unwrap();
    context.session().set("a", 2);
    assert_eq!((context.session().get("a"), session.get("a")), (Some(1.into()), Some(1.into())));
}
