//! What the page knows of calls.

use crate::page_client::{Reader, page, registry};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::timeout;
use toolkit_ai::middleware::{PermissionRule, Permissions};
use toolkit_ai::prelude::*;
use toolkit_page::ToolPage;

fn write(id: &str, path: &str) -> ToolCall {
    ToolCall::new(id, "files-write", json!({"path": path, "line": "secret 7"}).to_string())
}

#[tokio::test]
async fn a_call_says_why_it_waited() {
    let page = page().with_contents(true);
    let dispatcher = page.dispatcher();
    let reader = Reader::enter(page).await;
    dispatcher.dispatch([write("1", "a"), write("2", "b"), write("3", "a")]).await;
    let rows = reader.get("/api/calls").await;
    assert_eq!(rows["totals"]["kept"], 3);
    let latest = &rows["rows"][0];
    assert_eq!((&latest["call_id"], &latest["state"]), (&json!("3"), &json!("result")));
    assert_eq!(latest["waits_for"], "lane path");
    assert!(latest["waited_ms"].as_f64().unwrap() >= 10.0, "{latest}");
    let spans = latest["spans"].as_array().unwrap();
    assert_eq!(
        spans.iter().map(|span| span[0].as_str().unwrap()).collect::<Vec<_>>(),
        ["waiting", "running"]
    );
    assert_eq!(rows["rows"][1]["waited_ms"], 0.0);

    let details = reader.get(&format!("/api/calls/{}", latest["number"])).await;
    let events = details["events"].as_array().unwrap();
    let types: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["tool.call", "tool.waiting", "tool.admitted", "tool.start", "tool.result"]);
    assert_eq!((&events[1]["resource"], &events[1]["value"]), (&json!("lane"), &json!("a")));
    assert_eq!(events[0]["arguments"], r#"{"path":"a","line":"secret 7"}"#);
    assert_eq!(events[4]["output"], "a: secret 7");
}

#[tokio::test]
async fn contents_are_hidden_unless_the_page_shows_them() {
    // The program's own log has contents; the page shows them only if it is told to.
    let rules = Permissions::new()
        .rule(PermissionRule::deny("no").for_tool("files-write").unwrap().when(|_, _| true));
    for denied in [false, true] {
        let mut dispatcher = Dispatcher::new(registry()).unwrap().with_event_contents(true);
        if denied {
            dispatcher = dispatcher.with_middleware(rules.clone());
        }
        let page = ToolPage::new(dispatcher);
        let dispatcher = page.dispatcher();
        let reader = Reader::enter(page).await;
        dispatcher.dispatch([write("1", "secret 7"), write("2", "secret 7")]).await;
        dispatcher
            .dispatch([ToolCall::new("3", "files-write", r#"{"path": "secret 7", "lin": "secret 7"}"#)])
            .await;
        for number in 0..3 {
            let details = reader.get(&format!("/api/calls/{number}")).await;
            assert!(details["events"].as_array().unwrap().len() >= 2);
            assert!(!details.to_string().contains("secret 7"), "{details}");
        }
        assert!(!reader.get("/api/calls").await.to_string().contains("secret 7"));
    }
}

#[tokio::test]
async fn calls_are_found_and_ordered() {
    let page = page();
    let dispatcher = page.dispatcher();
    let reader = Reader::enter(page).await;
    dispatcher.dispatch([write("1", "a"), write("2", "a")]).await;
    dispatcher.dispatch([ToolCall::new("3", "math-double", r#"{"n": 2}"#)]).await;
    dispatcher.dispatch([ToolCall::new("4", "math-triple", "{}")]).await;
    for (query, expected) in [
        ("", &["4", "3", "2", "1"][..]),
        ("?tool=math", &["4", "3"]),
        ("?state=failed", &["4"]),
        ("?state=result", &["3", "2", "1"]),
        ("?state=open", &[]),
        ("?order=waited&limit=1", &["2"]),
        ("?tool=files&order=ran&limit=5", &["2", "1"]),
    ] {
        let rows = reader.get(&format!("/api/calls{query}")).await;
        let mut ids: Vec<&str> =
            rows["rows"].as_array().unwrap().iter().map(|row| row["call_id"].as_str().unwrap()).collect();
        if query.contains("ran") {
            ids.sort_by(|a, b| b.cmp(a));
        }
        assert_eq!(ids, expected, "{query}");
    }
}

/// Reads the rows of the next event with its id.
async fn next_rows(body: &mut axum::body::Body) -> (u64, Vec<Value>) {
    loop {
        let frame = timeout(Duration::from_secs(20), body.frame()).await.unwrap().unwrap().unwrap();
        let text = String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap();
        let Some((id, data)) = text.trim_end().split_once("\ndata: ") else { continue };
        let event: Value = serde_json::from_str(data).unwrap();
        return (id.trim_start_matches("id: ").parse().unwrap(), event["rows"].as_array().unwrap().clone());
    }
}

#[tokio::test]
async fn a_reader_who_reconnects_misses_nothing() {
    let page = page();
    let dispatcher = page.dispatcher();
    let reader = Reader::enter(page).await;
    let mut body = reader.send(reader.request("GET", "/api/changes?after=0"), &Value::Null).await.into_body();
    dispatcher.dispatch([write("1", "a")]).await;
    let (id, rows) = next_rows(&mut body).await;
    assert_eq!(rows[0]["call_id"], "1");
    drop(body);
    dispatcher.dispatch([write("2", "a"), write("3", "a")]).await;
    let again = reader.request("GET", "/api/changes?after=0").header("last-event-id", id.to_string());
    let mut body = reader.send(again, &Value::Null).await.into_body();
    let mut missed: Vec<String> = Vec::new();
    while missed.len() < 2 {
        for row in next_rows(&mut body).await.1 {
            let id = row["call_id"].as_str().unwrap().to_owned();
            assert_eq!(row["state"], "result");
            missed.push(id);
        }
    }
    assert_eq!(missed, ["2", "3"]);
}
