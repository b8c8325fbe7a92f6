//! Calls: arguments, state, progress, logging, cancellation and limits.

use super::client::{Client, PATIENCE, Signals, text};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use toolkit_ai::middleware::{PermissionRule, Permissions};
use toolkit_ai::{Dispatcher, RunContext, State, ToolContext, ToolError, ToolRegistry, tool, tools};
use toolkit_core::context::TraceContext;
use toolkit_mcp::server::McpServer;
use toolkit_mcp::server::{Caller, LogLevel};

/// Repeats numbers.
#[tool]
fn numbers(big: u128, exact: String, #[param(default = 1)] times: u8) -> String {
    format!("{big} {exact} {times}")
}

/// Tells about the client.
#[tool]
fn client_name(#[state] caller: &Caller, context: &ToolContext) -> String {
    let name = caller.client_name().unwrap_or_default();
    let version = caller.client_version().unwrap_or_default();
    let protocol = caller.protocol_version().unwrap_or_default();
    let trace = caller.trace_context();
    // Another server's client in this tool would send the extension along.
    assert_eq!(context.extension::<TraceContext>(), trace.as_ref());
    let baggage = caller.meta("baggage").and_then(|baggage| baggage.as_str());
    assert_eq!(trace.as_ref().and_then(|trace| trace.baggage.as_deref()), baggage);
    let trace = trace.map_or("none".to_owned(), |trace| trace.parent);
    format!("{name} {version} {protocol} {trace}")
}

struct Tenant(String);

/// Tells the tenant.
#[tool]
fn tenant(#[state] tenant: &Tenant) -> String {
    tenant.0.clone()
}

/// Counts the calls of a session.
#[tool]
fn count(context: &ToolContext) -> i64 {
    let count = context.session().get("count").and_then(|count| count.as_i64()).unwrap_or(0) + 1;
    context.session().set("count", count);
    count
}

/// Reports progress, also backwards.
#[tool]
async fn steps(context: &ToolContext) -> &'static str {
    for (fraction, message) in [(0.0, "begin"), (0.5, "half"), (0.25, "back"), (1.0, "")] {
        context.progress(fraction, message);
        tokio::task::yield_now().await;
    }
    "stepped"
}

/// Reports progress many times without a pause.
#[tool]
fn burst(reports: u32, context: &ToolContext) -> &'static str {
    for number in 1..=reports {
        context.progress(f64::from(number) / f64::from(reports), format!("report {number}"));
    }
    "done"
}

/// Logs at several levels.
#[tool]
async fn logs(#[state] caller: &Caller) -> &'static str {
    caller.log(LogLevel::Debug, "detail").await;
    caller.log(LogLevel::Info, json!({"step": 1})).await;
    caller.log(LogLevel::Error, "fault").await;
    "logged"
}

/// Waits for the gate.
#[tool]
async fn wait(#[state] gate: Arc<Signals>) -> &'static str {
    gate.wait().await;
    "waited"
}

fn server() -> McpServer {
    let registry = ToolRegistry::from_tools(tools![numbers, client_name, count, steps, burst, logs]);
    McpServer::new(registry.expect("the names are legal")).expect("complete")
}

fn gated() -> (Arc<Signals>, ToolRegistry) {
    let gate = Arc::new(Signals::default());
    let registry = ToolRegistry::from_tools(tools![wait]).expect("the names are legal");
    (gate.clone(), registry.with_shared_state(gate))
}

#[tokio::test]
async fn arguments_reach_the_tool_as_the_client_wrote_them() {
    let mut client = Client::session(server(), json!({})).await;
    let line = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"numbers","arguments":
        {"big":340282366920938463463374607431768211455,"exact":"a\u00e9\n","times":2}}}"#;
    client.send_text(&line.replace('\n', "")).await;
    let result = client.finish(7).await.expect("a result");
    assert_eq!(text(&result), "340282366920938463463374607431768211455 a\u{e9}\n 2");

    let result = client.request("tools/call", json!({"name": "count"})).await.expect("a result");
    assert_eq!(text(&result), "1");
    let error = client.request("tools/call", json!({"name": "count", "arguments": [1]})).await;
    assert_eq!(error.expect_err("arguments are an object")["code"], -32602);
}

#[tokio::test]
async fn tools_see_the_client_and_the_trace_context() {
    let trace = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";
    let meta = json!({"traceparent": trace, "tracestate": "vendor=1", "baggage": "tenant=acme"});
    let params = json!({"name": "client_name", "arguments": {}, "_meta": meta});
    let mut client = Client::session(server(), json!({})).await;
    let result = client.request("tools/call", params.clone()).await.expect("a result");
    assert_eq!(text(&result), format!("tester 1.2.3 2025-11-25 {trace}"));
    let mut client = Client::stateless(server(), json!({}));
    let result = client.request("tools/call", params).await.expect("a result");
    assert_eq!(text(&result), format!("tester 1.2.3 2026-07-28 {trace}"));
}

#[tokio::test]
async fn each_call_has_state_of_its_own() {
    let registry = ToolRegistry::from_tools(tools![tenant]).expect("legal").with_run_state::<Tenant>();
    let server = McpServer::new(registry).expect("complete").with_call_state(|caller| {
        let tenant = caller.meta("example.com/tenant").and_then(|tenant| tenant.as_str());
        tenant.map(|tenant| Tenant(tenant.to_owned())).ok_or_else(|| ToolError::failed("no tenant"))
    });
    let mut client = Client::session(server, json!({})).await;
    let meta = json!({"example.com/tenant": "Acme"});
    let result =
        client.request("tools/call", json!({"name": "tenant", "_meta": meta})).await.expect("a result");
    assert_eq!(text(&result), "Acme");
    let result = client.call("tenant", json!({})).await.expect("a result");
    assert_eq!((&result["isError"], text(&result)), (&json!(true), "Error running tool: no tenant"));
}

#[tokio::test]
async fn a_session_keeps_its_state_and_shares_it_with_no_other() {
    let server = server();
    let mut first = Client::session(server.clone(), json!({})).await;
    let mut second = Client::session(server, json!({})).await;
    for (client, expected) in [(&mut first, "1"), (&mut second, "1")] {
        assert_eq!(text(&client.call("count", json!({})).await.expect("a result")), expected);
    }
    assert_eq!(text(&first.call("count", json!({})).await.expect("a result")), "2");
}

#[tokio::test]
async fn the_run_of_the_dispatcher_stays() {
    let registry = ToolRegistry::from_tools(tools![tenant]).expect("legal").with_run_state::<Tenant>();
    let run = RunContext::new().with_state(Tenant("from the run".to_owned()));
    let dispatcher = Dispatcher::new(registry).expect("complete").with_run(run);
    let mut client = Client::session(McpServer::from(dispatcher), json!({})).await;
    assert_eq!(text(&client.call("tenant", json!({})).await.expect("a result")), "from the run");
    assert!(State::new().get::<Tenant>().is_none());
}

#[tokio::test]
async fn progress_is_reported_in_order_before_the_result() {
    let mut client = Client::session(server(), json!({})).await;
    let params = json!({"name": "steps", "arguments": {}, "_meta": {"progressToken": "token 1"}});
    let result = client.request("tools/call", params).await.expect("a result");
    assert_eq!(text(&result), "stepped");
    let reports: Vec<_> = client.messages.drain(..).map(|mut message| message["params"].take()).collect();
    let expected = [
        json!({"progressToken": "token 1", "progress": 0.0, "total": 100.0, "message": "begin"}),
        json!({"progressToken": "token 1", "progress": 50.0, "total": 100.0, "message": "half"}),
        json!({"progressToken": "token 1", "progress": 100.0, "total": 100.0}),
    ];
    assert_eq!(reports, expected);
    client.call("steps", json!({})).await.expect("a result");
    assert!(client.messages.is_empty(), "nobody asked for progress");
}

#[tokio::test]
async fn the_newest_progress_report_of_a_burst_arrives() {
    for reports in [1, 3, 63, 64, 65, 66, 200, 1_000] {
        let mut client = Client::session(server(), json!({})).await;
        let params =
            json!({"name": "burst", "arguments": {"reports": reports}, "_meta": {"progressToken": 1}});
        let result = client.request("tools/call", params).await.expect("a result");
        assert_eq!(text(&result), "done");
        let values: Vec<f64> =
            client.messages.iter().filter_map(|message| message["params"]["progress"].as_f64()).collect();
        assert!(values.is_sorted_by(|a, b| a < b), "progress increases: {values:?}");
        assert_eq!(values.last(), Some(&100.0), "{reports} reports");
        let expected = format!("report {reports}");
        assert_eq!(client.messages.back().expect("a report")["params"]["message"], expected);
        if reports <= 64 {
            assert_eq!(values.len(), reports, "a short burst arrives complete");
        }
    }
}

#[tokio::test]
async fn a_slow_client_gets_the_newest_progress_report_before_the_result() {
    let mut client = Client::connect_with_buffer(server(), 256);
    client.initialize(json!({})).await;
    let params = json!({"name": "burst", "arguments": {"reports": 500}, "_meta": {"progressToken": 1}});
    let id = client.start("tools/call", params).await;
    // The client does not read while the tool reports and ends.
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_eq!(text(&client.finish(id).await.expect("a result")), "done");
    let newest = client.messages.back().expect("a report");
    assert_eq!(
        (&newest["params"]["progress"], &newest["params"]["message"]),
        (&json!(100.0), &json!("report 500"))
    );
}

#[tokio::test]
async fn log_messages_have_the_level_that_the_client_wants() {
    let mut client = Client::session(server(), json!({})).await;
    client.call("logs", json!({})).await.expect("a result");
    let messages: Vec<_> = client.messages.drain(..).map(|mut message| message["params"].take()).collect();
    let expected =
        [json!({"level": "info", "data": {"step": 1}}), json!({"level": "error", "data": "fault"})];
    assert_eq!(messages, expected);
    client.request("logging/setLevel", json!({"level": "error"})).await.expect("it is set");
    client.call("logs", json!({})).await.expect("a result");
    assert_eq!(client.messages.len(), 1);

    let mut client = Client::stateless(server(), json!({}));
    client.call("logs", json!({})).await.expect("a result");
    assert!(client.messages.is_empty());
    let meta = json!({"io.modelcontextprotocol/logLevel": "debug"});
    let params = json!({"name": "logs", "arguments": {}, "_meta": meta});
    client.request("tools/call", params).await.expect("a result");
    assert_eq!(client.messages.len(), 3);
}

#[tokio::test]
async fn a_cancelled_call_ends_and_the_session_goes_on() {
    let (gate, registry) = gated();
    let mut client = Client::session(McpServer::new(registry).expect("complete"), json!({})).await;
    let id = client.start("tools/call", json!({"name": "wait", "arguments": {}})).await;
    timeout(PATIENCE, gate.begun.notified()).await.expect("the call begins");
    let params = json!({"requestId": id, "reason": "changed my mind"});
    client.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})).await;
    timeout(PATIENCE, gate.dropped.notified()).await.expect("the call is dropped");
    client.request("ping", json!({})).await.expect("the session goes on");
    assert!(client.messages.is_empty(), "a cancelled request has no response: {:?}", client.messages);
}

#[tokio::test]
async fn calls_beyond_the_limit_are_refused() {
    let (gate, registry) = gated();
    let prompts = ToolRegistry::from_tools(tools![steps]).expect("legal");
    let server = McpServer::new(registry).expect("complete").with_max_calls(1);
    let server = server.with_prompts(prompts).expect("complete");
    let mut client = Client::session(server, json!({})).await;
    let first = client.start("tools/call", json!({"name": "wait", "arguments": {}})).await;
    timeout(PATIENCE, gate.begun.notified()).await.expect("the call begins");
    let second = client.call("wait", json!({})).await.expect("a result");
    let busy = "the server is busy; try again later";
    assert_eq!((&second["isError"], text(&second)), (&json!(true), busy));
    let prompt = client.request("prompts/get", json!({"name": "steps"})).await.expect_err("an error");
    assert_eq!(prompt["message"], busy);
    gate.open.notify_one();
    assert_eq!(text(&client.finish(first).await.expect("a result")), "waited");
}

#[tokio::test]
async fn the_limits_and_rules_of_the_dispatcher_apply() {
    let (_gate, registry) = gated();
    let dispatcher = Dispatcher::new(registry).expect("complete").with_timeout(Duration::from_millis(20));
    let mut client = Client::session(McpServer::from(dispatcher.clone()), json!({})).await;
    let result = client.call("wait", json!({})).await.expect("a result");
    assert_eq!((&result["isError"], text(&result)), (&json!(true), "Tool `wait` timed out after 0.02s"));

    let permissions = Permissions::new().rule(PermissionRule::deny("not today"));
    let dispatcher = dispatcher.with_middleware(permissions);
    let mut client = Client::session(McpServer::from(dispatcher), json!({})).await;
    let result = client.call("wait", json!({})).await.expect("a result");
    assert_eq!(text(&result), "Tool `wait` was denied: not today");
}

#[tokio::test]
async fn calls_of_one_client_run_at_the_same_time() {
    let (gate, registry) = gated();
    let mut client = Client::session(McpServer::new(registry).expect("complete"), json!({})).await;
    let mut calls = Vec::new();
    for _ in 0..10 {
        calls.push(client.start("tools/call", json!({"name": "wait", "arguments": {}})).await);
        timeout(PATIENCE, gate.begun.notified()).await.expect("the call begins");
    }
    for _ in 0..10 {
        gate.open.notify_one();
        tokio::task::yield_now().await;
    }
    gate.open.notify_waiters();
    for id in calls {
        while client.messages.iter().all(|message| message["id"] != id) {
            gate.open.notify_waiters();
            let message = client.read().await.expect("a response");
            client.messages.push_back(message);
        }
    }
}

#[tokio::test]
async fn a_panic_in_the_state_of_a_call_is_an_error_of_the_call() {
    let registry = ToolRegistry::from_tools(tools![tenant]).expect("legal").with_run_state::<Tenant>();
    let server = McpServer::new(registry).expect("complete");
    let server = server.with_call_state(|caller| match caller.meta("example.com/tenant") {
        Some(_) => Ok(Tenant("Acme".to_owned())),
        None => panic!("secret text"),
    });
    let mut client = Client::session(server, json!({})).await;
    let result = client.call("tenant", json!({})).await.expect("a result");
    let expected = "the server cannot tell who calls the tool";
    assert_eq!((&result["isError"], text(&result)), (&json!(true), expected));
    let params = json!({"name": "tenant", "_meta": {"example.com/tenant": "Acme"}});
    assert_eq!(text(&client.request("tools/call", params).await.expect("a result")), "Acme");
}
