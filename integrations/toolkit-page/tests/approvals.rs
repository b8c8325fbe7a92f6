//! Calls of agents that wait for a decision.

use crate::page_client::{Reader, page};
use serde_json::{Value, json};
use std::time::Duration;
use toolkit_ai::agent::runs::{LocalRuns, RunInput, Runs as _};
use toolkit_ai::agent::session::ConversationKey;
use toolkit_ai::agent::{Agent, RunEvent, Sessions};
use toolkit_ai::llm::ScriptedModel;
use toolkit_ai::middleware::{PermissionRule, Permissions};
use toolkit_ai::prelude::*;
use toolkit_page::{PageRights, ToolPage};

/// Pay an invoice.
#[tool]
fn pay(invoice: u32) -> String {
    format!("Invoice {invoice} is paid.")
}

const KEY: ConversationKey<'static> = ConversationKey { user: "ada", id: "1" };

async fn waiting() -> LocalRuns {
    let rules = Permissions::new().rule(PermissionRule::ask("it costs money")).decide_later();
    let model = ScriptedModel::new().call("pay", r#"{"invoice":7}"#).text("Done.");
    // As in the guide: the rules are those of the page's dispatcher, whose tools the agent has.
    let page = ToolPage::new(Dispatcher::new(tools![pay]).unwrap().with_middleware(rules));
    let mut tools = ToolRegistry::new();
    tools.register_provider(page.dispatcher()).unwrap();
    let agent = Agent::builder(model).tools(tools).build().unwrap();
    let runs = LocalRuns::new(agent, Sessions::default()).with_poll(Duration::from_millis(5));
    runs.submit(KEY, RunInput::new("Pay.").with_run("first")).await.unwrap();
    for _ in 0..1_000 {
        if !runs.waiting(None).await.unwrap().is_empty() {
            return runs;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the call does not wait")
}

/// Returns the result of the call, once the run has gone on.
async fn result(runs: &LocalRuns) -> String {
    for _ in 0..1_000 {
        for entry in runs.entries(KEY).await.unwrap() {
            if let Some(RunEvent::Result { result, .. }) = entry.event()
                && !result.to_text().contains("waits for approval")
            {
                return result.to_text().into_owned();
            }
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the run does not go on")
}

fn decision(decision: &Value, call: &Value) -> Value {
    json!({"user": "ada", "conversation": "1", "call": call, "decision": decision})
}

#[tokio::test]
async fn a_decision_lets_the_run_go_on_and_has_a_name() {
    for (given, expected) in [
        (json!("approve"), "Invoice 7 is paid."),
        (json!({"change": {"invoice": 8}}), "Invoice 8 is paid."),
        (json!({"deny": "not today"}), "not today"),
    ] {
        let runs = waiting().await;
        let rights = PageRights::read_only().with_decisions().with_name("grace");
        let reader = Reader::enter(page().with_runs(runs.clone()).with_rights(rights)).await;
        let calls = reader.get("/api/approvals").await["calls"].clone();
        assert_eq!((&calls[0]["tool"], &calls[0]["user"]), (&json!("pay"), &json!("ada")));
        assert_eq!(calls[0]["arguments"], r#"{"invoice":7}"#);
        assert_eq!(calls[0]["reason"], json!({"type": "approval", "reason": "it costs money"}));
        let body = decision(&given, &calls[0]["call"]);
        let answer = reader.post("/api/approvals/decide", &body).await;
        assert_eq!(answer.0, 200, "{answer:?}");
        assert!(result(&runs).await.contains(expected), "{given}");
        let log = format!("{:?}", runs.entries(KEY).await.unwrap());
        assert!(log.contains("grace"), "{log}");
        let late = reader
            .post("/api/approvals/decide", &decision(&json!({"deny": "late"}), &calls[0]["call"]))
            .await;
        assert_eq!(late.0, 409, "{late:?}");
        assert_eq!(reader.get("/api/approvals").await["calls"], json!([]));
    }
}

#[tokio::test]
async fn a_reader_who_may_not_decide_sees_neither_arguments_nor_a_change() {
    let runs = waiting().await;
    let page = page().with_runs(runs.clone()).with_rights(PageRights::read_only().with_calls());
    let reader = Reader::enter(page).await;
    let calls = reader.get("/api/approvals").await["calls"].clone();
    assert_eq!((&calls[0]["tool"], &calls[0]["arguments"]), (&json!("pay"), &Value::Null));
    let body = decision(&json!("approve"), &calls[0]["call"]);
    assert_eq!(reader.post("/api/approvals/decide", &body).await.0, 403);
    assert_eq!(runs.waiting(None).await.unwrap().len(), 1);
    for body in [json!({}), decision(&json!("maybe"), &calls[0]["call"])] {
        let decider = Reader::enter(crate::page_client::page().with_runs(runs.clone())).await;
        assert_eq!(decider.post("/api/approvals/decide", &body).await.0, 400);
    }
}
