//! Spans and metrics, as OpenTelemetry's exporters see them.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

mod collected;
mod runs;

use collected::{attribute, telemetry};
use opentelemetry::trace::SpanKind;
use runs::{ask_model, call_in_process, call_over_http, run_agent};
use std::collections::{BTreeMap, BTreeSet};

fn pairs(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn a_run_is_a_tree_of_spans() {
    let seen = telemetry(run_agent());
    assert_eq!(
        seen.tree(),
        "invoke_agent clerk\n\
        \x20 chat scripted [client] (unavailable)\n\
        \x20 chat scripted [client]\n\
        \x20 execute_tool add\n\
        \x20 execute_tool fails (failed)\n\
        \x20 execute_tool nope (not_found)\n\
        \x20 chat scripted [client]\n"
    );
    let chat = seen.attributes("chat scripted");
    assert!(chat.contains_key("gen_ai.request.stream"), "{chat:?}");
    let tools = &chat["gen_ai.tool.definitions"];
    assert!(
        tools.starts_with(r#"[{"type":"function","name":"add","description":"Adds.","parameters":"#),
        "{tools}"
    );
    let answered = seen.spans.iter().filter(|span| span.name == "chat scripted").nth(1).unwrap();
    assert!(attribute(answered, "gen_ai.response.time_to_first_chunk").is_some());
    assert_eq!(attribute(answered, "gen_ai.usage.reasoning.output_tokens").unwrap(), "4");
}

#[test]
fn a_request_without_an_agent_is_a_span_too() {
    let mut port = 0;
    let seen = telemetry(async { port = ask_model().await });
    assert_eq!(seen.tree(), "chat gpt-5 [client]\n");
    assert_eq!(
        seen.attributes("chat gpt-5"),
        pairs(&[
            ("gen_ai.operation.name", "chat"),
            ("gen_ai.output.type", "json"),
            ("gen_ai.provider.name", "openai"),
            ("gen_ai.request.max_tokens", "100"),
            ("gen_ai.request.model", "gpt-5"),
            ("gen_ai.request.seed", "7"),
            ("gen_ai.request.stop_sequences", r#"["END"]"#),
            ("gen_ai.request.temperature", "0.5"),
            ("gen_ai.request.top_p", "0.9"),
            ("gen_ai.response.finish_reasons", r#"["stop"]"#),
            ("gen_ai.response.id", "chatcmpl-1"),
            ("gen_ai.response.model", "gpt-5-2026"),
            ("gen_ai.usage.cache_read.input_tokens", "10"),
            ("gen_ai.usage.input_tokens", "30"),
            ("gen_ai.usage.output_tokens", "12"),
            ("gen_ai.usage.reasoning.output_tokens", "8"),
            ("server.address", "127.0.0.1"),
            ("server.port", &port.to_string()),
        ])
    );
}

#[test]
fn an_mcp_call_is_a_span_at_both_sides() {
    let seen = telemetry(call_in_process());
    assert_eq!(
        seen.tree(),
        "tools/list [client]\n\
        execute_tool add\n\
        \x20 tools/call add [client]\n\
        tools/call add [server]\n\
        \x20 execute_tool add\n\
        execute_tool fails (failed)\n\
        \x20 tools/call fails [client] (tool_error)\n\
        tools/call fails [server] (tool_error)\n\
        \x20 execute_tool fails (failed)\n"
    );
    let both = seen.spans.iter().filter(|span| span.name == "tools/call add");
    for span in both {
        let [id, protocol] = ["jsonrpc.request.id", "mcp.protocol.version"].map(|name| attribute(span, name));
        assert!(id.is_some_and(|id| id.parse::<u64>().is_ok()));
        assert_eq!(protocol.as_deref(), Some("2026-07-28"));
    }
}

#[test]
fn requests_over_http_name_the_session_and_the_server() {
    let mut port = 0;
    let seen = telemetry(async { port = call_over_http().await });
    assert_eq!(
        seen.tree(),
        "tools/list [client]\n\
        prompts/get explain [client]\n\
        prompts/get explain [server]\n\
        \x20 execute_tool explain\n\
        prompts/get nope [client] (-32602)\n\
        prompts/get nope [server] (-32602)\n\
        resources/read [client]\n\
        resources/read [server]\n\
        \x20 execute_tool app\n"
    );
    let mut server =
        seen.spans.iter().rfind(|span| span.span_kind == SpanKind::Server).unwrap().attributes.clone();
    let session = server.iter().position(|pair| pair.key.as_str() == "mcp.session.id").unwrap();
    assert!(!server.remove(session).value.to_string().is_empty());
    let port = port.to_string();
    let client = seen.attributes("prompts/get nope");
    assert_eq!(
        client,
        pairs(&[
            ("error.type", "-32602"),
            ("gen_ai.prompt.name", "nope"),
            ("mcp.method.name", "prompts/get"),
            ("mcp.protocol.version", "2025-11-25"),
            ("network.protocol.name", "http"),
            ("network.transport", "tcp"),
            ("rpc.response.status_code", "-32602"),
            ("server.address", "127.0.0.1"),
            ("server.port", &port),
        ])
    );
}

#[test]
fn metrics_count_by_outcome() {
    let seen = telemetry(run_agent());
    let chat = "gen_ai.operation.name=chat gen_ai.request.model=scripted";
    let tokens = "gen_ai.operation.name=chat gen_ai.request.model=scripted gen_ai.token.modality=unknown";
    let tool = |name: &str, error: &str| {
        let rest =
            format!("gen_ai.operation.name=execute_tool gen_ai.tool.name={name} gen_ai.tool.type=function");
        format!("gen_ai.execute_tool.duration {error}{rest}")
    };
    let inference = "gen_ai.client.inference";
    let expected = [
        (tool("add", ""), 1),
        (tool("fails", "error.type=failed "), 1),
        (tool("_OTHER", "error.type=not_found "), 1),
        (
            "gen_ai.invoke_agent.duration gen_ai.agent.name=clerk gen_ai.operation.name=invoke_agent"
                .to_owned(),
            1,
        ),
        (format!("{inference}.duration {chat}"), 2),
        (format!("{inference}.duration error.type=unavailable {chat}"), 1),
        (format!("{inference}.time_to_first_chunk {chat}"), 2),
        (format!("{inference}.operation.input_tokens {chat}"), 2),
        (format!("{inference}.operation.output_tokens {chat}"), 2),
        (format!("{inference}.usage.input_tokens {tokens}"), 220),
        (format!("{inference}.usage.output_tokens {tokens}"), 11),
        (format!("{inference}.usage.cache_read.input_tokens {tokens}"), 80),
        (format!("{inference}.usage.cache_write.input_tokens {tokens}"), 20),
        (format!("{inference}.usage.reasoning.output_tokens {tokens}"), 4),
    ];
    assert_eq!(seen.metrics, BTreeMap::from(expected));

    let seen = telemetry(call_in_process());
    let of_mcp: Vec<String> = seen
        .metrics
        .iter()
        .filter(|(row, _)| row.starts_with("mcp."))
        .map(|(row, count)| format!("{row} {count}"))
        .collect();
    let row = |side: &str, rest: &str| format!("mcp.{side}.operation.duration {rest} 1");
    let call = |tool: &str| {
        format!(
            "gen_ai.operation.name=execute_tool gen_ai.tool.name={tool} mcp.method.name=tools/call \
             mcp.protocol.version=2026-07-28"
        )
    };
    assert_eq!(
        of_mcp,
        [
            row("client", &format!("error.type=tool_error {}", call("fails"))),
            row("client", &call("add")),
            row("client", "mcp.method.name=tools/list mcp.protocol.version=2026-07-28"),
            row("server", &format!("error.type=tool_error {}", call("fails"))),
            row("server", &call("add")),
        ]
    );
}

#[test]
fn the_guide_names_every_attribute_and_metric_once() {
    let page = include_str!("../../docs/guide/observability.md");
    let mut named = BTreeSet::new();
    for row in page.lines().filter(|line| line.starts_with("| `")) {
        let name = row.split('`').nth(1).unwrap();
        assert!(named.insert(name.to_owned()), "`{name}` is named twice");
    }
    let seen = telemetry(async {
        run_agent().await;
        ask_model().await;
        call_in_process().await;
        call_over_http().await;
    });
    let attributes = seen.spans.iter().flat_map(|span| &span.attributes).map(|pair| pair.key.to_string());
    // A row names a metric and its attributes.
    let metrics =
        seen.metrics.keys().flat_map(|row| row.split(' ')).filter_map(|part| part.split('=').next());
    let recorded: BTreeSet<String> = attributes.chain(metrics.map(str::to_owned)).collect();
    assert_eq!(named, recorded);
}
