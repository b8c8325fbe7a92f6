//! What lists tell of a conversation, and what its log tells of its runs.

use crate::support::{KEY, Nothing, agent, entries_of, pending, question};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use tokio::time::timeout;
use toolkit_agent::session::{ConversationInfo, ConversationStore as _, EndReason, MemoryStore, RunStatus};
use toolkit_agent::{Agent, AgentError, Conversation, Decision, Decisions, Limits, Sessions};
use toolkit_core::middleware::{PermissionRule, Permissions};
use toolkit_core::{CancellationToken, ClosureTool, Dispatcher, ToolCall, ToolContext, ToolRegistry};
use toolkit_llm::{ModelError, ModelResponse, Price, ScriptedModel, Usage};

/// Returns the only conversation of the store, and whether it is unfinished.
async fn listed(store: &MemoryStore) -> (ConversationInfo, bool) {
    let mut listed = store.list("ada").await.unwrap();
    assert_eq!(listed.len(), 1);
    let info = listed.remove(0);
    let unfinished = store.unfinished(Some("ada")).await.unwrap();
    assert_eq!(store.unfinished(None).await.unwrap(), unfinished);
    assert_eq!(store.unfinished(Some("bob")).await.unwrap(), []);
    assert!(unfinished.is_empty() || unfinished == [info.clone()]);
    (info, !unfinished.is_empty())
}

async fn status(store: &MemoryStore) -> Value {
    let (info, is_unfinished) = listed(store).await;
    assert_eq!(info.summary.is_unfinished(), is_unfinished);
    serde_json::to_value(&info.summary.status).unwrap()
}

fn failing() -> Agent {
    Agent::builder(ScriptedModel::new().error(ModelError::from_status(401, "no key"))).build().unwrap()
}

#[tokio::test]
async fn a_list_tells_how_each_run_has_ended() {
    let store = MemoryStore::new();
    let sessions = Sessions::new(store.clone());
    let place = || sessions.user("ada").conversation("1");
    let mut conversation = place().open().await.unwrap();
    conversation.push(toolkit_llm::Message::user("Hi."));
    sessions.save(&mut conversation).await.unwrap();
    drop(conversation);
    assert_eq!(status(&store).await, json!("idle"));
    assert_eq!(listed(&store).await.0.summary.status.run(), None);

    let answering = agent(ScriptedModel::new().text("Hello.")).build().unwrap();
    answering.run("Hi.").on(place()).invocation_id("one").await.unwrap();
    assert_eq!(status(&store).await, json!({"ended": {"run": "one", "reason": "answered"}}));

    failing().run("Hi.").on(place()).invocation_id("two").await.unwrap_err();
    let RunStatus::Ended { run, reason: EndReason::Failed { kind, message, .. }, .. } =
        listed(&store).await.0.summary.status
    else {
        panic!("{}", status(&store).await)
    };
    assert_eq!((&*run, kind.as_str()), ("two", "model"));
    assert!(message.contains("no key"), "{message}");

    let limits = Limits::default().with_max_model_calls(0);
    answering.run("Hi.").on(place()).limits(limits).invocation_id("three").await.unwrap_err();
    assert_eq!(status(&store).await.pointer("/ended/reason/failed/kind"), Some(&json!("limit")));

    let cancelled = CancellationToken::new();
    cancelled.cancel();
    answering.run("Hi.").on(place()).cancellation(cancelled).invocation_id("four").await.unwrap_err();
    assert_eq!(status(&store).await, json!({"ended": {"run": "four", "reason": "cancelled"}}));
}

#[tokio::test(start_paused = true)]
async fn another_process_sees_a_run_that_works_and_one_that_was_dropped() {
    let store = MemoryStore::new();
    let sessions = Sessions::new(store.clone());
    let place = || sessions.user("ada").conversation("1");
    let wait = r#"{"ms": 60000}"#;
    let model = ScriptedModel::new().call("wait", wait).text("Done.").call("wait", wait);
    let agent = agent(model).build().unwrap();
    let run = agent.run("Wait.").on(place()).invocation_id("one");
    let mut run = std::pin::pin!(run.into_future());
    assert!(timeout(Duration::from_secs(1), &mut run).await.is_err());
    assert_eq!(status(&store).await, json!({"working": {"run": "one", "attempt": 1}}));
    assert!(listed(&store).await.1);
    // A process that takes the run over is another attempt, and the first one can save nothing more.
    let output = agent.resume(Sessions::new(store.clone()).user("ada").conversation("1")).await.unwrap();
    assert_eq!(output.text, "Done.");
    assert_eq!(status(&store).await, json!({"ended": {"run": "one", "reason": "answered"}}));
    let lost = run.await.unwrap_err();
    assert!(matches!(lost.error, AgentError::Store(error) if error.is_conflict()));

    let run = agent.run("Wait again.").on(place()).invocation_id("two");
    drop(timeout(Duration::from_millis(1), run).await);
    tokio::task::yield_now().await;
    assert_eq!(status(&store).await, json!({"ended": {"run": "two", "reason": "dropped"}}));
    assert!(!listed(&store).await.1);
}

#[tokio::test]
async fn a_run_that_waits_is_listed_with_its_calls_and_its_time() {
    let store = MemoryStore::new();
    let sessions = Sessions::new(store.clone());
    let place = || sessions.user("ada").conversation("1");
    let tools = || ToolRegistry::from_tools([question("ask")]).unwrap();
    let model = ScriptedModel::new().call("ask", "{}").text("Blue.");
    let agent = Agent::builder(model).name("painter").tools(tools()).build().unwrap();
    let before = SystemTime::now();
    let calls = pending(agent.run("Paint.").on(place()).invocation_id("one").await);
    let (info, is_unfinished) = listed(&store).await;
    assert!(is_unfinished);
    let RunStatus::Waiting { run, calls: listed_calls, .. } = &info.summary.status else {
        panic!("{info:?}")
    };
    assert_eq!((&**run, listed_calls), ("one", &calls));
    assert_eq!((calls[0].id.as_str(), calls[0].agent.as_str()), ("1.1.0", "painter"));
    let since = info.summary.status.waiting_since().unwrap();
    assert!(since + Duration::from_secs(1) >= before && since <= SystemTime::now(), "{since:?}");
    assert!(info.created_at >= before && info.saved_at >= info.created_at);
    agent.resume(place()).decide(Decisions::new().answer("1.1.0", "blue")).await.unwrap();
    assert_eq!(status(&store).await, json!({"ended": {"run": "one", "reason": "answered"}}));

    pending(
        Agent::builder(ScriptedModel::new().call("ask", "{}"))
            .tools(tools())
            .build()
            .unwrap()
            .run("Again.")
            .on(place())
            .await,
    );
    place().abandon().await.unwrap();
    assert_eq!(status(&store).await, json!("idle"));
}

/// A tool that notes the ids of its runs and asks.
fn noting(seen: &Arc<Mutex<Vec<String>>>) -> ToolRegistry {
    let seen = seen.clone();
    let ask = ClosureTool::new_with_context("look", "Looks.", move |_: Nothing, context: ToolContext| {
        seen.lock().unwrap().push(context.invocation_id().unwrap_or_default().to_owned());
    });
    ToolRegistry::from_tools([ask.unwrap(), question("ask")]).unwrap()
}

#[tokio::test]
async fn the_id_of_a_run_is_its_invocation_id_and_survives_resumes() {
    for named in [Some("order 7"), None] {
        let store = MemoryStore::new();
        let seen = Arc::default();
        let model = ScriptedModel::new();
        let model = model.call("look", "{}").then().call("ask", "{}").then().call("look", "{}").then();
        let agent =
            Agent::builder(model.call("ask", "{}").text("Done.")).tools(noting(&seen)).build().unwrap();
        let place = || Sessions::new(store.clone()).user("ada").conversation("1");
        let run = agent.run("Go.").on(place());
        pending(match named {
            Some(id) => run.invocation_id(id).await,
            None => run.await,
        });
        let id = listed(&store).await.0.summary.status.run().unwrap().to_owned();
        assert!(named.is_none_or(|named| named == id), "{id}");
        // By `.await`, and by a stream.
        pending(agent.resume(place()).decide(Decisions::new().answer("1.2.0", "blue")).await);
        let decisions = Decisions::new().answer("1.4.0", "green");
        agent.resume(place()).decide(decisions).stream().finish().await.unwrap();
        assert_eq!(*seen.lock().unwrap(), [id.clone(), id.clone()]);
        let log = store.load(KEY).await.unwrap().unwrap().entries.join(" ");
        let began: Vec<Value> = entries_of(&log)
            .iter()
            .filter_map(|line| line["entry"].pointer("/run_began/run").cloned())
            .collect();
        assert_eq!(began, [json!(id)]);
        assert_eq!(listed(&store).await.0.summary.status.run(), Some(id.as_str()));
    }
}

#[tokio::test(start_paused = true)]
async fn each_process_that_works_on_a_run_is_an_attempt() {
    let store = MemoryStore::new();
    let wait = r#"{"ms": 60000}"#;
    let model = ScriptedModel::new().call("wait", wait).then().call("wait", wait).then();
    let model = model.call("wait", wait).text("Done.");
    let agent = agent(model).build().unwrap();
    let place = || Sessions::new(store.clone()).user("ada").conversation("1");
    let run = agent.run("Wait.").on(place()).invocation_id("one");
    let mut attempts = vec![tokio::spawn(async move { run.await.map(drop) })];
    for attempt in 1..=3 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(status(&store).await, json!({"working": {"run": "one", "attempt": attempt}}));
        let agent = agent.clone();
        let place = place();
        attempts.push(tokio::spawn(async move { agent.resume(place).await.map(drop) }));
    }
    let last = attempts.pop().unwrap();
    last.await.unwrap().unwrap();
    assert_eq!(status(&store).await, json!({"ended": {"run": "one", "reason": "answered"}}));
}

fn paid(response: ModelResponse) -> ModelResponse {
    response.with_usage(Usage::new(600, 400))
}

fn asks() -> ModelResponse {
    paid(ModelResponse::calls([ToolCall::new("1", "ask", "{}")]))
}

/// Each response costs 1.
fn priced(model: ScriptedModel) -> Agent {
    let tools = ToolRegistry::from_tools([question("ask")]).unwrap();
    let price = Price::per_million(1_000.0, 1_000.0);
    Agent::builder(model).tools(tools).price(price).build().unwrap()
}

#[tokio::test]
async fn an_output_tells_the_latest_attempt_and_the_whole_run() {
    let model =
        ScriptedModel::new().response(asks()).response(asks()).response(paid(ModelResponse::text("Done.")));
    let agent = priced(model);
    let sessions = Sessions::default();
    let place = || sessions.user("ada").conversation("1");
    let counts = |output: &toolkit_agent::RunOutput| {
        let attempt = &output.attempt;
        let whole = (output.cost, output.model_calls, output.tool_calls, output.usage.total());
        let latest = (attempt.cost, attempt.model_calls, attempt.tool_calls, attempt.usage.total());
        (whole, latest)
    };
    let first = agent.run("Go.").on(place()).await.unwrap_err();
    assert_eq!(counts(&first.output), ((1.0, 1, 1, 1_000), (1.0, 1, 1, 1_000)));
    let second = agent.resume(place()).decide(Decisions::new().answer("1.1.0", "blue")).await.unwrap_err();
    assert_eq!(counts(&second.output), ((2.0, 2, 2, 2_000), (1.0, 1, 1, 1_000)));
    let third = agent.resume(place()).decide(Decisions::new().answer("1.2.0", "blue")).await.unwrap();
    assert_eq!(counts(&third), ((3.0, 3, 2, 3_000), (1.0, 1, 0, 1_000)));
    assert_eq!(place().open().await.unwrap().latest_run(), Some(third));
}

#[tokio::test]
async fn a_conversation_has_spent_the_sum_of_its_runs_their_attempts_and_abandoned_ones() {
    let sessions = Sessions::default();
    let place = || sessions.user("ada").conversation("1");
    let spent = async || {
        let conversation = place().open().await.unwrap();
        let spent = conversation.spent();
        let saved = serde_json::to_string(&conversation).unwrap();
        let restored: Conversation = serde_json::from_str(&saved).unwrap();
        assert_eq!(restored.spent(), spent);
        (spent.cost, spent.model_calls, spent.tool_calls, spent.usage.total())
    };
    assert_eq!(spent().await, (0.0, 0, 0, 0));
    let text = || paid(ModelResponse::text("Done."));
    priced(ScriptedModel::new().response(text())).run("Go.").on(place()).await.unwrap();
    assert_eq!(spent().await, (1.0, 1, 0, 1_000));
    // Two attempts.
    let agent = priced(ScriptedModel::new().response(asks()).response(text()));
    pending(agent.run("Ask.").on(place()).await);
    assert_eq!(spent().await, (2.0, 2, 1, 2_000));
    agent.resume(place()).decide(Decisions::new().answer("2.1.0", "blue")).await.unwrap();
    assert_eq!(spent().await, (3.0, 3, 1, 3_000));
    // An abandoned run, one that new input ends, and a failed one.
    pending(priced(ScriptedModel::new().response(asks())).run("Ask.").on(place()).await);
    place().abandon().await.unwrap();
    assert_eq!(spent().await, (4.0, 4, 2, 4_000));
    pending(priced(ScriptedModel::new().response(asks())).run("Ask.").on(place()).await);
    let model = ScriptedModel::new().response(asks()).error(ModelError::from_status(401, "no key"));
    let agent = priced(model);
    pending(agent.run("Ask.").on(place()).await);
    agent.resume(place()).decide(Decisions::new().answer("5.1.0", "blue")).await.unwrap_err();
    let (cost, model_calls, tool_calls, tokens) = spent().await;
    assert_eq!((cost, model_calls, tool_calls, tokens), (6.0, 7, 4, 6_000));
    // An erased log begins with the sum.
    sessions.erase(&mut place().open().await.unwrap()).await.unwrap();
    assert_eq!(spent().await, (6.0, 7, 4, 6_000));
}

#[tokio::test]
async fn the_title_is_the_beginning_of_the_first_input() {
    let long = "word ".repeat(40);
    let cut = format!("{}…", "word ".repeat(12).trim_end());
    for (input, title) in
        [("  What is new?  \nTell me.", "What is new?"), (long.as_str(), cut.as_str()), ("", "")]
    {
        let store = MemoryStore::new();
        let sessions = Sessions::new(store.clone());
        let agent = Agent::builder(ScriptedModel::new().text("Hm.").text("Hm.")).build().unwrap();
        agent.run(input).on(sessions.user("ada").conversation("1")).await.unwrap();
        assert_eq!(&*listed(&store).await.0.summary.title, title);
        if !title.is_empty() {
            agent.run("More.").on(Sessions::new(store.clone()).user("ada").conversation("1")).await.unwrap();
            assert_eq!(&*listed(&store).await.0.summary.title, title);
        }
    }
}

#[tokio::test]
async fn the_log_has_each_decision_with_its_author() {
    let pay = ClosureTool::new("pay", "Pays.", |_: Nothing| "paid").unwrap();
    let permissions = Permissions::new()
        .rule(PermissionRule::ask("it is money").for_tool("pay").unwrap())
        .rule(PermissionRule::allow())
        .decide_later();
    let tools = ToolRegistry::from_tools([pay, question("ask")]).unwrap();
    let dispatcher = Dispatcher::new(tools).unwrap().with_middleware(permissions);
    let names = ["pay", "pay", "ask", "ask"];
    let calls = (0..).zip(names).map(|(id, name)| ToolCall::new(id.to_string(), name, "{}"));
    let model = ScriptedModel::new().response(ModelResponse::calls(calls)).text("Done.");
    let agent = Agent::builder(model).dispatcher(dispatcher).build().unwrap();
    let store = MemoryStore::new();
    let place = || Sessions::new(store.clone()).user("ada").conversation("1");
    let waiting = pending(agent.run("Pay.").on(place()).await);
    assert_eq!(waiting.len(), 4);
    let decisions = Decisions::new().approve("1.1.0").deny("1.1.1", "too much").decided_by("bob");
    let decisions = decisions.answer("1.1.2", "blue").decided_by("eve");
    let decisions = decisions.with("1.1.3", Decision::Fail("gone".to_owned()));
    let output = agent.resume(place()).decide(decisions).await.unwrap();
    assert_eq!(output.text, "Done.");
    let log = store.load(KEY).await.unwrap().unwrap().entries.join(" ");
    let entries = entries_of(&log);
    let mut decided: Vec<Value> =
        entries.iter().filter_map(|line| line["entry"].get("decided").cloned()).collect();
    decided.sort_by_key(|decided| decided["call"].as_u64());
    assert_eq!(
        decided,
        [
            json!({"call": 0, "decision": "approve", "by": "bob"}),
            json!({"call": 1, "decision": {"deny": "too much"}, "by": "bob"}),
            json!({"call": 2, "decision": {"answer": "blue"}, "by": "eve"}),
            json!({"call": 3, "decision": {"fail": "gone"}}),
        ]
    );
}
