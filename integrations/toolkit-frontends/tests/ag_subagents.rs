//! Agents inside calls and parallel ones, word by word.

use crate::ag_scenes::{AgPage, events_of, fold};
use crate::page_support::all;
use crate::scenes::agent;
use serde_json::{Value, json};
use std::time::Duration;
use toolkit_agent::Agent;
use toolkit_agent::team::ParallelAgent;
use toolkit_ai::ToolRegistry;
use toolkit_core::ToolCall;
use toolkit_frontends::ag_ui::AgMessage;
use toolkit_llm::{ModelResponse, ScriptedModel};

/// Returns a page whose agent calls another one with these requests, at the same time.
fn page(requests: &[&str]) -> AgPage {
    let mut calls = Vec::new();
    for (index, request) in requests.iter().enumerate() {
        calls.push(ToolCall::new(format!("c{index}"), "agent", json!({"request": request}).to_string()));
    }
    let model = ScriptedModel::new().response(ModelResponse::calls(calls)).text("Done.");
    let expert = agent(Duration::from_millis(1)).unwrap();
    let tools = ToolRegistry::from_tools([expert.to_tool().unwrap()]).unwrap();
    AgPage::of(Agent::builder(model).name("chief").tools(tools).build().unwrap())
}

/// Returns the messages in the order of their ids.
fn sorted(messages: &[AgMessage]) -> Vec<Value> {
    let mut sorted: Vec<Value> = messages.iter().map(|message| message.as_value().clone()).collect();
    sorted.sort_by_key(|message| message["id"].to_string());
    sorted
}

/// Asks, and compares the messages with those of the log. Several voices at once may be in another order.
async fn ask(page: &mut AgPage) -> Vec<Value> {
    page.write("m1", "Go.");
    let response = page.begin(Value::Null).await;
    let events = events_of(&all(response).await);
    fold(&mut page.messages, &events);
    let mut saved = Vec::new();
    fold(&mut saved, &events_of(&all(page.request("GET /1", &Value::Null).await).await));
    assert_eq!(sorted(&page.messages), sorted(&saved), "{events:#?}");
    events
}

fn pieces(events: &[Value], subagent: &str) -> Vec<String> {
    let is_piece =
        |event: &&Value| event["type"] == "TEXT_MESSAGE_CONTENT" && event["subagentRunId"] == subagent;
    events.iter().filter(is_piece).map(|event| event["delta"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn an_agent_inside_a_call_is_heard_word_by_word() {
    let events = ask(&mut page(&["slow"])).await;
    let pieces = pieces(&events, "1.1.0");
    assert_eq!(pieces.len(), 40);
    assert_eq!(pieces.concat(), "one two three four ".repeat(10));
    let at = |kind: &str| events.iter().position(|event| event["type"] == kind).unwrap();
    assert!(at("SUBAGENT_STARTED") < at("TEXT_MESSAGE_CONTENT"));
    assert!(at("TEXT_MESSAGE_CONTENT") < at("SUBAGENT_FINISHED"));
}

#[tokio::test]
async fn two_agents_at_once_are_two_voices() {
    let events = ask(&mut page(&["slow", "slow"])).await;
    for subagent in ["1.1.0", "1.1.1"] {
        assert_eq!(pieces(&events, subagent).concat(), "one two three four ".repeat(10));
    }
    // They are interleaved: the first piece of each comes before the last one of the other.
    let of = |id: &str| -> Vec<usize> {
        let is_piece = |event: &&Value| event["subagentRunId"] == id && event["delta"].is_string();
        events.iter().enumerate().filter(|(_, event)| is_piece(event)).map(|(index, _)| index).collect()
    };
    let (one, two) = (of("1.1.0"), of("1.1.1"));
    assert!(one[0] < *two.last().unwrap() && two[0] < *one.last().unwrap());
}

#[tokio::test]
async fn a_retry_inside_a_call_takes_back_its_own_text_only() {
    let events = ask(&mut page(&["retry", "slow"])).await;
    assert!(events.iter().any(|event| event["type"] == "MESSAGES_SNAPSHOT"), "{events:#?}");
    let calls = events.iter().filter(|event| event["type"] == "TOOL_CALL_START").count();
    assert_eq!(calls, 2);
}

#[tokio::test]
async fn calls_of_an_agent_inside_a_call_are_its_own() {
    let events = ask(&mut page(&["weather"])).await;
    let started: Vec<&Value> = events.iter().filter(|event| event["type"] == "TOOL_CALL_START").collect();
    assert_eq!(started.len(), 3);
    assert_eq!(started[1]["subagentRunId"], "1.1.0");
    assert_eq!(started[0].get("subagentRunId"), None);
}

#[tokio::test]
async fn parallel_agents_are_voices_of_their_own() {
    let member =
        |name: &str, text: &str| Agent::builder(ScriptedModel::new().text(text)).name(name).build().unwrap();
    let team = ParallelAgent::new("team", [member("left", "Left."), member("right", "Right.")]);
    let events = ask(&mut AgPage::of(Agent::from(team))).await;
    let mut names: Vec<&str> = Vec::new();
    for event in events.iter().filter(|event| event["type"] == "SUBAGENT_STARTED") {
        names.push(event["name"].as_str().unwrap());
    }
    names.sort_unstable();
    assert_eq!(names, ["left", "right"]);
}

/// The log is ahead of such a client when it reads that a text was taken back.
#[tokio::test]
async fn a_client_that_reads_late_shows_each_piece_once() {
    for requests in [&["retry"][..], &["retry", "slow"]] {
        let mut page = page(requests);
        page.write("m1", "Go.");
        let late = page.begin(Value::Null).await;
        tokio::time::sleep(Duration::from_millis(400)).await;
        let mut saved = Vec::new();
        fold(&mut saved, &events_of(&all(page.request("GET /1", &Value::Null).await).await));
        fold(&mut page.messages, &events_of(&all(late).await));
        assert_eq!(sorted(&page.messages), sorted(&saved));
    }
    let mut page = AgPage::new();
    page.write("m1", "retry");
    let late = page.begin(Value::Null).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    fold(&mut page.messages, &events_of(&all(late).await));
    let text = page.messages.last().unwrap().as_value()["content"].as_str().unwrap().to_owned();
    assert_eq!(text.matches("Hello.").count(), 1, "{text}");
}
