//! Tests of definitions, choices, calls, streams, results and histories.

use super::FACTS;
use crate::ApiFormat::Cohere;
use crate::tests::{any_json, check_payload, check_round_trip};
use crate::{DefinitionOptions, FinishReason, StreamEvent, StrictTools};
use proptest::prelude::*;
use serde_json::{Value, json};
use toolkit_core::call::{ToolCall, ToolChoice, ToolConfig};
use toolkit_core::name::{ToolName, WireNames};
use toolkit_core::output::{Content, Media, ToolOutput};
use toolkit_core::tool::ToolDefinition;
use toolkit_core::{ToolError, ToolResult};

fn weather() -> Value {
    json!({"type": "function", "function": {
        "name": "get_weather",
        "description": "d",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    }})
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

fn asks(calls: Value) -> Value {
    json!({"role": "assistant", "tool_plan": "I look.", "tool_calls": calls})
}

fn body(message: Value, reason: &str) -> Value {
    json!({"id": "c", "finish_reason": reason, "message": message})
}

fn answer(id: &str, content: Value) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": content})
}

#[track_caller]
fn refuse(payload: &Value, path: &str, expected: &str) {
    let error = Cohere.parse_calls(payload).unwrap_err();
    assert_eq!((error.path(), error.expected()), (path, expected), "{payload}");
}

#[test]
fn definitions_are_encoded_and_strict_tools_are_reported() {
    let name = ToolName::new("get_weather").unwrap();
    let mut definition = ToolDefinition::new(name, "d", weather()["function"]["parameters"].clone());
    let options = DefinitionOptions::default();
    let tools = Cohere.encode_definitions([&definition], &WireNames::default(), &options);
    assert_eq!(tools.to_value(), json!([weather()]));
    assert!(tools.report().is_clean());
    definition.metadata.strict = Some(true);
    let options = options.with_strict(StrictTools::All);
    let tools = Cohere.encode_definitions([&definition], &WireNames::default(), &options);
    assert_eq!(tools.to_value(), json!([weather()]));
    assert!(tools.report().not_strict[0].to_string().contains("`strict_tools`"));
}

#[test]
fn tool_choices_are_encoded_and_losses_reported() {
    let names = WireNames::default();
    let allowed = |list: &[&str], required| ToolChoice::Allowed {
        names: list.iter().map(|name| (*name).to_owned()).collect(),
        required,
    };
    for (choice, encoded, lost) in [
        (ToolChoice::Auto, json!({}), None),
        (ToolChoice::None, json!({"tool_choice": "NONE"}), None),
        (ToolChoice::Required, json!({"tool_choice": "REQUIRED"}), None),
        (ToolChoice::Tool("f".to_owned()), json!({"tool_choice": "REQUIRED"}), Some("tool")),
        (allowed(&["f"], true), json!({"tool_choice": "REQUIRED"}), Some("allowed")),
        (allowed(&["f"], false), json!({}), Some("allowed")),
        (allowed(&[], false), json!({"tool_choice": "NONE"}), None),
    ] {
        let config = Cohere.encode_tool_config(&choice.into(), &names);
        assert_eq!(Value::from(config.fields.clone()), encoded);
        assert_eq!(config.losses.first().map(|loss| loss.keyword.as_str()), lost);
    }
    let one = Cohere.encode_tool_config(&ToolConfig::default().with_parallel(false), &names);
    assert_eq!(one.losses[0].path, "/parallel");
}

#[test]
fn calls_are_parsed_from_every_payload() {
    let mut add = call("add_1", "add", r#"{"x": 1}"#);
    add["beside"] = 2.into();
    let message = asks(json!([add, call("b", "now", "")]));
    for payload in [body(message.clone(), "TOOL_CALL"), message.clone(), message["tool_calls"].clone()] {
        let calls = Cohere.parse_calls(&payload).unwrap();
        let [first, second] = calls.as_slice() else { panic!("two calls") };
        assert_eq!((first.id.as_str(), first.arguments.as_str()), ("add_1", r#"{"x": 1}"#));
        assert_eq!(first.extras.get(FACTS.name, "beside"), Some(&json!(2)));
        assert_eq!((second.name.as_str(), second.arguments.as_str()), ("now", ""));
    }
    let cut = Cohere.parse_calls(&body(message, "MAX_TOKENS")).unwrap();
    assert_eq!(cut[1].arguments.as_str(), "{", "the last call is incomplete");
    assert_eq!(Cohere.parse_calls(&call("a", "now", "{}")).unwrap().len(), 1);
    assert!(Cohere.parse_calls(&json!([])).unwrap().is_empty());
}

#[test]
fn errors_state_the_path() {
    let no_message = "a message of the model";
    refuse(&json!(1), "", "a response, a message or a call");
    refuse(&json!([1]), "[0]", "a call with `function`");
    refuse(&json!({"choices": []}), "message", no_message);
    let reported = format!("{no_message} (the service reported an error: invalid request)");
    refuse(&json!({"id": "e", "message": "invalid request"}), "message", &reported);
    refuse(&answer("a", json!("1")), "role", "`assistant`, which marks messages of the model");
    let foreign = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]});
    refuse(&foreign, "content[0]", "a content part of the type `text` or `thinking`");
    refuse(&body(json!({"tool_calls": {}}), "TOOL_CALL"), "message.tool_calls", "a list of calls");
    refuse(&json!({"content": 1}), "content", "the text or the content parts of a message");
}

#[test]
fn messages_are_sent_back_with_all_fields() {
    let message = json!({
        "role": "assistant",
        "tool_plan": "I look.",
        "tool_calls": [call("a", "now", "{}")],
        "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "It is noon."}],
        "citations": [{"start": 6, "end": 10, "text": "noon", "sources": []}],
    });
    let response = Cohere.parse_response(&body(message.clone(), "TOOL_CALL")).unwrap();
    assert_eq!(response.native, [message]);
    assert_eq!((response.text.as_str(), response.reasoning.as_str()), ("It is noon.", "I look.Hm."));
    let empty = json!({"role": "assistant", "tool_plan": "", "tool_calls": [], "content": []});
    assert!(Cohere.assistant_messages(&empty).unwrap().is_empty(), "the service refuses an empty message");
    let odd = Cohere.assistant_messages(&asks(json!([call("a", "a.b", "text")]))).unwrap();
    let function = &odd[0]["tool_calls"][0]["function"];
    assert_eq!(function, &json!({"name": "a_b", "arguments": r#"{"invalid_arguments":"text"}"#}));
    let own = Cohere.encode_assistant("I add.", &[ToolCall::new("a", "add", "")], &WireNames::default());
    let expected = json!({"content": "I add.", "role": "assistant", "tool_calls": [call("a", "add", "{}")]});
    assert_eq!(own, [expected]);
}

#[test]
fn objects_become_documents_and_other_outputs_text() {
    let object = ToolOutput::json(&json!({"sum": 3})).unwrap();
    let list = ToolOutput::json(&json!([1, 2])).unwrap();
    let picture = ToolOutput::from(Content::from(Media::new("image/png", b"hi")));
    let outcomes = [
        Ok(object.clone()),
        Ok(object.with_message("The sum.")),
        Ok(list),
        Ok(picture),
        Err(ToolError::failed("no disk")),
    ];
    let results: Vec<ToolResult> = outcomes
        .into_iter()
        .enumerate()
        .map(|(at, outcome)| ToolResult::of(&ToolCall::new(format!("c{at}"), "f", "{}"), outcome))
        .collect();
    let messages = Cohere.encode_results(&results);
    let document = json!({"type": "document", "document": {"data": {"sum": 3}}});
    assert_eq!(messages[0], answer("c0", json!([document])));
    assert_eq!(messages[1]["content"], json!([document, {"type": "text", "text": "The sum."}]));
    assert_eq!(messages[2]["content"], "[1,2]");
    assert!(messages[3]["content"].as_str().unwrap().contains("follows in the user message"));
    assert_eq!(messages[5]["content"][1]["type"], "image_url");
    assert!(messages[4]["content"].as_str().unwrap().contains("no disk"));
}

#[test]
fn histories_are_repaired() {
    let repair = |history: &[Value], repaired: &[Value]| {
        assert_eq!(Cohere.repair_history(history.to_vec()), repaired);
        assert_eq!(Cohere.repair_history(repaired.to_vec()), repaired, "repairing twice");
    };
    let none = json!("[No output available yet]");
    let user = json!({"role": "user", "content": "hi"});
    let two = asks(json!([call("a", "f", "{}"), call("b", "g", "{}")]));
    let [one, other] = [answer("a", json!("1")), answer("b", json!("2"))];
    repair(&[two.clone(), one.clone(), other.clone()], &[two.clone(), one.clone(), other.clone()]);
    repair(
        &[two.clone(), user.clone(), other.clone()],
        &[two.clone(), answer("a", none), other, user.clone()],
    );
    repair(&[one, user.clone()], &[user]);
}

#[test]
fn a_stream_is_assembled_from_all_kinds_of_events() {
    let event = |kind: &str, at: u8, message: Value| json!({"type": kind, "index": at, "delta": {"message": message}});
    let thinking = |text: &str| json!({"content": {"type": "thinking", "thinking": text}});
    let citation = json!({"start": 0, "end": 2, "text": "It", "sources": []});
    let events = [
        event("message-start", 0, json!({"role": "assistant"})),
        event("content-start", 0, thinking("H")),
        event("content-delta", 0, json!({"content": {"thinking": "m."}})),
        json!({"type": "content-end", "index": 0}),
        event("content-start", 1, json!({"content": {"type": "text", "text": ""}})),
        event("content-delta", 1, json!({"content": {"text": "It is."}})),
        event("citation-start", 0, json!({"citations": citation})),
        json!({"type": "citation-end", "index": 0}),
        json!({"type": "content-end", "index": 1}),
        event("tool-call-start", 0, json!({"tool_calls": call("a", "now", "")})),
        json!({"type": "tool-call-end", "index": 0}),
        json!({"type": "debug", "prompt": "p"}),
        json!({"type": "message-end", "delta": {"finish_reason": "TOOL_CALL", "error": null}}),
    ];
    let mut stream = Cohere.accumulator();
    let mut found: Vec<StreamEvent> = events.iter().flat_map(|event| stream.push(event).unwrap()).collect();
    let mut end = stream.finish();
    found.append(&mut end.events);
    assert!(end.is_complete);
    assert_eq!(
        end.body["message"],
        json!({
            "role": "assistant",
            "citations": [citation],
            "tool_calls": [call("a", "now", "{}")],
            "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "It is."}],
        })
    );
    let response = end.response.unwrap();
    assert_eq!((response.text.as_str(), response.reasoning.as_str()), ("It is.", "Hm."));
    assert!(found.contains(&StreamEvent::Call(response.calls[0].clone())));
    assert_eq!(Cohere.parse_calls(&json!(events)).unwrap(), response.calls);
}

#[test]
fn a_stream_reports_errors_and_interruptions() {
    let mut stream = Cohere.accumulator();
    let start = json!({"tool_calls": call("a", "add", "")});
    stream.push(&json!({"type": "tool-call-start", "index": 0, "delta": {"message": start}})).unwrap();
    for other in
        [json!({"choices": []}), json!({"type": "response.created"}), json!({"type": "message_start"})]
    {
        stream.push(&other).unwrap_err();
    }
    let end = json!({"type": "message-end", "delta": {"finish_reason": "ERROR", "error": "too slow"}});
    assert!(stream.push(&end).unwrap_err().to_string().contains("too slow"));
    let response = stream.finish().response.unwrap();
    assert_eq!(response.finish, FinishReason::Interrupted);
    assert_eq!(response.calls[0].arguments.as_str(), "{", "the call is refused");
}

fn json() -> impl Strategy<Value = Value> {
    any_json(
        r#"role content text thinking type assistant tool message finish_reason TOOL_CALL MAX_TOKENS tool_calls
        tool_plan function name arguments id tool_call_id document data tools tool_choice REQUIRED NONE parameters
        citations delta index message-start message-end content-start content-delta tool-plan-delta tool-call-start
        tool-call-delta tool-call-end {} {"a": call_0"#,
    )
}

fn event() -> impl Strategy<Value = Value> {
    let kind = prop_oneof![
        Just("message-start"),
        Just("content-start"),
        Just("content-delta"),
        Just("content-end"),
        Just("tool-plan-delta"),
        Just("tool-call-start"),
        Just("tool-call-delta"),
        Just("tool-call-end"),
        Just("citation-start"),
        Just("message-end"),
    ];
    let message = prop_oneof![
        json(),
        ("[ab]{0,1}", "[a-z{}\":1]{0,6}").prop_map(|(id, text)| json!({"tool_calls": call(&id, "f", &text)})),
        "[a-z]{0,3}".prop_map(|text| json!({"content": {"text": text}})),
    ];
    (kind, 0..3_u8, message)
        .prop_map(|(kind, at, message)| json!({"type": kind, "index": at, "delta": {"message": message}}))
}

proptest! {
    /// No parser panics, and repairing a history twice changes nothing.
    #[test]
    fn any_payload_is_parsed_or_refused(payload in json(), history in prop::collection::vec(json(), 0..5)) {
        check_payload(Cohere, &payload)?;
        let repaired = Cohere.repair_history(history);
        prop_assert_eq!(&Cohere.repair_history(repaired.clone()), &repaired);
    }

    #[test]
    fn calls_round_trip(ids in prop::collection::btree_set("[a-z0-9_]{1,20}", 1..4), name in "[a-zA-Z0-9_.-]{1,80}") {
        check_round_trip(Cohere, ids.into_iter().map(|id| ToolCall::new(id, &*name, r#"{"a":[1]}"#)).collect())?;
    }

    /// Every call is yielded once, with the id that it has in the complete response.
    #[test]
    fn every_streamed_call_is_yielded_once(events in prop::collection::vec(event(), 0..8)) {
        let mut stream = Cohere.accumulator();
        let mut found: Vec<StreamEvent> = Vec::new();
        for event in &events {
            found.extend(stream.push(event).unwrap_or_default());
        }
        let end = stream.finish();
        found.extend(end.events);
        let mut yielded: Vec<&ToolCall> = found
            .iter()
            .filter_map(|event| if let StreamEvent::Call(call) = event { Some(call) } else { None })
            .collect();
        let Ok(response) = end.response else { return Ok(()) };
        yielded.sort_by_key(|call| response.calls.iter().position(|other| other.id == call.id));
        prop_assert_eq!(yielded.len(), response.calls.len());
        let again = Cohere.parse_calls(&end.body).unwrap();
        let ids = |calls: &[ToolCall]| calls.iter().map(|call| call.id.clone()).collect::<Vec<_>>();
        prop_assert_eq!(ids(&again), ids(&response.calls));
    }
}
