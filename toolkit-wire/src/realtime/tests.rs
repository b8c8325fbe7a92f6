//! Tests of the events of both realtime APIs.

use super::*;
use crate::tests::any_json;
use proptest::prelude::*;
use toolkit_core::name::ToolName;
use toolkit_core::output::{Content, Media, ToolOutput};
use toolkit_core::tool::{ToolDefinition, ToolMetadata};
use toolkit_core::{ToolError, ToolRegistry};

fn item(id: &str, arguments: &str, status: &str) -> Value {
    json!({"type": "function_call", "id": "item", "call_id": id, "name": "add", "arguments": arguments, "status": status})
}

fn added(id: &str) -> Value {
    json!({"type": "response.output_item.added", "item": item(id, "", "in_progress")})
}

fn done(id: &str, arguments: &str, status: &str) -> Value {
    json!({"type": "response.output_item.done", "item": item(id, arguments, status)})
}

fn response(status: &str, output: Value) -> Value {
    json!({"type": "response.done", "response": {"status": status, "output": output}})
}

fn started(id: &str) -> RealtimeEvent {
    RealtimeEvent::CallStarted { id: id.to_owned(), name: "add".to_owned() }
}

fn play(api: RealtimeApi, events: &[Value]) -> Vec<RealtimeEvent> {
    let mut calls = api.calls();
    events.iter().flat_map(|event| calls.push(event).unwrap()).collect()
}

fn definitions(api: RealtimeApi) -> Definitions {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let definition = ToolDefinition::new(ToolName::new("add").unwrap(), "Adds.", schema)
        .with_metadata(ToolMetadata::default().with_strict(true));
    let ConfiguredFormat { format, options } = api.format();
    format.encode_definitions([&definition], &WireNames::default(), &options)
}

#[test]
fn a_session_has_the_tools_and_the_tool_choice() {
    let names = WireNames::default();
    let wanted = ToolConfig::from(ToolChoice::Required).with_parallel(false);
    let tools = definitions(RealtimeApi::OpenAi);
    assert_eq!(tools.report().not_strict.len(), 1);
    let event = RealtimeApi::OpenAi.encode_session(&tools, &wanted, &names);
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let tool = json!({"type": "function", "name": "add", "description": "Adds.", "parameters": schema});
    let session =
        json!({"tool_choice": "required", "parallel_tool_calls": false, "type": "realtime", "tools": [tool]});
    assert_eq!(Value::from(event.fields), json!({"type": "session.update", "session": session}));
    assert!(event.losses.is_empty());
    let live = RealtimeApi::GeminiLive.encode_session(&definitions(RealtimeApi::GeminiLive), &wanted, &names);
    assert_eq!(live.fields["setup"]["tools"][0]["function_declarations"][0]["name"], "add");
    let lost: Vec<&str> = live.losses.iter().map(|loss| loss.path.as_str()).collect();
    assert_eq!(lost, ["/choice", "/parallel"]);
    assert_eq!(ToolRegistry::new().definitions(RealtimeApi::OpenAi.format()).as_json(), "[]");
}

#[test]
fn calls_of_openai_are_returned_once() {
    let events = [
        added("a"),
        added("b"),
        json!({"type": "response.function_call_arguments.delta", "call_id": "a", "delta": "{"}),
        json!({"type": "response.function_call_arguments.done", "call_id": "a", "arguments": "{\"x\": 1}"}),
        done("a", "{\"x\": 1}", "completed"),
        done("b", "{}", "completed"),
        response("completed", json!([item("a", "{\"x\": 1}", "completed"), item("b", "{}", "completed")])),
        json!({"type": "response.output_audio.delta", "delta": "aGk="}),
    ];
    let found = play(RealtimeApi::OpenAi, &events);
    let [first, second, RealtimeEvent::Call(a), RealtimeEvent::Call(b)] = found.as_slice() else {
        panic!("two calls: {found:?}")
    };
    assert_eq!([first, second], [&started("a"), &started("b")]);
    assert_eq!((a.id.as_str(), a.name.as_str(), a.arguments.as_str()), ("a", "add", "{\"x\": 1}"));
    assert_eq!((b.id.as_str(), b.arguments.as_str()), ("b", "{}"));
    // A client that missed the earlier events still gets the calls at the end.
    let found = play(RealtimeApi::OpenAi, &events[6..]);
    assert_eq!(found.iter().filter(|event| matches!(event, RealtimeEvent::Call(_))).count(), 2);
}

#[test]
fn an_interrupted_call_of_openai_is_cancelled() {
    let partial = item("a", "{\"x\"", "incomplete");
    let found = play(
        RealtimeApi::OpenAi,
        &[added("a"), done("a", "{\"x\"", "incomplete"), response("cancelled", json!([partial]))],
    );
    assert_eq!(found, [started("a"), RealtimeEvent::Cancelled(vec!["a".to_owned()])]);
    let mut calls = RealtimeApi::OpenAi.calls();
    let error =
        json!({"type": "error", "error": {"type": "invalid_request_error", "message": "no such tool"}});
    assert!(calls.push(&error).unwrap_err().to_string().contains("no such tool"));
}

#[test]
fn calls_and_cancellations_of_gemini_are_read_in_both_spellings() {
    let call = json!({"id": "a", "name": "add", "args": {"x": 1}});
    for event in
        [json!({"toolCall": {"functionCalls": [call]}}), json!({"tool_call": {"function_calls": [call]}})]
    {
        let found = play(RealtimeApi::GeminiLive, &[event]);
        let [first, RealtimeEvent::Call(call)] = found.as_slice() else { panic!("a call: {found:?}") };
        assert_eq!((first, call.id.as_str(), call.arguments.as_str()), (&started("a"), "a", "{\"x\":1}"));
    }
    let cancelled = json!({"toolCallCancellation": {"ids": ["a", "b"]}});
    let ids = vec!["a".to_owned(), "b".to_owned()];
    assert_eq!(play(RealtimeApi::GeminiLive, &[cancelled]), [RealtimeEvent::Cancelled(ids)]);
    assert!(play(RealtimeApi::GeminiLive, &[json!({"serverContent": {"turnComplete": true}})]).is_empty());
}

#[test]
fn results_are_sent_as_events() {
    let result = |id: &str, outcome| ToolResult::of(&ToolCall::new(id, "add", "{}"), outcome);
    let picture = ToolOutput::from(Content::from(Media::new("image/png", b"hi")));
    let results =
        [result("a", Ok("3".into())), result("b", Err(ToolError::failed("no"))), result("c", Ok(picture))];
    let names = WireNames::default();
    let events = RealtimeApi::OpenAi.encode_results(&results, &names);
    let output = json!({"type": "function_call_output", "call_id": "a", "output": "3"});
    assert_eq!(events[0], json!({"type": "conversation.item.create", "item": output}));
    assert!(events[1]["item"]["output"].as_str().unwrap().contains("no"));
    assert!(events[2]["item"]["output"].as_str().unwrap().contains("cannot be shown"));
    assert_eq!((events.len(), &events[3]), (4, &json!({"type": "response.create"})));
    let live = RealtimeApi::GeminiLive.encode_results(&results[..2], &names);
    let responses = &live[0]["toolResponse"]["functionResponses"];
    assert_eq!(responses[0], json!({"id": "a", "name": "add", "response": {"output": "3"}}));
    assert_eq!(responses[1]["id"], "b");
    assert!(responses[1]["response"]["error"].is_string());
    assert!(RealtimeApi::OpenAi.encode_results(&[], &names).is_empty());
}

proptest! {
    /// No event panics, and each call with an id is returned at most once per response.
    #[test]
    fn any_events_are_read(events in prop::collection::vec(any_json(
        r#"type error item response response.output_item.added response.output_item.done response.done function_call
        call_id name arguments status completed incomplete output toolCall functionCalls id args toolCallCancellation
        ids a {}"#), 0..6)) {
        for api in [RealtimeApi::OpenAi, RealtimeApi::GeminiLive] {
            let mut calls = api.calls();
            for event in &events {
                let _ = calls.push(event);
            }
        }
    }
}
