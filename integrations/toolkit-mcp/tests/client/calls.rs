//! Calls: arguments, results, progress, cancellation, questions and trace context.

use super::bare::Bare;
use super::{call, call_in, event, registry, within};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolkit_ai::{CancellationToken, Dispatcher, ErrorKind, RunContext, ToolCall};
use toolkit_core::context::TraceContext;
use toolkit_mcp::client::{
    ElicitationAnswer, ElicitationKind, ElicitationRequest, McpClient, McpClientBuilder, McpEndpoint,
    McpEvent, McpProtocol,
};

const PROTOCOLS: [McpProtocol; 2] = [McpProtocol::Stateless, McpProtocol::Handshake];

fn builder(server: &Bare, protocol: McpProtocol) -> McpClientBuilder {
    McpClient::builder(server.endpoint()).protocol(protocol)
}

#[tokio::test]
async fn the_tools_of_a_server_join_a_registry_under_a_namespace() {
    let versions = [
        (McpProtocol::Auto, "2026-07-28"),
        (McpProtocol::Stateless, "2026-07-28"),
        (McpProtocol::Handshake, "2025-11-25"),
    ];
    for (protocol, version) in versions {
        let client = builder(&Bare::new(), protocol).namespace("shop").connect().await.unwrap();
        assert_eq!((client.name(), client.server_info().protocol.as_str()), ("shop", version));
        assert_eq!(client.server_info().instructions.as_deref(), Some("Be kind."));
        let part = "Instructions of the MCP server `shop` for its tools:\n\n> Be kind.";
        assert_eq!(client.instructions().as_deref(), Some(part));
        let registry = registry(&client);
        // The server's seven tools are on three pages.
        assert_eq!(registry.len(), 7);
        let output = within(registry.call("shop-add", json!({"a": 2, "b": 3}))).await.unwrap();
        assert_eq!(output.to_text(), "5");
        client.close().await;
    }
}

#[tokio::test]
async fn arguments_are_coerced_and_checked_before_the_call() {
    let server = Bare::new();
    let client = builder(&server, McpProtocol::Auto).connect().await.unwrap();
    let registry = registry(&client);
    let fenced = "```json\n{\"a\": \"2\", \"b\": 3.0}\n```";
    assert_eq!(within(registry.call("add", fenced)).await.unwrap().to_text(), "5");
    let error = registry.call("add", r#"{"a": "two", "c": 1}"#).await.unwrap_err();
    assert_eq!((error.kind(), error.violations().len()), (ErrorKind::InvalidArguments, 3));
    let error = registry.call("add", r#"{"a": 2, "b": 18446744073709551617}"#).await.unwrap_err();
    let expected = "`b`: expected integer of at most 64 bits, got number 18446744073709551617";
    assert_eq!(error.violations()[0].to_string(), expected);
    assert_eq!(server.metas.lock().unwrap().len(), 1, "the other calls were never sent");
    assert_eq!(registry.validate("add", "{}").unwrap_err().kind(), ErrorKind::InvalidArguments);
}

#[tokio::test]
async fn failures_tell_the_model_what_to_do() {
    for protocol in PROTOCOLS {
        let client = builder(&Bare::new(), protocol).name("shop").connect().await.unwrap();
        let failed = call(&client, "fail", "{}").await.unwrap_err();
        assert_eq!(failed.message(), "the shop is closed");
        let refused = call(&client, "repeat", "{}").await.unwrap_err();
        let expected = "Error running tool: MCP server `shop` failed: the disk is full; \
                        it may have been executed; check before trying again";
        assert_eq!(refused.message(), expected);
    }
}

#[tokio::test]
async fn progress_of_the_server_becomes_progress_of_the_call_in_order() {
    for protocol in PROTOCOLS {
        let client = builder(&Bare::new(), protocol).connect().await.unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let listener = seen.clone();
        let run = RunContext::new().on_progress(move |progress| {
            listener.lock().unwrap().push((progress.fraction, progress.message.clone()));
        });
        let output = call_in(&client, "count", "{}", |context| context.with_run(run)).await.unwrap();
        assert_eq!(output.to_text(), "counted");
        let expected = [(0.25, "step 1"), (0.5, "step 2"), (0.75, "step 3")];
        let expected = expected.map(|(fraction, text)| (fraction, text.to_owned()));
        assert_eq!(*seen.lock().unwrap(), expected);
    }
}

#[tokio::test]
async fn a_cancelled_call_is_cancelled_on_the_server() {
    for protocol in PROTOCOLS {
        let server = Bare::new();
        let client = builder(&server, protocol).connect().await.unwrap();
        let token = CancellationToken::new();
        let dispatcher = Dispatcher::new(registry(&client)).unwrap();
        let cancel = async {
            while server.metas.lock().unwrap().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            token.cancel();
        };
        let calls = [ToolCall::new("1", "wait", "{}")];
        let dispatched = dispatcher.dispatch_with(calls, token.clone());
        let (results, ()) = within(async { tokio::join!(dispatched, cancel) }).await;
        assert_eq!(results[0].error().unwrap().kind(), ErrorKind::Cancelled);
        within(async {
            while server.cancelled.lock().unwrap().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
        assert_eq!(call(&client, "add", r#"{"a": 1, "b": 1}"#).await.unwrap().to_text(), "2");
    }
}

#[tokio::test]
async fn a_slow_call_times_out_and_is_cancelled_on_the_server() {
    let server = Bare::new();
    let builder = builder(&server, McpProtocol::Auto).call_timeout(Duration::from_millis(100));
    let client = builder.connect().await.unwrap();
    let error = call(&client, "wait", "{}").await.unwrap_err();
    assert_eq!(error.message(), "Tool `wait` timed out after 0.1s");
    within(async {
        while server.cancelled.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn questions_are_declined_without_a_handler() {
    let client = builder(&Bare::new(), McpProtocol::Stateless).connect().await.unwrap();
    assert_eq!(call(&client, "ask", "{}").await.unwrap().to_text(), r#"{"action":"decline"}"#);
}

#[tokio::test(start_paused = true)]
async fn questions_are_answered_by_the_handler_with_defaults_filled_in() {
    for protocol in PROTOCOLS {
        let handler = |request: ElicitationRequest| async move {
            assert_eq!((request.server.as_str(), request.message.as_str()), ("shop", "Who are you?"));
            let ElicitationKind::Form { schema, .. } = request.kind else { panic!("a form") };
            assert_eq!(schema["properties"]["name"]["type"], "string");
            // The user's time does not count for the call's limit.
            tokio::time::sleep(Duration::from_millis(300)).await;
            ElicitationAnswer::Accept([("name".to_owned(), "Ada".into())].into_iter().collect())
        };
        let builder = builder(&Bare::new(), protocol).name("shop").elicitation(handler);
        let client = builder.call_timeout(Duration::from_millis(100)).connect().await.unwrap();
        let answer = call(&client, "ask", "{}").await.unwrap().to_text().into_owned();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer, json!({"action": "accept", "content": {"name": "Ada", "size": "large"}}));
    }
}

#[tokio::test]
async fn an_endless_time_limit_survives_progress_reports() {
    let builder = builder(&Bare::new(), McpProtocol::Auto).call_timeout(Duration::MAX);
    let client = builder.connect_timeout(Duration::MAX).connect().await.unwrap();
    assert_eq!(call(&client, "count", "{}").await.unwrap().to_text(), "counted");
}

#[tokio::test]
async fn the_trace_context_of_a_call_is_sent_along() {
    let client = builder(&Bare::new(), McpProtocol::Auto).connect().await.unwrap();
    let trace = TraceContext::new("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    let of_call = call_in(&client, "meta", "{}", |context| context.with_extension(trace.clone())).await;
    assert_eq!(of_call.unwrap().to_text(), trace.parent);
    let run = RunContext::new().with_extension(trace.clone());
    let of_run = call_in(&client, "meta", "{}", |context| context.with_run(run)).await;
    assert_eq!(of_run.unwrap().to_text(), trace.parent);
    assert_eq!(call(&client, "meta", "{}").await.unwrap().to_text(), "none");
}

#[tokio::test]
async fn every_part_of_the_trace_context_is_sent() {
    let trace = TraceContext::new("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
        .with_state("vendor=1")
        .with_baggage("tenant=acme");
    for protocol in PROTOCOLS {
        let server = Bare::new();
        let client = builder(&server, protocol).connect().await.unwrap();
        call_in(&client, "meta", "{}", |context| context.with_extension(trace.clone())).await.unwrap();
        call(&client, "meta", "{}").await.unwrap();
        let metas = server.metas.lock().unwrap();
        let sent = |meta: &Value| ["traceparent", "tracestate", "baggage"].map(|key| meta[key].clone());
        assert_eq!(sent(&metas[0]), [json!(trace.parent), json!("vendor=1"), json!("tenant=acme")]);
        assert_eq!(sent(&metas[1]), [Value::Null, Value::Null, Value::Null]);
    }
}

#[tokio::test]
async fn a_server_is_reached_over_a_pair_of_streams() {
    for protocol in PROTOCOLS {
        let (near, far) = tokio::io::duplex(1 << 16);
        let server = Bare::new();
        let serving = tokio::spawn(async move {
            let running = rmcp::service::serve_server(server, far).await.unwrap();
            let _ = running.waiting().await;
        });
        let (reader, writer) = tokio::io::split(near);
        let endpoint = McpEndpoint::streams(reader, writer);
        let client = McpClient::builder(endpoint).protocol(protocol).namespace("shop").connect();
        let client = within(client).await.unwrap();
        let sum = call(&client, "shop-add", r#"{"a": 2, "b": 3}"#).await.unwrap();
        assert_eq!(sum.to_text(), "5");
        let mut events = client.events();
        serving.abort();
        event(&mut events, |event| matches!(event, McpEvent::Disconnected { .. }).then_some(())).await;
        // The streams work once, so no connection follows.
        assert!(!within(client.ready()).await);
    }
}

#[tokio::test]
async fn many_calls_at_once_get_their_own_results() {
    let client = builder(&Bare::new(), McpProtocol::Auto).connect().await.unwrap();
    let dispatcher = Dispatcher::new(registry(&client)).unwrap();
    let calls = (0..200).map(|n| ToolCall::new(format!("{n}"), "add", json!({"a": n, "b": n}).to_string()));
    let results = within(dispatcher.dispatch(calls)).await;
    for (n, result) in results.iter().enumerate() {
        assert_eq!(result.output().unwrap().to_text(), (2 * n).to_string());
    }
}

#[tokio::test]
async fn a_closed_client_answers_with_an_error() {
    let client = builder(&Bare::new(), McpProtocol::Auto).name("shop").connect().await.unwrap();
    let mut events = client.events();
    client.close().await;
    assert!(!client.is_connected());
    assert!(!client.ready().await);
    let error = call(&client, "add", r#"{"a": 1, "b": 1}"#).await.unwrap_err();
    let expected = "Error running tool: MCP server `shop` is not reachable; try again later, or continue without its tools";
    assert_eq!((error.message(), error.is_retryable()), (expected, true));
    let reconnected = tokio::time::timeout(
        Duration::from_millis(100),
        event(&mut events, |event| matches!(event, McpEvent::Reconnected { .. }).then_some(())),
    );
    assert!(reconnected.await.is_err(), "a closed client stays closed");
}
