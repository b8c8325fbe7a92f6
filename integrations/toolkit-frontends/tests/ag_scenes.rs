//! What a client of AG-UI shows, scene by scene. After each exchange, its messages are those of the log.

use crate::page_support::{ag_router, all};
use crate::scenes::agent;
use axum::Router;
use axum::body::Body;
use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use std::time::Duration;
use toolkit_agent::Agent;
use toolkit_ai::ToolRegistry;
use toolkit_frontends::ag_ui::{AgEvent, AgMessage};
use toolkit_llm::ScriptedModel;
use tower::ServiceExt as _;

pub(crate) struct AgPage {
    app: Router,
    exchanges: usize,
    pub(crate) messages: Vec<AgMessage>,
    /// What each input has beside its messages.
    pub(crate) extras: Value,
}

impl AgPage {
    pub(crate) fn new() -> Self {
        Self::of(agent(Duration::from_millis(1)).unwrap())
    }

    pub(crate) fn of(agent: Agent) -> Self {
        Self::at(ag_router(agent))
    }

    pub(crate) fn at(app: Router) -> Self {
        Self { app, exchanges: 0, messages: Vec::new(), extras: json!({}) }
    }

    pub(crate) async fn request(&self, request: &str, body: &Value) -> http::Response<Body> {
        let (method, path) = request.split_once(' ').unwrap();
        let request =
            Request::builder().method(method).uri(path).header("host", "localhost").header("user", "ada");
        self.app.clone().oneshot(request.body(Body::from(body.to_string())).unwrap()).await.unwrap()
    }

    pub(crate) async fn begin(&mut self, resume: Value) -> http::Response<Body> {
        self.exchanges += 1;
        let run = format!("exchange {}", self.exchanges);
        let mut input =
            json!({"threadId": "1", "runId": run, "messages": self.messages, "tools": [], "context": []});
        for (field, value) in self.extras.as_object().unwrap() {
            input[field] = value.clone();
        }
        if !resume.is_null() {
            input["resume"] = resume;
        }
        self.request("POST /", &input).await
    }

    pub(crate) fn write(&mut self, id: &str, text: &str) {
        let message = json!({"id": id, "role": "user", "content": text});
        self.messages.push(serde_json::from_value(message).unwrap());
    }

    pub(crate) async fn ask(&mut self, id: &str, text: &str) -> Vec<Value> {
        self.write(id, text);
        self.exchange(Value::Null).await
    }

    /// Makes an exchange, and compares the messages with the log.
    pub(crate) async fn exchange(&mut self, resume: Value) -> Vec<Value> {
        let response = self.begin(resume).await;
        assert_eq!(response.status(), StatusCode::OK);
        let events = events_of(&all(response).await);
        fold(&mut self.messages, &events);
        let attached = events_of(&all(self.request("GET /1", &Value::Null).await).await);
        let mut saved = Vec::new();
        fold(&mut saved, &attached);
        assert_eq!(saved, self.messages, "{events:#?}");
        let end = |events: &[Value]| events.last().unwrap()["outcome"].clone();
        assert_eq!(end(&attached), end(&events));
        events
    }

    pub(crate) fn result(&self, call: &str) -> String {
        let is_result = |message: &&AgMessage| message.as_value()["toolCallId"] == call;
        let message = self.messages.iter().find(is_result).unwrap().as_value();
        message["content"].as_str().unwrap().to_owned()
    }
}

pub(crate) fn events_of(body: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(body).unwrap();
    text.lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|json| serde_json::from_str(json).unwrap())
        .collect()
}

pub(crate) fn fold(messages: &mut Vec<AgMessage>, events: &[Value]) {
    for event in events {
        serde_json::from_value::<AgEvent>(event.clone()).unwrap().apply_to(messages);
    }
}

pub(crate) fn types(events: &[Value]) -> Vec<&str> {
    let mut types: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    types.dedup();
    types
}

#[tokio::test]
async fn text_is_one_message() {
    let mut page = AgPage::of(Agent::builder(ScriptedModel::new().text("Hello, Ada.")).build().unwrap());
    let events = page.ask("m1", "I am Ada.").await;
    let usage = json!([{"inputTokens": 0, "outputTokens": 0}]);
    let expected = json!([
        {"type": "RUN_STARTED", "threadId": "1", "runId": "exchange 1"},
        {"type": "TEXT_MESSAGE_START", "messageId": "1.1", "role": "assistant"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "1.1", "delta": "Hello, Ada."},
        {"type": "TEXT_MESSAGE_END", "messageId": "1.1"},
        {"type": "RUN_FINISHED", "threadId": "1", "runId": "exchange 1", "outcome": {"type": "success"}, "usage": usage},
    ]);
    assert_eq!(Value::from(events), expected);
}

#[tokio::test]
async fn calls_belong_to_their_message_and_a_failure_is_a_result() {
    let mut page = AgPage::new();
    let events = page.ask("m1", "weather").await;
    assert!(types(&events).contains(&"CUSTOM"), "{events:#?}");
    assert_eq!(
        (page.result("1.1.0"), page.result("1.1.1")),
        ("Rome: clear".to_owned(), "Oslo: clear".to_owned())
    );
    let message = page.messages.iter().find(|message| message.as_value()["id"] == "1.1").unwrap();
    let calls = message.as_value()["toolCalls"].as_array().unwrap();
    assert_eq!(calls[0]["function"], json!({"name": "forecast", "arguments": r#"{"city": "Rome"}"#}));
    page.ask("m2", "fail").await;
    assert!(page.result("2.1.0").contains("no station in Atlantis"));
}

#[tokio::test(flavor = "multi_thread")]
async fn approvals_are_interrupts_that_a_resume_answers() {
    let mut page = AgPage::new();
    let events = page.ask("m1", "twice").await;
    let interrupts = events.last().unwrap()["outcome"]["interrupts"].clone();
    assert_eq!(
        (&interrupts[0]["toolCallId"], &interrupts[0]["reason"]),
        (&json!("1.1.0"), &json!("tool_call"))
    );
    let resume = json!([
        {"interruptId": "1.1.0", "status": "resolved", "payload": {"approved": true, "editedArgs": {"invoice": 9}}},
        {"interruptId": "1.1.1", "status": "cancelled"},
    ]);
    let events = page.exchange(resume).await;
    assert!(!types(&events).contains(&"TOOL_CALL_START"), "{events:#?}");
    assert_eq!(page.result("1.1.0"), "Invoice 9 is paid.");
    assert!(page.result("1.1.1").contains("cancelled"), "{}", page.result("1.1.1"));
    assert_eq!(events.last().unwrap()["outcome"], json!({"type": "success"}));
}

#[tokio::test]
async fn a_question_is_an_interrupt_whose_payload_is_the_result() {
    let mut page = AgPage::new();
    let events = page.ask("m1", "where").await;
    assert_eq!(events.last().unwrap()["outcome"]["interrupts"][0]["reason"], "input_required");
    page.exchange(json!([{"interruptId": "1.1.0", "status": "resolved", "payload": "Rome"}])).await;
    assert_eq!(page.result("1.1.0"), "Rome");
    // Nothing waits any more.
    let response = page.begin(Value::Null).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn the_text_before_a_retry_is_taken_back_by_a_snapshot() {
    let mut page = AgPage::new();
    let events = page.ask("m1", "retry").await;
    let snapshot = events.iter().find(|event| event["type"] == "MESSAGES_SNAPSHOT").unwrap();
    assert_eq!(snapshot["messages"].as_array().unwrap().len(), 1);
    assert_eq!(page.messages.len(), 2);
}

#[tokio::test]
async fn a_stop_is_a_cancelled_outcome() {
    let mut page = AgPage::new();
    page.write("m1", "slow");
    let mut body = page.begin(Value::Null).await.into_body();
    let mut text = String::new();
    while !text.contains("TEXT_MESSAGE_CONTENT") {
        let frame = body.frame().await.unwrap().unwrap();
        text.push_str(std::str::from_utf8(&frame.into_data().unwrap()).unwrap());
    }
    assert_eq!(page.request("POST /1/stop", &Value::Null).await.status(), StatusCode::NO_CONTENT);
    let rest = body.collect().await.unwrap().to_bytes();
    assert_eq!(events_of(&rest).last().unwrap()["outcome"], json!({"type": "cancelled"}));
}

#[tokio::test]
async fn a_page_that_attaches_gets_the_messages_and_then_what_is_written() {
    let mut page = AgPage::new();
    page.ask("m0", "hello").await;
    page.write("m1", "slow");
    let first = page.begin(Value::Null).await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    let attached = events_of(&all(page.request("GET /1", &Value::Null).await).await);
    let kinds = types(&attached);
    assert_eq!(kinds[..2], ["RUN_STARTED", "MESSAGES_SNAPSHOT"]);
    assert_eq!(kinds.last(), Some(&"RUN_FINISHED"));
    let mut shown = Vec::new();
    fold(&mut shown, &attached);
    fold(&mut page.messages, &events_of(&all(first).await));
    assert_eq!(shown, page.messages);
}

#[tokio::test]
async fn a_called_agent_is_a_subagent() {
    let expert = Agent::builder(ScriptedModel::new().text("42")).name("expert").build().unwrap();
    let model = ScriptedModel::new().call("expert", r#"{"request": "6 * 7?"}"#).text("It is 42.");
    let tools = ToolRegistry::from_tools([expert.to_tool().unwrap()]).unwrap();
    let mut page = AgPage::of(Agent::builder(model).tools(tools).build().unwrap());
    let events = page.ask("m1", "What is six times seven?").await;
    let started = events.iter().find(|event| event["type"] == "SUBAGENT_STARTED").unwrap();
    assert_eq!((&started["name"], &started["parentToolCallId"]), (&json!("expert"), &json!("1.1.0")));
    let text = events.iter().find(|event| event["delta"] == "42").unwrap();
    assert_eq!(text["subagentRunId"], started["subagentRunId"]);
}

#[tokio::test]
async fn other_requests_are_refused() {
    let page = AgPage::new();
    for (body, reason) in [
        (json!({}), "no input of AG-UI"),
        (json!({"threadId": "1", "runId": "r", "messages": []}), "neither a message"),
        (
            json!({"threadId": "1", "runId": "r", "messages": [{"id": "m", "role": "user", "content": ""}]}),
            "no content",
        ),
    ] {
        let response = page.request("POST /", &body).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{body}");
        let error: Value = serde_json::from_slice(&all(response).await).unwrap();
        assert!(error["error"].as_str().unwrap().contains(reason), "{error}");
    }
    assert_eq!(page.request("GET /1", &Value::Null).await.status(), StatusCode::NOT_FOUND);
}
