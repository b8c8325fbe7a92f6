//! Tests of hosted tools in definitions, and of their calls in responses and streams.

use super::{HostedCall, HostedTool, anthropic, gemini, openai};
use crate::translate::RequestFormat;
use crate::{ApiFormat, DefinitionOptions, Definitions, StreamEvent};
use serde_json::{Value, json};
use toolkit_core::name::{ToolName, WireNames};
use toolkit_core::tool::ToolDefinition;

fn all() -> Vec<HostedTool> {
    vec![
        openai::web_search(),
        openai::file_search(["vs_1"]),
        openai::code_interpreter(),
        openai::image_generation(),
        openai::mcp("docs", "https://a.example/mcp"),
        openai::connector("mail", "connector_gmail", "token"),
        openai::tool_search(),
        openai::client_tool_search(),
        openai::programmatic_tool_calling(),
        openai::shell(),
        openai::local_shell(),
        openai::apply_patch(),
        openai::computer(),
        anthropic::web_search(),
        anthropic::web_fetch(),
        anthropic::code_execution(),
        anthropic::tool_search_bm25(),
        anthropic::tool_search_regex(),
        anthropic::mcp("docs", "https://a.example/mcp"),
        anthropic::bash(),
        anthropic::text_editor(),
        anthropic::memory(),
        anthropic::computer(1024, 768),
        gemini::google_search(),
        gemini::google_maps(),
        gemini::url_context(),
        gemini::code_execution(),
        gemini::file_search(["fileSearchStores/a"]),
        gemini::computer_use(),
        gemini::mcp("docs", "https://a.example/mcp"),
    ]
}

fn own(format: ApiFormat, names: &[&str]) -> Definitions {
    let tools: Vec<ToolDefinition> = names
        .iter()
        .map(|name| ToolDefinition::new(ToolName::new(name).unwrap(), "Does it.", json!({"type": "object"})))
        .collect();
    format.encode_definitions(&tools, &WireNames::default(), &DefinitionOptions::default())
}

#[test]
fn hosted_tools_stand_unchanged_beside_the_own_tools_and_are_read_again() {
    for format in ApiFormat::ALL {
        for own_tools in [&["add"][..], &[]] {
            let plain = own(format, own_tools);
            let with = plain.with_hosted(&all());
            let mine: Vec<Value> =
                all().into_iter().filter(|tool| tool.format == format).map(|tool| tool.definition).collect();
            let mut expected: Vec<Value> = plain.to_value().as_array().unwrap().clone();
            expected.extend(mine.iter().cloned());
            assert_eq!(with.to_value(), json!(expected));
            if let Some(reader) = RequestFormat::of(format) {
                assert_eq!(reader.hosted_tools(&with.to_value()).unwrap(), mine);
                assert_eq!(reader.parse_definitions(&with.to_value()).unwrap().len(), own_tools.len());
            }
            // Each tool of another API is reported.
            assert_eq!(with.report().losses.len(), all().len() - mine.len());
        }
    }
}

#[test]
fn the_own_tool_that_answers_a_hosted_tool_is_not_defined_twice() {
    for tool in all() {
        let Some(name) = tool.answered_by().map(ToOwned::to_owned) else { continue };
        let tools = own(tool.format, &["add", &name]).with_hosted([&tool]).to_value();
        assert_eq!(tools.as_array().unwrap().len(), 2, "{name}: {tools}");
        assert_eq!(tools[0]["name"], "add");
        assert_eq!(tools[1]["type"], tool.definition["type"]);
    }
}

/// Gemini defines a function for each action of its computer.
#[test]
fn the_own_tools_that_answer_the_computer_of_gemini_are_not_defined_twice() {
    let tools = own(ApiFormat::Gemini, &["add", "click_at", "navigate"]);
    for (computer, expected) in [
        (gemini::computer_use(), vec!["add"]),
        (
            gemini::computer_use().with("excludedPredefinedFunctions", vec!["navigate"]),
            vec!["add", "navigate"],
        ),
        (gemini::google_search(), vec!["add", "click_at", "navigate"]),
    ] {
        let tools = tools.clone().with_hosted([&computer]).to_value();
        let declared = RequestFormat::Gemini.parse_definitions(&tools).unwrap();
        let declared: Vec<String> = declared.iter().map(|tool| tool.name.to_string()).collect();
        assert_eq!(declared, expected, "{tools}");
        assert_eq!(RequestFormat::Gemini.hosted_tools(&tools).unwrap(), [computer.definition]);
    }
}

#[test]
fn a_search_by_the_program_takes_its_words_from_the_registry() {
    let tools = own(ApiFormat::OpenAiResponses, &["add", "call_deferred", "discover_tools"]);
    let tools = tools.with_hosted(&[openai::client_tool_search()]).to_value();
    let expected = json!({"type": "tool_search", "execution": "client", "description": "Does it.",
        "parameters": {"type": "object"}});
    assert_eq!(tools[1]["parameters"]["type"], "object");
    assert_eq!(tools[1]["description"], expected["description"]);
    assert_eq!(tools.as_array().unwrap().len(), 2);
}

/// Returns response bodies that contain hosted calls, each with the calls that parsing must return.
fn bodies() -> Vec<(ApiFormat, Value, Vec<HostedCall>)> {
    let call = |id: &str, kind: &str, name: &str, server: &str, arguments: Value, output: Value| HostedCall {
        id: id.to_owned(),
        kind: kind.to_owned(),
        name: name.to_owned(),
        server: server.to_owned(),
        arguments,
        output: Some(output).filter(|output| !output.is_null()),
    };
    let search = json!({"type": "search", "query": "rust"});
    let responses = json!({"id": "r", "object": "response", "status": "completed", "output": [
        {"id": "ws_1", "type": "web_search_call", "status": "completed", "action": search},
        {"id": "l_1", "type": "mcp_list_tools", "server_label": "docs", "tools": []},
        {"id": "mcp_1", "type": "mcp_call", "server_label": "docs", "name": "read", "arguments": "{\"a\":1}",
            "output": "text"},
        {"id": "mcp_2", "type": "mcp_call", "server_label": "docs", "name": "read", "arguments": "{}",
            "error": {"type": "http_error", "code": 500, "message": "x"}},
        {"id": "ci_1", "type": "code_interpreter_call", "status": "completed", "code": "1+1", "outputs": null,
            "container_id": "c"},
        {"id": "p_1", "type": "program", "call_id": "pc_1", "code": "add()", "fingerprint": "f"},
        {"id": "p_2", "type": "program_output", "call_id": "pc_1", "result": "3", "status": "completed"},
        {"id": "x_1", "type": "time_travel_call", "status": "completed"},
        {"id": "m", "type": "message", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": "Done.", "annotations": []}]},
    ]});
    let anthropic = json!({"id": "m", "type": "message", "role": "assistant", "stop_reason": "end_turn", "content": [
        {"type": "server_tool_use", "id": "s_1", "name": "web_search", "input": {"query": "rust"}},
        {"type": "web_search_tool_result", "tool_use_id": "s_1", "content": []},
        {"type": "mcp_tool_use", "id": "s_2", "name": "read", "server_name": "docs", "input": {}},
        {"type": "mcp_tool_result", "tool_use_id": "s_2", "is_error": false, "content": [{"type": "text", "text": "a"}]},
        {"type": "text", "text": "Done."},
    ]});
    let gemini = json!({"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [
        {"executableCode": {"language": "PYTHON", "code": "1+1"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
        {"toolCall": {"id": "t_1", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["rust"]}}},
        {"toolResponse": {"id": "t_1", "toolType": "GOOGLE_SEARCH_WEB", "response": {"a": 1}}},
        {"text": "Done."},
    ]}}]});
    let code = json!({"language": "PYTHON", "code": "1+1"});
    let failure = json!({"type": "http_error", "code": 500, "message": "x"});
    vec![
        (
            ApiFormat::OpenAiResponses,
            responses,
            vec![
                call("ws_1", "web_search_call", "web_search", "", search, Value::Null),
                call("l_1", "mcp_list_tools", "mcp_list_tools", "docs", Value::Null, json!([])),
                call("mcp_1", "mcp_call", "read", "docs", json!({"a": 1}), json!("text")),
                call("mcp_2", "mcp_call", "read", "docs", json!({}), failure),
                call("ci_1", "code_interpreter_call", "code_interpreter", "", json!("1+1"), Value::Null),
                call("pc_1", "program", "program", "", json!("add()"), json!("3")),
                call("x_1", "time_travel_call", "time_travel", "", Value::Null, Value::Null),
            ],
        ),
        (
            ApiFormat::Anthropic,
            anthropic,
            vec![
                call("s_1", "server_tool_use", "web_search", "", json!({"query": "rust"}), json!([])),
                call(
                    "s_2",
                    "mcp_tool_use",
                    "read",
                    "docs",
                    json!({}),
                    json!([{"type": "text", "text": "a"}]),
                ),
            ],
        ),
        (
            ApiFormat::Gemini,
            gemini,
            vec![
                call(
                    "",
                    "executableCode",
                    "code_execution",
                    "",
                    code,
                    json!({"outcome": "OUTCOME_OK", "output": "2"}),
                ),
                call(
                    "t_1",
                    "toolCall",
                    "google_search_web",
                    "",
                    json!({"queries": ["rust"]}),
                    json!({"a": 1}),
                ),
            ],
        ),
    ]
}

#[test]
fn calls_of_hosted_tools_are_read_kept_and_never_dispatched() {
    for (format, body, expected) in bodies() {
        let response = format.parse_response(&body).unwrap();
        assert_eq!(response.hosted, expected);
        assert!(response.calls.is_empty());
        assert_eq!(response.text, "Done.");
        let parts =
            ["/output", "/content", "/candidates/0/content/parts"].iter().find_map(|path| body.pointer(path));
        let native = match format {
            ApiFormat::OpenAiResponses => json!(response.native),
            ApiFormat::Anthropic => response.native[0]["content"].clone(),
            _ => response.native[0]["parts"].clone(),
        };
        assert_eq!(Some(&native), parts);
        assert_eq!(format.repair_history(response.native.clone()), response.native);
    }
}

/// Returns the events of a stream that delivers `body`.
fn streamed(format: ApiFormat, body: &Value) -> Vec<Value> {
    match format {
        ApiFormat::OpenAiResponses => {
            let items = body["output"].as_array().unwrap().iter().enumerate();
            let mut events: Vec<Value> = items
                .flat_map(|(index, item)| {
                    let event =
                        |kind: &str, item: &Value| json!({"type": kind, "output_index": index, "item": item});
                    let begun = json!({"type": item["type"], "id": item["id"], "status": "in_progress"});
                    [event("response.output_item.added", &begun), event("response.output_item.done", item)]
                })
                .collect();
            events.push(json!({"type": "response.completed", "response": body}));
            events
        }
        ApiFormat::Anthropic => {
            let mut events =
                vec![json!({"type": "message_start", "message": {"role": "assistant", "content": []}})];
            for (index, block) in body["content"].as_array().unwrap().iter().enumerate() {
                let mut begun = block.clone();
                let mut deltas = Vec::new();
                if block.get("input").is_some() {
                    begun["input"] = json!({});
                    deltas.push(
                        json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}),
                    );
                }
                events.push(json!({"type": "content_block_start", "index": index, "content_block": begun}));
                let delta = |delta| json!({"type": "content_block_delta", "index": index, "delta": delta});
                events.extend(deltas.into_iter().map(delta));
                events.push(json!({"type": "content_block_stop", "index": index}));
            }
            events.push(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}));
            events.push(json!({"type": "message_stop"}));
            events
        }
        _ => {
            let parts = body.pointer("/candidates/0/content/parts").unwrap().as_array().unwrap();
            let chunk =
                |part: &Value| json!({"candidates": [{"content": {"role": "model", "parts": [part]}}]});
            let end = json!({"candidates": [{"finishReason": "STOP"}]});
            parts.iter().map(chunk).chain([end]).collect()
        }
    }
}

#[test]
fn calls_of_hosted_tools_are_events_of_a_stream() {
    for (format, body, expected) in bodies() {
        let mut stream = format.accumulator();
        let events: Vec<StreamEvent> =
            streamed(format, &body).iter().flat_map(|event| stream.push(event).unwrap()).collect();
        let mut seen: Vec<HostedCall> = Vec::new();
        for event in events {
            let StreamEvent::Hosted(call) = event else { continue };
            // A second event of the same call has the output.
            match seen.iter_mut().find(|known| known.id == call.id) {
                Some(known) => {
                    assert!(known.output.is_none() && call.output.is_some(), "{call:?}");
                    *known = call;
                }
                None => seen.push(call),
            }
        }
        assert_eq!(seen, expected, "{format}");
        let response = stream.finish().response.unwrap();
        assert_eq!(response.hosted, expected);
    }
}

#[test]
fn results_of_the_search_refer_to_deferred_tools() {
    let names = WireNames::default();
    let call = toolkit_core::ToolCall::new("toolu_1", "discover_tools", "{}");
    let found =
        toolkit_core::ToolOutput::json(&json!([{"name": "read", "parameters": {}}, {"name": "write"}]))
            .unwrap();
    let result = toolkit_core::ToolResult::of(&call, Ok(found));
    let history = ApiFormat::Anthropic.history(&names).with_tool_references(true);
    let written = history.encode_results(&[result]);
    let reference = |name: &str| json!({"type": "tool_reference", "tool_name": name});
    assert_eq!(written[0]["content"][0]["content"], json!([reference("read"), reference("write")]));
    // References come back unchanged.
    let read = RequestFormat::Anthropic.parse_results(&json!(written)).unwrap();
    assert_eq!(ApiFormat::Anthropic.encode_results(&read), written);
}

#[test]
fn calls_from_code_are_answered_to_their_caller() {
    let caller = json!({"type": "program", "caller_id": "prog_1"});
    let item = json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "add", "arguments": "{}",
        "status": "completed", "caller": caller});
    let calls = ApiFormat::OpenAiResponses.parse_calls(&item).unwrap();
    let result = toolkit_core::ToolResult::of(&calls[0], Ok("3".into()));
    assert_eq!(ApiFormat::OpenAiResponses.encode_results(std::slice::from_ref(&result))[0]["caller"], caller);
    assert_eq!(ApiFormat::OpenAiResponses.encode_calls(&calls, &WireNames::default())[0]["caller"], caller);
    let caller = json!({"type": "code_execution_20260120", "tool_id": "srvtoolu_1"});
    let block = json!({"type": "tool_use", "id": "toolu_1", "name": "add", "input": {}, "caller": caller});
    let calls = ApiFormat::Anthropic.parse_calls(&block).unwrap();
    assert_eq!(
        ApiFormat::Anthropic.encode_calls(&calls, &WireNames::default())[0]["content"][0]["caller"],
        caller
    );
    // A message with the result of such a call holds nothing but results.
    let result = toolkit_core::ToolResult::of(&calls[0], Ok("3".into()));
    let message = &ApiFormat::Anthropic.encode_results(&[result])[0];
    assert_eq!(
        message["content"],
        json!([{"type": "tool_result", "tool_use_id": "toolu_1", "content": "3"}])
    );
}

/// Logs of a program are no place for the keys of its user.
#[test]
fn debug_output_has_no_secrets() {
    let secret = "ya29.secret";
    let mut tools = vec![
        openai::connector("mail", "connector_gmail", secret),
        openai::mcp("docs", "https://a.example/mcp").with("headers", json!({"X-Key": secret})),
        openai::mcp("docs", "https://a.example/mcp").with("authorization", secret),
    ];
    let server = json!([{"type": "url", "url": "https://a.example/mcp", "authorization_token": secret}]);
    tools.push(anthropic::web_search().with_request("mcp_servers", server));
    for tool in tools {
        let definitions = own(tool.format, &["add"]).with_hosted([&tool]);
        for shown in [format!("{tool:?}"), format!("{tool:#?}"), format!("{definitions:?}")] {
            assert!(!shown.contains(secret), "{shown}");
        }
        assert!(format!("{tool:?}").contains(tool.name()));
    }
}
