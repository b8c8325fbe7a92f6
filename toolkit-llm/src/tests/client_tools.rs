//! Tests of calls to tools that the provider defines and the program runs, and of their results.

use crate::apis::openai_responses::client::CLIENT;
use crate::facts::ApiFormat;
use crate::stream::StreamEvent;
use crate::translate::RequestFormat;
use serde_json::{Value, json};
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, Media, MediaData, ToolOutput};
use toolkit_core::{ErrorKind, ToolCall, ToolError, ToolResult};

const RESPONSES: ApiFormat = ApiFormat::OpenAiResponses;

/// Returns a call of each kind, with the name of its tool and the expected arguments.
fn calls() -> Vec<(Value, &'static str, Value)> {
    let action = json!({"commands": ["ls", "pwd"], "timeout_ms": 1000, "max_output_length": 4096});
    let exec = json!({"type": "exec", "command": ["ls"], "env": {}});
    let operation = json!({"type": "update_file", "path": "a.rs", "diff": "@@\n-a\n+b"});
    let click = json!({"type": "click", "button": "left", "x": 1, "y": 2});
    let checks = json!([{"id": "sc_1", "code": "c", "message": "Look."}]);
    let query = json!({"query": "weather", "top_k": 3});
    vec![
        (
            json!({"id": "sh_1", "type": "shell_call", "call_id": "call_1", "status": "completed", "action": action,
                "environment": {"type": "local"}, "caller": {"type": "program", "caller_id": "prog_1"}}),
            "shell",
            action,
        ),
        (
            json!({"id": "lsh_1", "type": "local_shell_call", "call_id": "call_2", "status": "completed", "action": exec}),
            "local_shell",
            exec,
        ),
        (
            json!({"id": "ap_1", "type": "apply_patch_call", "call_id": "call_3", "status": "completed",
                "operation": operation}),
            "apply_patch",
            operation,
        ),
        (
            json!({"id": "cu_1", "type": "computer_call", "call_id": "call_4", "status": "completed", "action": click,
                "pending_safety_checks": checks}),
            "computer",
            json!({"action": click, "pending_safety_checks": checks}),
        ),
        (
            json!({"id": "ts_1", "type": "tool_search_call", "call_id": "call_5", "status": "completed",
                "execution": "client", "arguments": query}),
            "discover_tools",
            query,
        ),
        (
            json!({"id": "mcpr_1", "type": "mcp_approval_request", "server_label": "docs", "name": "delete_page",
                "arguments": "{\"page\": 7}"}),
            "mcp_approval",
            json!({"server_label": "docs", "name": "delete_page", "arguments": "{\"page\": 7}"}),
        ),
    ]
}

fn arguments(call: &ToolCall) -> Value {
    serde_json::from_str(call.arguments.as_str()).unwrap()
}

fn screenshot() -> ToolOutput {
    let data = MediaData::Base64("iVBORw0KGgo=".to_owned());
    Content::Image(Box::new(Media { media_type: "image/png".to_owned(), data, name: None })).into()
}

#[test]
fn each_call_that_the_program_runs_is_a_call_of_a_tool() {
    assert_eq!(calls().len(), CLIENT.len());
    let items: Vec<Value> = calls().into_iter().map(|(item, ..)| item).collect();
    let body = json!({"status": "completed", "output": items});
    let response = RESPONSES.parse_response(&body).unwrap();
    assert_eq!(response.calls.len(), CLIENT.len());
    assert!(response.hosted.is_empty());
    for (call, (item, name, expected)) in response.calls.iter().zip(calls()) {
        assert_eq!(call.name, name);
        assert_eq!(call.id.as_str(), *item.get("call_id").unwrap_or(&item["id"]));
        assert_eq!(arguments(call), expected);
    }
    assert_eq!(response.native, items);
}

#[test]
fn calls_arrive_the_same_from_a_stream_with_events_between_their_begin_and_end() {
    for (item, name, expected) in calls() {
        let mut begun = item.clone();
        begun["status"] = json!("in_progress");
        for field in ["action", "operation", "arguments"] {
            if let Some(value) = begun.get_mut(field).filter(|_| name != "computer") {
                *value = json!({});
            }
        }
        let events = [
            json!({"type": "response.created", "response": {"id": "r", "status": "in_progress", "output": []}}),
            json!({"type": "response.output_item.added", "output_index": 0, "item": begun}),
            json!({"type": "response.shell_call_command.added", "output_index": 0, "command_index": 0, "command": ""}),
            json!({"type": "response.shell_call_command.delta", "output_index": 0, "command_index": 0, "delta": "ls"}),
            json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
            json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": [item]}}),
        ];
        // If the events after the end of the item are missing, the call is complete nevertheless.
        for length in 5..=events.len() {
            let mut stream = RESPONSES.accumulator();
            let mut seen: Vec<StreamEvent> =
                events[..length].iter().flat_map(|event| stream.push(event).unwrap()).collect();
            let end = stream.finish();
            seen.extend(end.events);
            let calls: Vec<&ToolCall> = seen
                .iter()
                .filter_map(|event| if let StreamEvent::Call(call) = event { Some(call) } else { None })
                .collect();
            let [call] = calls.as_slice() else { panic!("one call of {name}: {seen:?}") };
            assert_eq!((call.name.as_str(), arguments(call)), (name, expected.clone()));
            let response = end.response.unwrap();
            assert_eq!(response.calls, [(*call).clone()]);
            assert_eq!(response.native, std::slice::from_ref(&item));
        }
        // If the end of a call is missing, every tool refuses it.
        let mut stream = RESPONSES.accumulator();
        events[..4].iter().for_each(|event| drop(stream.push(event).unwrap()));
        let response = stream.finish().response.unwrap();
        assert!(response.calls.iter().all(arguments_are_broken), "{name}: {:?}", response.calls);
    }
}

fn arguments_are_broken(call: &ToolCall) -> bool {
    serde_json::from_str::<Value>(call.arguments.as_str()).is_err() || call.arguments.as_str() == ""
}

/// Returns the items that are sent for the outcome of a call.
#[track_caller]
fn answer(item: &Value, outcome: Result<ToolOutput, ToolError>) -> Vec<Value> {
    let call = RESPONSES.parse_calls(item).unwrap().remove(0);
    RESPONSES.encode_results(&[ToolResult::of(&call, outcome)])
}

#[test]
fn results_have_the_form_of_their_call() {
    let [shell, local, patch, computer, search, approval] =
        calls().try_into().unwrap_or_else(|_| panic!("six calls"));
    let said = |text: &str| Ok(ToolOutput::text(text));
    let json_of = |value: Value| ToolOutput::json(&value).map_err(ToolError::invalid_output);
    let failed = || Err(ToolError::new(ErrorKind::Failed, "no disk"));
    let caller = json!({"type": "program", "caller_id": "prog_1"});
    let shell_output = |output: Value| {
        json!({"type": "shell_call_output", "call_id": "call_1", "output": output, "caller": caller,
            "max_output_length": 4096})
    };
    let exit = |stdout: &str, stderr: &str, code: i64| json!({"stdout": stdout, "stderr": stderr, "outcome": {"type": "exit", "exit_code": code}});
    assert_eq!(answer(&shell.0, said("a.rs")), [shell_output(json!([exit("a.rs", "", 0)]))]);
    assert_eq!(answer(&shell.0, failed()), [shell_output(json!([exit("", "no disk", 1)]))]);
    let both = json!([{"stdout": "a", "exit_code": 2}, {"stderr": "b", "outcome": {"type": "timeout"}}]);
    let written = json!([exit("a", "", 2), {"stdout": "", "stderr": "b", "outcome": {"type": "timeout"}}]);
    assert_eq!(answer(&shell.0, json_of(both)), [shell_output(written)]);
    assert_eq!(answer(&shell.0, json_of(json!({"exit_code": 3}))), [shell_output(json!([exit("", "", 3)]))]);

    let local_output =
        |output: &str| json!({"type": "local_shell_call_output", "id": "call_2", "output": output});
    assert_eq!(answer(&local.0, said("a.rs")), [local_output("a.rs")]);
    assert_eq!(answer(&local.0, failed()), [local_output("no disk")]);

    let patched = |status: &str, output: &str| json!({"type": "apply_patch_call_output", "call_id": "call_3", "status": status, "output": output});
    assert_eq!(answer(&patch.0, said("done")), [patched("completed", "done")]);
    assert_eq!(answer(&patch.0, failed()), [patched("failed", "no disk")]);

    let shot = json!({"type": "computer_screenshot", "image_url": "data:image/png;base64,iVBORw0KGgo="});
    let checks = &computer.2["pending_safety_checks"];
    let seen = json!({"type": "computer_call_output", "call_id": "call_4", "output": shot,
        "acknowledged_safety_checks": checks});
    assert_eq!(answer(&computer.0, Ok(screenshot())), std::slice::from_ref(&seen));
    let aside = |text: &str| json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]});
    let message = screenshot().with_message("The page is loaded.");
    assert_eq!(answer(&computer.0, Ok(message)), [seen, aside("The page is loaded.")]);
    let blind = json!({"type": "computer_call_output", "call_id": "call_4", "output": {"type": "computer_screenshot"}});
    assert_eq!(answer(&computer.0, failed()), [blind, aside("no disk")]);

    let found = json_of(json!([
        {"name": "get_weather", "description": "The weather.", "score": 3.5, "deferred": true,
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},
        {"name": "add", "description": "Adds.", "score": 0.1, "deferred": false},
    ]));
    let tools = json!([{"type": "function", "name": "get_weather", "description": "The weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}, "strict": false,
        "defer_loading": true}]);
    let output = |tools: Value| {
        json!({"type": "tool_search_output", "call_id": "call_5", "execution": "client", "status": "completed",
            "tools": tools})
    };
    assert_eq!(answer(&search.0, found), [output(tools)]);
    assert_eq!(answer(&search.0, failed()), [output(json!([])), aside("no disk")]);

    let answered = |approve: bool, reason: &str| {
        let mut item =
            json!({"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": approve});
        if !reason.is_empty() {
            item["reason"] = json!(reason);
        }
        [item]
    };
    for (outcome, approve, reason) in [
        (said("true"), true, ""),
        (json_of(json!(true)), true, ""),
        (json_of(json!({"approve": true})), true, ""),
        (json_of(json!({"approve": true, "reason": "Ada agreed."})), true, "Ada agreed."),
        (json_of(json!(false)), false, ""),
        (json_of(json!({"approve": false, "reason": "not page 7"})), false, "not page 7"),
        (json_of(json!({"approve": "true"})), false, ""),
        (said("yes"), false, "yes"),
        (said("1"), false, "1"),
        (said(""), false, ""),
        (failed(), false, "no disk"),
        (Err(ToolError::new(ErrorKind::Failed, "true")), false, "true"),
    ] {
        assert_eq!(answer(&approval.0, outcome), answered(approve, reason), "{approve} {reason}");
    }
}

#[test]
fn results_of_every_kind_are_parsed_and_written_unchanged() {
    let outcomes = || {
        [
            Ok(ToolOutput::text("done")),
            Ok(screenshot()),
            ToolOutput::json(&json!([{"stdout": "a", "stderr": "", "exit_code": 1}]))
                .map_err(ToolError::invalid_output),
            ToolOutput::json(&json!([{"name": "a", "description": "b", "deferred": true}]))
                .map_err(ToolError::invalid_output),
            Err(ToolError::new(ErrorKind::Failed, "no disk")),
        ]
    };
    for (item, name, _) in calls() {
        for outcome in outcomes() {
            let written = answer(&item, outcome).remove(0);
            let program =
                json!({"type": "program", "id": "p_1", "call_id": "prog_1", "code": "", "fingerprint": "f"});
            let mut history = vec![program, item.clone(), written.clone()];
            let read = RequestFormat::OpenAiResponses.parse_results(&json!(history)).unwrap();
            let [result] = read.as_slice() else { panic!("one result of {name}") };
            assert_eq!(result.name, name);
            let again = RESPONSES.encode_results(&read);
            assert_eq!(again[0], written, "{name}");
            // A complete history stays unchanged, and an unanswered call gets a result. A result stays,
            // because the service may keep its call.
            assert_eq!(RESPONSES.repair_history(history.clone()), history);
            history.pop();
            let repaired = RESPONSES.repair_history(history);
            assert_eq!(repaired.len(), 3);
            assert_eq!(repaired[2]["type"], written["type"]);
            assert_eq!(RESPONSES.repair_history(vec![written.clone()]), [written]);
        }
    }
}

#[test]
fn calls_made_by_the_program_are_items_of_the_same_type() {
    for (item, name, _) in calls() {
        let call = RESPONSES.parse_calls(&item).unwrap();
        let mut expected = item.clone();
        if !matches!(name, "computer" | "local_shell" | "mcp_approval") {
            // The service requires the reasoning before an item whose id it knows.
            expected.as_object_mut().unwrap().shift_remove("id");
        }
        assert_eq!(RESPONSES.encode_calls(&call, &WireNames::default()), [expected]);
        // In another API, it is an ordinary call.
        let chat = &ApiFormat::OpenAiChat.encode_calls(&call, &WireNames::default())[0]["tool_calls"][0];
        assert_eq!(chat["function"]["name"], name);
    }
}

#[test]
fn calls_that_the_provider_runs_are_not_dispatched() {
    let container = json!({"type": "container_reference", "container_id": "c"});
    let body = json!({"status": "completed", "output": [
        {"id": "a", "type": "shell_call", "call_id": "s", "status": "completed", "action": {"commands": ["ls"]},
            "environment": container},
        {"id": "b", "type": "shell_call_output", "call_id": "s", "status": "completed", "output": []},
        {"id": "c", "type": "tool_search_call", "call_id": null, "execution": "server", "status": "completed",
            "arguments": {"paths": ["crm"]}},
        {"id": "d", "type": "tool_search_output", "call_id": null, "execution": "server", "status": "completed",
            "tools": []},
    ]});
    let response = RESPONSES.parse_response(&body).unwrap();
    assert!(response.calls.is_empty());
    let shown: Vec<_> = response.hosted.iter().map(|call| (&*call.name, call.output.clone())).collect();
    assert_eq!(shown, [("shell", Some(json!([]))), ("tool_search", Some(json!([])))]);
    assert_eq!(json!(response.native), body["output"]);
    assert_eq!(RESPONSES.repair_history(response.native.clone()), response.native);
}
