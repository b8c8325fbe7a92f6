//! Many calls, many tools, large contents.

use crate::page_client::{Reader, page, registry};
use serde_json::json;
use std::time::{Duration, Instant};
use toolkit_ai::{ClosureTool, Dispatcher, ToolCall, ToolRegistry};
use toolkit_page::ToolPage;

fn double(id: usize) -> ToolCall {
    ToolCall::new(id.to_string(), "math-double", r#"{"n": 1}"#)
}

#[tokio::test]
async fn a_thousand_calls_at_once_are_all_there() {
    let page = page();
    let dispatcher = page.dispatcher();
    let reader = Reader::enter(page).await;
    dispatcher.dispatch((0..1_000).map(double)).await;
    let rows = reader.get("/api/calls?limit=10000").await;
    assert_eq!((&rows["totals"]["kept"], &rows["matching"]), (&json!(1_000), &json!(1_000)));
    assert_eq!(rows["rows"].as_array().unwrap().len(), 500, "a page has at most 500 rows");
    assert_eq!(rows["totals"]["running"], 0);
}

#[tokio::test]
async fn calls_and_bytes_are_bounded() {
    let page = page().with_kept_calls(100, 1 << 20).with_contents(true);
    let dispatcher = page.dispatcher();
    let reader = Reader::enter(page).await;
    for _ in 0..10 {
        dispatcher.dispatch((0..30).map(double)).await;
    }
    let totals = reader.get("/api/calls").await["totals"].clone();
    assert_eq!((&totals["kept"], &totals["dropped"]), (&json!(100), &json!(200)));
    let line = "x".repeat(50_000);
    for path in 0..60 {
        let arguments = json!({"path": path.to_string(), "line": line});
        dispatcher.dispatch([ToolCall::new("1", "files-write", arguments.to_string())]).await;
    }
    let totals = reader.get("/api/calls").await["totals"].clone();
    assert!(totals["bytes"].as_u64().unwrap() <= 1 << 20, "{totals}");
    assert!(totals["kept"].as_u64().unwrap() < 20, "{totals}");
    // A call that was dropped is named as such, and the latest one is there.
    assert_eq!(reader.send(reader.request("GET", "/api/calls/0"), &json!(null)).await.status(), 404);
    assert_eq!(reader.get("/api/calls/359").await["state"], "result");
}

#[tokio::test]
async fn a_huge_result_is_cut() {
    let huge = ClosureTool::without_arguments("huge", "", || "ü".repeat(10 << 20)).unwrap();
    let page = ToolPage::new(Dispatcher::new([huge]).unwrap()).with_contents(true);
    let reader = Reader::enter(page).await;
    let (_, result) = reader.call("huge", &json!({})).await;
    let text = result["text"].as_str().unwrap();
    assert!(text.len() < (1 << 20) + 100, "{}", text.len());
    assert!(text.ends_with("bytes more"), "{}", &text[text.len() - 60..]);
    assert!(result["output"].is_null());
    let details = reader.get("/api/calls/0").await.to_string();
    assert!(details.len() < 100_000, "{}", details.len());
}

#[tokio::test]
async fn many_logged_calls_and_many_tools_are_quick() {
    let page = page().with_kept_calls(20_000, 64 << 20);
    let dispatcher = page.dispatcher();
    let reader = Reader::enter(page).await;
    for _ in 0..20 {
        dispatcher.dispatch((0..1_000).map(double)).await;
    }
    assert_eq!(reader.get("/api/calls").await["totals"]["kept"], 20_000);
    for query in ["", "?order=ran", "?tool=math&state=result&order=waited", "?state=failed"] {
        let begun = Instant::now();
        reader.get(&format!("/api/calls{query}")).await;
        // The page's goal is 300 ms with optimisation; this is without it, on a busy machine.
        assert!(begun.elapsed() < Duration::from_secs(5), "{query}: {:?}", begun.elapsed());
    }
    let mut tools = registry();
    for number in 0..1_000 {
        let tool = ClosureTool::without_arguments(&format!("tool_{number}"), "Does nothing.", || ());
        tools.register(tool.unwrap()).unwrap();
    }
    let many: ToolRegistry = tools;
    let reader = Reader::enter(ToolPage::new(Dispatcher::new(many).unwrap())).await;
    assert_eq!(reader.get("/api/tools").await["tools"].as_array().unwrap().len(), 1_002);
}
