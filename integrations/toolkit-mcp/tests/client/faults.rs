//! Servers that die, lie, flood and stall.

use super::bare::tool;
use super::raw::{Behaviour, Client, Raw};
use super::{call, call_in, event, registry, within};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolkit_ai::{ErrorKind, LiveRegistry, RunContext, ToolProvider, ToolRegistry};
use toolkit_mcp::McpErrorKind;
use toolkit_mcp::client::{
    McpBackoff, McpClient, McpClientBuilder, McpEndpoint, McpEvent, McpLimits, McpProtocol, ToolIssueKind,
};

/// A server that misbehaves as the called tool's name says.
pub(super) struct Faulty;

impl Behaviour for Faulty {
    fn list(&self, _: &Value) -> Value {
        let names = [
            "good",
            "die",
            "garbage",
            "huge",
            "invalid",
            "malformed",
            "stall",
            "future",
            "later",
            "burst",
            "ask",
            "half",
            "plain",
            "no_message",
            "text_code",
            "text",
        ];
        json!({"tools": names.map(|name| tool(name, json!({"type": "object"})))})
    }

    fn call(&self, id: Value, params: &Value, client: &Client) {
        match params["name"].as_str().unwrap() {
            "good" => client.text(&id, "good"),
            "die" => client.hang_up(),
            "garbage" => {
                client.line("Listening on port 80");
                client.line("{\"jsonrpc\": \"2.0\", \"id\": ");
                client.line("\u{0}\u{1}[[[[");
                client.notify("notifications/unheard/of", &json!({}));
                client.text(&id, "after the garbage");
            }
            "huge" => {
                let content = format!(r#"[{{"type": "text", "text": "{}"}}]"#, "x".repeat(50 << 20));
                client
                    .line(format!(r#"{{"result": {{"content": {content}}}, "jsonrpc": "2.0", "id": {id}}}"#));
            }
            "invalid" => client.result(&id, &json!({"content": "text", "isError": "no", "tools": 5})),
            "malformed" => client.line(json!({"jsonrpc": "3.0", "id": id, "result": {}}).to_string()),
            "future" => client.result(&id, &json!({"content": [{"type": "hologram", "of": "a cat"}]})),
            "half" => {
                let content = json!([{"type": "text", "text": "sent"}, {"type": "video"}]);
                client.result(&id, &json!({ "content": content }));
            }
            "plain" => client.result(&id, &json!({"messageId": "m1"})),
            "no_message" => client.error(&id, &json!({"code": -32000})),
            "text_code" => client.error(&id, &json!({"code": "E1", "message": "No such table."})),
            "text" => client.error(&id, &json!("No such table.")),
            "burst" => {
                let token = &params["_meta"]["progressToken"];
                let reports = params["arguments"]["reports"].as_u64().unwrap();
                for number in 1..=reports {
                    let report = json!({"progressToken": token, "progress": number, "total": reports});
                    client.notify("notifications/progress", &report);
                }
                client.text(&id, "done");
            }
            "ask" => {
                let question =
                    json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}});
                let request =
                    json!({"jsonrpc": "2.0", "id": 77, "method": "elicitation/create", "params": question});
                client.line(request.to_string());
            }
            "later" => {
                let client = client.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    client.text(&id, "late");
                });
            }
            _ => {}
        }
    }
}

pub(super) fn builder<B: Behaviour>(server: &Raw<B>) -> McpClientBuilder {
    let backoff = McpBackoff::default().with_first(Duration::from_millis(20));
    McpClient::builder(server.endpoint()).name("shop").backoff(backoff)
}

async fn connect<B: Behaviour>(server: &Raw<B>) -> McpClient {
    within(builder(server).connect()).await.unwrap()
}

#[tokio::test]
async fn a_call_ends_when_its_server_dies_and_the_connection_is_restored() {
    let server = Raw::new(Faulty);
    let client = connect(&server).await;
    let mut events = client.events();
    let (other, died) =
        within(async { tokio::join!(call(&client, "stall", "{}"), call(&client, "die", "{}")) }).await;
    for error in [other.unwrap_err(), died.unwrap_err()] {
        let expected = "Error running tool: MCP server `shop` was lost during the call; \
                        it may have been executed; check before trying again";
        assert_eq!((error.message(), error.is_retryable()), (expected, false));
    }
    event(&mut events, |event| matches!(event, McpEvent::Disconnected { .. }).then_some(())).await;
    event(&mut events, |event| matches!(event, McpEvent::Reconnected { attempts: 1, .. }).then_some(()))
        .await;
    assert_eq!(call(&client, "good", "{}").await.unwrap().to_text(), "good");
}

#[tokio::test]
async fn while_a_server_is_down_its_tools_say_so_and_the_client_keeps_trying() {
    let server = Raw::new(Faulty);
    let client = connect(&server).await;
    let mut events = client.events();
    *server.is_down.lock().unwrap() = true;
    server.client().hang_up();
    let failed = |event: &McpEvent| match event {
        McpEvent::ReconnectFailed { attempt, error, retry_in, .. } => {
            Some((*attempt, error.clone(), *retry_in))
        }
        _ => None,
    };
    for expected in 1..=3 {
        let (attempt, error, retry_in) = event(&mut events, failed).await;
        assert_eq!(attempt, expected);
        assert!(error.contains("cannot be reached") && retry_in.is_some(), "{error}");
    }
    assert!(!client.is_connected());
    // The answer does not wait for the lost server.
    let error = within(call(&client, "good", "{}")).await.unwrap_err();
    let expected = "Error running tool: MCP server `shop` is not reachable; try again later, \
                    or continue without its tools";
    assert_eq!((error.message(), error.is_retryable()), (expected, true));
    assert_eq!(client.tools().len(), 16);
    *server.is_down.lock().unwrap() = false;
    assert!(within(client.ready()).await);
    assert_eq!(call(&client, "good", "{}").await.unwrap().to_text(), "good");
}

#[tokio::test]
async fn the_number_of_attempts_has_a_limit() {
    let server = Raw::new(Faulty);
    let backoff = McpBackoff::default().with_first(Duration::from_millis(5)).with_attempts(2);
    let client = within(builder(&server).backoff(backoff).connect()).await.unwrap();
    let mut events = client.events();
    *server.is_down.lock().unwrap() = true;
    server.client().hang_up();
    let last = |event: &McpEvent| match event {
        McpEvent::ReconnectFailed { attempt, retry_in: None, .. } => Some(*attempt),
        _ => None,
    };
    assert_eq!(event(&mut events, last).await, 2);
    assert!(!within(client.ready()).await, "no attempt will be made");
}

#[tokio::test]
async fn garbage_is_reported_and_harms_no_call() {
    let server = Raw::new(Faulty);
    let client = connect(&server).await;
    let mut events = client.events();
    assert_eq!(call(&client, "garbage", "{}").await.unwrap().to_text(), "after the garbage");
    let text = |event: &McpEvent| match event {
        McpEvent::InvalidMessage { text, .. } => Some(text.clone()),
        _ => None,
    };
    assert_eq!(event(&mut events, text).await, "Listening on port 80");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_of_50_megabytes_ends_the_pending_calls_and_the_connection_stays() {
    let server = Raw::new(Faulty);
    let client = connect(&server).await;
    let (stalled, huge) =
        within(async { tokio::join!(call(&client, "stall", "{}"), call(&client, "huge", "{}")) }).await;
    let expected = "Error running tool: MCP server `shop` sent a message of more than 16777216 bytes, \
                    which may be the result of the call; ask for less, for instance with narrower arguments";
    for error in [stalled.unwrap_err(), huge.unwrap_err()] {
        assert_eq!(error.message(), expected);
    }
    assert_eq!(call(&client, "good", "{}").await.unwrap().to_text(), "good");
    assert!(client.is_connected());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_newest_progress_report_of_a_flood_arrives() {
    let client = connect(&Raw::new(Faulty)).await;
    for reports in [1, 3, 63, 64, 65, 66, 200, 5_000] {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let listener = seen.clone();
        let run = RunContext::new().on_progress(move |progress| {
            // Reports arrive faster than the program shows them.
            std::thread::sleep(Duration::from_micros(500));
            listener.lock().unwrap().push(progress.fraction);
        });
        let arguments = json!({"reports": reports}).to_string();
        let output = call_in(&client, "burst", &arguments, |context| context.with_run(run)).await.unwrap();
        assert_eq!(output.to_text(), "done");
        let seen = seen.lock().unwrap();
        assert!(seen.is_sorted_by(|a, b| a < b), "the order of arrival: {seen:?}");
        assert_eq!(seen.last(), Some(&1.0), "{reports} reports");
        if reports <= 64 {
            assert_eq!(seen.len(), reports, "a short burst arrives complete");
        }
    }
}

#[tokio::test]
async fn the_readable_parts_of_an_answer_are_kept_because_the_tool_has_run() {
    let server = Raw::new(Faulty);
    let client = connect(&server).await;
    for (name, text) in [
        ("invalid", "text"),
        ("future", r#"[content that the client cannot read: {"type":"hologram","of":"a cat"}]"#),
        ("half", "sent\n[content that the client cannot read: {\"type\":\"video\"}]"),
        ("plain", r#"{"messageId":"m1"}"#),
    ] {
        assert_eq!(call(&client, name, "{}").await.unwrap().to_text(), text, "{name}");
    }
    let unknown = "it may have been executed; check before trying again";
    for (name, what) in [
        ("malformed", "sent an answer that cannot be read"),
        ("no_message", "failed: error -32000, without a message"),
        ("text_code", "failed: No such table."),
        ("text", "failed: No such table."),
    ] {
        let error = call(&client, name, "{}").await.unwrap_err();
        let expected = format!("Error running tool: MCP server `shop` {what}; {unknown}");
        assert_eq!((error.message(), error.is_retryable()), (expected.as_str(), false), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stalled_call_times_out_and_others_go_on() {
    let server = Raw::new(Faulty);
    let client = within(builder(&server).call_timeout(Duration::from_millis(200)).connect()).await.unwrap();
    let (stalled, late) =
        within(async { tokio::join!(call(&client, "stall", "{}"), call(&client, "later", "{}")) }).await;
    assert_eq!(stalled.unwrap_err().kind(), ErrorKind::TimedOut);
    assert_eq!(late.unwrap().to_text(), "late");
    within(async {
        let is_cancelled = |message: &Value| message["method"] == "notifications/cancelled";
        while !server.received.lock().unwrap().iter().any(is_cancelled) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_server_that_never_answers_cannot_be_connected() {
    let (near, _far) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(near);
    let endpoint = McpEndpoint::streams(reader, writer);
    let builder = McpClient::builder(endpoint).name("silent").protocol(McpProtocol::Handshake);
    let error = within(builder.connect_timeout(Duration::from_millis(100)).connect()).await.unwrap_err();
    assert_eq!(error.kind(), McpErrorKind::TimedOut);
    assert_eq!(error.to_string(), "MCP server `silent`: the server did not connect within 0.1 s");
}

#[tokio::test]
async fn a_server_that_hangs_up_cannot_be_connected() {
    let (near, far) = tokio::io::duplex(1 << 16);
    drop(far);
    let (reader, writer) = tokio::io::split(near);
    let endpoint = McpEndpoint::streams(reader, writer);
    let error = within(McpClient::builder(endpoint).connect()).await.unwrap_err();
    assert_eq!(error.kind(), McpErrorKind::Connection, "{error}");
}

struct Listing(fn(&Value) -> Value);

impl Behaviour for Listing {
    fn list(&self, params: &Value) -> Value {
        (self.0)(params)
    }

    fn call(&self, id: Value, params: &Value, client: &Client) {
        client.text(&id, params["name"].as_str().unwrap());
    }
}

#[tokio::test]
async fn ten_thousand_tools_are_cut_to_the_limit() {
    let server = Raw::new(Listing(|_| {
        let tools: Vec<Value> =
            (0..10_000).map(|n| tool(&format!("t{n}"), json!({"type": "object"}))).collect();
        json!({ "tools": tools })
    }));
    let client = connect(&server).await;
    assert_eq!(client.tools().len(), 1_000);
    let issues = client.issues();
    assert_eq!(issues[0].to_string(), "The server lists more than 1000 tools; the rest was left out");
    let all = builder(&server).limits(McpLimits::default().with_tools(10_000));
    let client = within(all.connect()).await.unwrap();
    assert_eq!((client.tools().len(), client.issues().len()), (10_000, 0));
    let live = LiveRegistry::new(ToolRegistry::new()).unwrap();
    client.follow(&live).unwrap().detach();
    assert_eq!(live.snapshot().len(), 10_000);
    assert_eq!(call(&client, "t9999", "{}").await.unwrap().to_text(), "t9999");
}

#[tokio::test]
async fn endless_pages_end() {
    // Each page leads to the first.
    let circle = Raw::new(Listing(|params| {
        let (name, next) = if params["cursor"] == "2" { ("b", "1") } else { ("a", "2") };
        json!({"tools": [tool(name, json!({"type": "object"}))], "nextCursor": next})
    }));
    let client = connect(&circle).await;
    assert_eq!(client.tools().len(), 2);
    assert!(
        client.issues().iter().all(|issue| issue.kind == ToolIssueKind::Duplicate),
        "{:?}",
        client.issues()
    );
    // Each page is new and empty.
    let line = Raw::new(Listing(|params| {
        let page: usize = params["cursor"].as_str().and_then(|page| page.parse().ok()).unwrap_or_default();
        json!({"tools": [], "nextCursor": (page + 1).to_string()})
    }));
    assert_eq!(connect(&line).await.tools().len(), 0);
}

#[tokio::test]
async fn faulty_tools_are_reported_and_the_others_are_registered() {
    let server = Raw::new(Listing(|_| {
        let object = json!({"type": "object"});
        json!({"tools": [
            tool("good", object.clone()), tool("good", object.clone()), tool("spaced name", object),
            tool("remote", json!({"$ref": "http://127.0.0.1:9/schema.json"})), {"name": "none"}, 7,
        ]})
    }));
    let client = connect(&server).await;
    let names: Vec<String> = client.tools().iter().map(|tool| tool.name.to_string()).collect();
    assert_eq!(names, ["good", "spaced_name_012d93"]);
    let kinds: Vec<ToolIssueKind> = client.issues().iter().map(|issue| issue.kind).collect();
    use ToolIssueKind::{Duplicate, Malformed, RemoteReference, Renamed};
    assert_eq!(kinds, [Duplicate, Renamed, RemoteReference, Malformed, Malformed]);
    // The server knows the tool by its own name.
    assert_eq!(call(&client, "spaced_name_012d93", "{}").await.unwrap().to_text(), "spaced name");
    assert_eq!(registry(&client).len(), 2);
}

#[tokio::test]
async fn a_list_that_is_no_list_is_an_error() {
    let server = Raw::new(Listing(|_| json!({"tools": "none"})));
    let error = within(builder(&server).connect()).await.unwrap_err();
    assert_eq!(error.to_string(), "MCP server `shop`: the server's list of tools is not a list");
}
