//! Events of realtime APIs: the events that this library writes, and the calls that it reads among the events of
//! a service.

use crate::conversation::Turn;
use crate::replay;
use toolkit::name::WireNames;
use toolkit::serde_json::{self, Value, json};
use toolkit::wire::realtime::{RealtimeApi, RealtimeEvent};
use toolkit::{ToolCall, ToolConfig, ToolDefinition};

/// Returns the written events, the events of a service for the calls of `turns`, and the calls read from them.
pub(crate) fn section(api: RealtimeApi, tools: &[ToolDefinition], turns: &[Turn]) -> Value {
    let format = match api {
        RealtimeApi::OpenAi => toolkit::ApiFormat::OpenAiResponses,
        _ => toolkit::ApiFormat::Gemini,
    };
    let names = WireNames::new(format.name_rule(), tools.iter().map(|tool| tool.name.as_str()));
    let definitions = format.encode_definitions(
        tools,
        &names,
        &toolkit::DefinitionOptions::default().with_standard_fields(true),
    );
    let config = ToolConfig::default();
    let mut events = vec![Value::from(api.encode_session(&definitions, &config, &names).fields)];
    events.extend(turns.iter().flat_map(|turn| api.encode_results(&turn.results, &names)));
    let server: Vec<Value> = turns.iter().flat_map(|turn| server_events(api, &turn.calls)).collect();
    let mut reader = api.calls();
    let read = server.iter().flat_map(|event| reader.push(event).unwrap_or_default());
    let calls: Vec<ToolCall> = read
        .filter_map(|event| match event {
            RealtimeEvent::Call(call) => Some(call),
            _ => None,
        })
        .collect();
    json!({"events": events, "server": server, "calls": replay::calls(&calls)})
}

/// Returns the events with which a service sends the calls of one turn.
fn server_events(api: RealtimeApi, calls: &[ToolCall]) -> Vec<Value> {
    if api != RealtimeApi::OpenAi {
        let call = |call: &ToolCall| {
            let arguments: Value =
                serde_json::from_str(call.arguments.as_str()).unwrap_or_else(|_| json!({}));
            json!({"id": call.id.as_str(), "name": call.name, "args": arguments})
        };
        let calls: Vec<Value> = calls.iter().map(call).collect();
        return vec![json!({"toolCall": {"functionCalls": calls}})];
    }
    let mut events = Vec::new();
    let mut output = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        let item = |status: &str, arguments: &str| {
            json!({"type": "function_call", "object": "realtime.item", "id": format!("item_{index}"),
                "call_id": call.id.as_str(), "name": call.name, "status": status, "arguments": arguments})
        };
        let event = |kind: &str| {
            json!({"type": kind, "event_id": format!("event_{index}"), "response_id": "resp_1",
                "output_index": index, "item_id": format!("item_{index}"), "call_id": call.id.as_str()})
        };
        let with = |kind: &str, name: &str, value: Value| {
            let mut event = event(kind);
            event[name] = value;
            event
        };
        let arguments = call.arguments.as_str();
        let done = item("completed", arguments);
        events.push(with("response.output_item.added", "item", item("in_progress", "")));
        events.push(with("response.function_call_arguments.delta", "delta", arguments.into()));
        let mut written = with("response.function_call_arguments.done", "arguments", arguments.into());
        written["name"] = call.name.as_str().into();
        events.push(written);
        events.push(with("response.output_item.done", "item", done.clone()));
        output.push(done);
    }
    let response =
        json!({"id": "resp_1", "object": "realtime.response", "status": "completed", "output": output});
    events.push(json!({"type": "response.done", "event_id": "event_end", "response": response}));
    events
}
