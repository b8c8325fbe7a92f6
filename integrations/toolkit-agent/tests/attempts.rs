//! A run's limits count over all its attempts.

use crate::support::agent;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;
use toolkit_agent::session::MemoryStore;
use toolkit_agent::{Agent, AgentError, Conversation, Decisions, Limit, Limits, Sessions};
use toolkit_core::{ClosureTool, ToolCall, ToolError, ToolRegistry};
use toolkit_llm::{ModelError, ModelResponse, Price, ScriptedModel, Usage};

fn paid(response: ModelResponse) -> ModelResponse {
    response.with_usage(Usage::new(600, 400))
}

fn add() -> ModelResponse {
    paid(ModelResponse::calls([ToolCall::new("call", "add", r#"{"a": 1, "b": 2}"#)]))
}

/// An agent whose first attempt breaks after an answer.
fn broken() -> Agent {
    let model = ScriptedModel::new().response(add()).error(ModelError::from_status(401, "no key"));
    let model = model.response(add()).response(paid(ModelResponse::text("done")));
    agent(model).price(Price::per_million(1_000.0, 1_000.0)).build().unwrap()
}

#[tokio::test]
async fn a_resumed_run_goes_on_from_what_it_has_used() {
    for (limits, limit) in [
        (Limits::default().with_max_cost(2.0), Limit::Cost(2.0)),
        (Limits::default().with_max_tokens(2_000), Limit::Tokens(2_000)),
        (Limits::default().with_max_model_calls(3), Limit::ModelCalls(3)),
    ] {
        let sessions = Sessions::new(MemoryStore::default());
        let place = || sessions.user("ann").conversation("1");
        let agent = broken();
        let first = agent.run("go").on(place()).limits(limits.clone()).await.unwrap_err();
        assert!(matches!(first.error, AgentError::Model(_)), "{first}");
        for _ in 0..3 {
            let ended = agent.resume(place()).limits(limits.clone()).await.unwrap_err();
            assert_eq!((ended.error, ended.output.cost), (AgentError::Limit(limit), 2.0));
            assert_eq!((ended.output.model_calls, ended.output.tool_calls), (3, 2));
        }
        let more = limits.with_max_cost(9.0).with_max_tokens(9_000).with_max_model_calls(9);
        let output = agent.resume(place()).limits(more).await.unwrap();
        assert_eq!((output.text.as_str(), output.cost, output.model_calls), ("done", 3.0, 4));
    }
}

#[tokio::test]
async fn tool_calls_count_over_all_attempts() {
    let sessions = Sessions::new(MemoryStore::default());
    let place = || sessions.user("ann").conversation("1");
    let agent = broken();
    let limits = || Limits::default().with_max_tool_calls(1);
    agent.run("go").on(place()).limits(limits()).await.unwrap_err();
    let output = agent.resume(place()).limits(limits()).await.unwrap();
    assert_eq!(output.tool_calls, 1);
    let text = format!("{:?}", output.messages);
    assert!(text.contains("The limit of tool calls is reached"), "{text}");
}

/// Waiting for a person is not the run's time.
#[tokio::test(start_paused = true)]
async fn only_working_time_counts() {
    let ask = ClosureTool::new("ask", "Asks.", |_: crate::support::Nothing| async {
        sleep(Duration::from_secs(6)).await;
        Err::<(), _>(ToolError::question("Which?"))
    });
    let tools = || ToolRegistry::from_tools([ask.clone().unwrap()]).unwrap();
    let model = ScriptedModel::new().call("ask", "{}").then().call("ask", "{}").text("done");
    let agent = Agent::builder(model).tools(tools()).build().unwrap();
    let sessions = Sessions::new(MemoryStore::default());
    let place = || sessions.user("ann").conversation("1");
    let most = Duration::from_secs(10);
    let limits = || Limits::default().with_max_duration(most);
    let waits = agent.run("go").on(place()).limits(limits()).await.unwrap_err();
    let AgentError::Interrupted { pending, .. } = waits.error else { panic!("no pending call") };
    sleep(Duration::from_secs(100_000)).await;
    let decisions = Decisions::new().answer(&pending[0].id, "blue");
    let ended = agent.resume(place()).decide(decisions).limits(limits()).await.unwrap_err();
    assert_eq!(ended.error, AgentError::Limit(Limit::Duration(most)));
    let longer = Limits::default().with_max_duration(most * 2);
    assert_eq!(agent.resume(place()).limits(longer).await.unwrap().text, "done");
}

/// Any stored numbers end the run or not, without a panic.
#[tokio::test(start_paused = true)]
async fn the_largest_numbers_of_a_log_are_only_large() {
    let wait = ModelResponse::calls([ToolCall::new("call", "wait", r#"{"ms": 2000}"#)]);
    let model = ScriptedModel::new().response(add()).error(ModelError::from_status(401, "no key"));
    let agent = agent(model.response(wait).text("done")).build().unwrap();
    let mut conversation = Conversation::new("1");
    agent.run("go").on(&mut conversation).await.unwrap_err();
    let mut saved = serde_json::to_value(&conversation).unwrap();
    let spent = find(&mut saved, "attempt_spent").expect("what the run has spent");
    *spent = json!({"seconds": u64::MAX, "model_calls": 2, "tool_calls": 1,
        "usage": {"input_tokens": u64::MAX, "output_tokens": u64::MAX}, "cost": 1e308});
    let conversation = || serde_json::from_value::<Conversation>(saved.clone()).unwrap();
    let most = Duration::from_secs(9);
    let limits = Limits::default().with_max_duration(most);
    let ended = agent.resume(&mut conversation()).limits(limits).await.unwrap_err();
    assert_eq!(ended.error, AgentError::Limit(Limit::Duration(most)));
    assert_eq!(agent.resume(&mut conversation()).await.unwrap().text, "done");
}

fn find<'a>(json: &'a mut Value, name: &str) -> Option<&'a mut Value> {
    let members = json.as_object_mut()?;
    if members.contains_key(name) {
        return members.get_mut(name);
    }
    members.values_mut().find_map(|member| find(member, name))
}

/// Without reported tokens, each limit of the cost would be endless.
#[tokio::test]
async fn a_limit_of_the_cost_needs_token_counts() {
    for streaming in [true, false] {
        let model = || ScriptedModel::new().call("add", r#"{"a": 1, "b": 2}"#).text("done");
        let limits = Limits::default().with_max_cost(0.5);
        let unknown = agent(model()).streaming(streaming).limits(limits.clone());
        let failed =
            unknown.price(Price::per_million(1.0, 1.0)).build().unwrap().run("go").await.unwrap_err();
        assert!(failed.to_string().contains("reported no tokens"), "{failed}");
        assert_eq!(failed.output.tool_calls, 1);
        let free = toolkit_llm::model::Priced::new(model(), Price::default());
        let free = agent(free).streaming(streaming).limits(limits).build().unwrap();
        assert_eq!(free.run("go").await.unwrap().text, "done");
    }
}
