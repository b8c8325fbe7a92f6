//! The tools on the page.

use crate::page_client::{Reader, page, registry};
use serde_json::{Value, json};
use toolkit_ai::{
    ClosureTool, Dispatcher, LiveRegistry, Media, ToolCall, ToolContext, ToolDefinition, ToolFuture,
    ToolName, ToolProvider, ToolRegistry,
};
use toolkit_page::ToolPage;

#[tokio::test]
async fn a_tool_shows_what_each_api_gets() {
    let reader = Reader::enter(page()).await;
    let tool = reader.get("/api/tools/files-write").await;
    assert_eq!((&tool["name"], &tool["namespace"]), (&json!("files-write"), &json!("files")));
    assert_eq!(tool["facts"]["lane"], "path");
    let apis = tool["apis"].as_array().unwrap();
    let names: Vec<&str> = apis.iter().map(|api| api["name"].as_str().unwrap()).collect();
    // With more features of the workspace, there are more.
    assert_eq!(names[..4], ["openai_chat", "openai_responses", "anthropic", "gemini"]);
    assert_eq!(apis[2]["json"][0]["input_schema"]["required"], json!(["path", "line"]));
    assert!(apis[2]["tokens"].as_u64().unwrap() > 20);
    assert_eq!(reader.send(reader.request("GET", "/api/tools/nothing"), &Value::Null).await.status(), 404);
}

/// Provides a tool whose schema no API takes as it is.
struct Odd;

impl ToolProvider for Odd {
    fn tools(&self) -> Vec<ToolDefinition> {
        let schema =
            json!({"type": "object", "properties": {"a": {"type": "string", "not": {"const": "b"}}}});
        vec![ToolDefinition::new(ToolName::new("odd").unwrap(), "Odd.", schema)]
    }

    fn handle<'a>(&'a self, _: ToolCall, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready(Ok("odd".into()))
    }
}

#[tokio::test]
async fn what_an_api_cannot_say_is_a_loss() {
    let mut registry = ToolRegistry::new();
    registry.register_provider(Odd).unwrap();
    let reader = Reader::enter(ToolPage::new(Dispatcher::new(registry).unwrap())).await;
    let tool = reader.get("/api/tools/odd").await;
    let apis = tool["apis"].as_array().unwrap();
    let losses: Vec<&Value> = apis.iter().flat_map(|api| api["losses"].as_array().unwrap()).collect();
    assert!(losses.iter().any(|loss| loss["keyword"] == "not"), "{losses:?}");
}

#[tokio::test]
async fn a_mistake_is_shown_as_a_model_reads_it() {
    let reader = Reader::enter(page()).await;
    let body = json!({"id": "1", "arguments": r#"{"path": 7}"#});
    let (status, checked) = reader.post("/api/tools/files-write/check", &body).await;
    assert_eq!((status, &checked["valid"]), (200, &json!(false)));
    let violations = checked["error"]["violations"].as_array().unwrap();
    assert!(violations.iter().any(|violation| violation["path"] == "line"), "{violations:?}");
    let message = checked["error"]["message"].as_str().unwrap();
    assert!(message.contains("`line`: required, but missing"), "{message}");
    assert_eq!(reader.get("/api/calls").await["totals"]["kept"], 0, "a check is no call");

    let (status, result) = reader.call("math-double", &json!({"n": "21"})).await;
    assert_eq!((status, &result["text"]), (200, &json!("42")));
    let (status, result) = reader.call("nothing", &json!({})).await;
    assert_eq!((status, &result["error"]["kind"]), (200, &json!("NotFound")));
    for body in [json!({}), json!([]), json!({"id": "1", "arguments": {}})] {
        assert_eq!(reader.post("/api/tools/math-double/call", &body).await.0, 400);
    }
}

#[tokio::test]
async fn tools_are_disabled_with_a_reason() {
    let live = LiveRegistry::new(registry()).unwrap();
    let reader = Reader::enter(ToolPage::new(Dispatcher::new(live).unwrap())).await;
    let path = "/api/tools/math-double/state";
    assert_eq!(reader.post(path, &json!({"enabled": false, "reason": "not today"})).await.0, 200);
    let (_, result) = reader.call("math-double", &json!({"n": 1})).await;
    assert!(result["error"]["message"].as_str().unwrap().contains("not today"), "{result}");
    let tools = reader.get("/api/tools").await;
    assert_eq!(tools["tools"][1]["disabled"], "not today");
    assert_eq!(reader.post(path, &json!({"enabled": true})).await.0, 200);
    assert_eq!(reader.call("math-double", &json!({"n": 1})).await.1["text"], "2");
    assert_eq!(reader.post("/api/tools/nothing/state", &json!({"enabled": true})).await.0, 409);
    let fixed = Reader::enter(page()).await;
    assert_eq!(fixed.post(path, &json!({"enabled": false})).await.0, 409);
}

#[tokio::test]
async fn hostile_names_and_results_are_data() {
    const EVIL: &str = "</script><img src=x onerror=alert(1)>";
    let evil = ClosureTool::without_arguments("evil", EVIL, || EVIL).unwrap();
    let svg = ClosureTool::without_arguments("svg", "", || {
        Media::new("image/svg+xml", "<svg onload=alert(1)>").with_name(EVIL)
    });
    let page =
        ToolPage::new(Dispatcher::new([evil, svg.unwrap()]).unwrap()).with_title(EVIL).with_contents(true);
    let dispatcher = page.dispatcher();
    let reader = Reader::enter(page).await;
    dispatcher.dispatch([ToolCall::new(EVIL, EVIL, EVIL)]).await;
    for path in ["/api/session", "/api/tools", "/api/tools/evil", "/api/calls", "/api/calls/0"] {
        let response = reader.send(reader.request("GET", path), &Value::Null).await;
        assert_eq!(response.headers()["content-type"], "application/json", "{path}");
    }
    assert_eq!(reader.get("/api/calls/0").await["tool"], EVIL);
    let index = reader.send(reader.request("GET", "/"), &Value::Null).await;
    let text = crate::page_client::json_of(index).await;
    assert!(!text.as_str().unwrap().contains("onerror"), "the title is set by the script, as text");
    let (_, result) = reader.call("svg", &json!({})).await;
    assert_eq!(result["output"]["content"][0]["media_type"], "image/svg+xml");
}

#[tokio::test]
async fn a_page_below_a_path_names_its_files() {
    let page = page().with_path("/inside").unwrap();
    let path = page.logins().new_path();
    let app = page.into_router().unwrap();
    let response = crate::page_client::send(&app, crate::page_client::request("GET", &path)).await;
    let cookie = response.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.ends_with("; Path=/inside"), "{cookie}");
    let index = crate::page_client::json_of(response).await;
    for part in [r#"data-path="/inside""#, r#"href="/inside/page.css""#, r#"src="/inside/main.js""#] {
        assert!(index.as_str().unwrap().contains(part), "{part}");
    }
    for (path, expected) in [("/inside/main.js", 200), ("/inside/nothing.js", 404), ("/main.js", 404)] {
        let response = crate::page_client::send(&app, crate::page_client::request("GET", path)).await;
        assert_eq!(response.status(), expected, "{path}");
    }
}
