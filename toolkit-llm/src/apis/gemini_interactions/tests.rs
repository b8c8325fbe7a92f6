//! Tests of definitions, choices, calls, streams, results and histories.

use super::FACTS;
use crate::ApiFormat::GeminiInteractions;
use crate::tests::{any_json, check_payload, check_round_trip};
use crate::{DefinitionOptions, FinishReason, HostedTool, StreamEvent};
use proptest::prelude::*;
use serde_json::{Value, json};
use toolkit_core::call::{ToolCall, ToolChoice, ToolConfig};
use toolkit_core::name::{ToolName, WireNames};
use toolkit_core::output::{Content, Media, ToolOutput};
use toolkit_core::tool::{ToolDefinition, ToolMetadata};
use toolkit_core::{ToolError, ToolResult};

fn weather() -> Value {
    json!({
        "type": "function",
        "name": "weather.get",
        "description": "d",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        "defer_loading": true,
        "short_description": "weather",
    })
}

fn definition() -> ToolDefinition {
    let metadata = ToolMetadata::default()
        .with_defer(true)
        .with_meta("gemini_interactions", json!({"short_description": "weather"}));
    let name = ToolName::new("weather.get").unwrap();
    ToolDefinition::new(name, "d", weather()["parameters"].clone()).with_metadata(metadata)
}

fn call(id: &str, name: &str, arguments: Value) -> Value {
    json!({"type": "function_call", "id": id, "name": name, "arguments": arguments})
}

fn says(text: &str) -> Value {
    json!({"type": "model_output", "content": [{"type": "text", "text": text}]})
}

fn answer(id: &str, name: &str, result: Value) -> Value {
    json!({"type": "function_result", "call_id": id, "name": name, "result": result})
}

fn body(steps: Value, status: &str) -> Value {
    json!({"id": "i", "status": status, "steps": steps})
}

#[track_caller]
fn refuse(payload: &Value, path: &str, expected: &str) {
    let error = GeminiInteractions.parse_calls(payload).unwrap_err();
    assert_eq!((error.path(), error.expected()), (path, expected), "{payload}");
}

#[test]
fn definitions_are_encoded() {
    let search = json!({"type": "google_search"});
    let names = WireNames::new(FACTS.names, ["weather.get"]);
    let tools = GeminiInteractions.encode_definitions([&definition()], &names, &DefinitionOptions::default());
    let hosted = HostedTool::new(GeminiInteractions, search.clone());
    assert_eq!(tools.with_hosted([&hosted]).to_value(), json!([weather(), search]));
    assert!(tools.report().is_clean());
}

#[test]
fn tool_choices_are_encoded() {
    let names = WireNames::default();
    let allowed = |list: &[&str], required| ToolChoice::Allowed {
        names: list.iter().map(|name| (*name).to_owned()).collect(),
        required,
    };
    let tools = |mode: &str, tools: &[&str]| json!({"allowed_tools": {"mode": mode, "tools": tools}});
    for (choice, encoded) in [
        (ToolChoice::Auto, json!("auto")),
        (ToolChoice::None, json!("none")),
        (ToolChoice::Required, json!("any")),
        (ToolChoice::Tool("f".to_owned()), tools("any", &["f"])),
        (allowed(&["f", "g"], true), tools("any", &["f", "g"])),
        (allowed(&["f"], false), tools("auto", &["f"])),
    ] {
        let config = GeminiInteractions.encode_tool_config(&choice.into(), &names);
        let request = json!({"generation_config": {"tool_choice": encoded}});
        assert_eq!((Value::from(config.fields.clone()), config.losses.len()), (request, 0));
    }
    let nothing = GeminiInteractions.encode_tool_config(&allowed(&[], true).into(), &names);
    assert_eq!(nothing.fields["generation_config"]["tool_choice"], "none");
    let one = GeminiInteractions.encode_tool_config(&ToolConfig::default().with_parallel(false), &names);
    assert_eq!(one.losses[0].path, "/parallel");
}

#[test]
fn tools_do_not_replace_other_settings_of_a_request() {
    let mut request = json!({"generation_config": {"temperature": 0}}).as_object().unwrap().clone();
    let names = WireNames::default();
    let tools = GeminiInteractions.encode_definitions([&definition()], &names, &DefinitionOptions::default());
    let config = GeminiInteractions.encode_tool_config(&ToolChoice::Required.into(), &names);
    GeminiInteractions.set_tools(&mut request, &tools, &config);
    assert_eq!(request["generation_config"], json!({"temperature": 0, "tool_choice": "any"}));
    assert_eq!(request["tools"], json!([weather()]));
}

#[test]
fn calls_are_parsed_from_every_payload() {
    let mut add = call("a", "add", json!({"x": 1}));
    add["beside"] = 2.into();
    let search = json!({"type": "google_search_call", "id": "s", "arguments": {"queries": ["x"]}});
    let steps = json!([search, says("hm"), add, call("b", "now", json!({}))]);
    for payload in [body(steps.clone(), "requires_action"), steps] {
        let calls = GeminiInteractions.parse_calls(&payload).unwrap();
        let [first, second] = calls.as_slice() else { panic!("two calls") };
        assert_eq!((first.id.as_str(), first.arguments.as_str()), ("a", r#"{"x":1}"#));
        assert_eq!(first.extras.get(FACTS.name, "beside"), Some(&json!(2)));
        assert_eq!((second.name.as_str(), second.arguments.as_str()), ("now", "{}"));
    }
    assert_eq!(GeminiInteractions.parse_calls(&call("a", "now", json!({}))).unwrap().len(), 1);
    let cut =
        GeminiInteractions.parse_calls(&body(json!([call("a", "now", json!({}))]), "incomplete")).unwrap();
    assert_eq!(cut[0].arguments.as_str(), "{", "the call is refused");
    assert!(GeminiInteractions.parse_calls(&json!({"id": "i", "status": "queued"})).unwrap().is_empty());
}

#[test]
fn errors_state_the_path() {
    let steps = "the steps of an interaction";
    refuse(&json!(1), "", "an interaction, a step or a list of steps");
    refuse(&json!([{"type": "function_call", "call_id": "a"}]), "[0]", "a step such as `function_call`");
    refuse(&json!({"choices": []}), "steps", steps);
    let failed = json!({"error": {"code": "x", "message": "no quota"}});
    refuse(&failed, "steps", &format!("{steps} (the service reported an error: no quota)"));
}

#[test]
fn steps_are_sent_back_and_finish_reasons_read() {
    let thought = json!({"type": "thought", "signature": "s", "summary": [{"type": "text", "text": "Sum."}]});
    let input = json!({"type": "user_input", "content": []});
    let steps = json!([input, thought, says("I add."), call("a", "add", json!({"x": 1}))]);
    let response = GeminiInteractions.parse_response(&body(steps.clone(), "requires_action")).unwrap();
    assert_eq!(json!(response.native), json!(steps.as_array().unwrap()[1..]));
    assert_eq!((response.text.as_str(), response.reasoning.as_str()), ("I add.", "Sum."));
    for (status, finish) in [
        ("requires_action", FinishReason::ToolCalls),
        ("completed", FinishReason::Stop),
        ("budget_exceeded", FinishReason::Length),
        ("failed", FinishReason::Interrupted),
    ] {
        let response = GeminiInteractions.parse_response(&body(json!([says("x")]), status)).unwrap();
        assert_eq!(response.finish, finish);
    }
    let odd = GeminiInteractions.assistant_messages(&call("a", "a b", json!("text"))).unwrap();
    assert_eq!(odd, [call("a", "a_b", json!({"invalid_arguments": "text"}))]);
}

#[test]
fn results_of_every_kind_are_encoded_and_parsed() {
    let object = ToolOutput::json(&json!({"sum": 3})).unwrap().with_message("The sum.");
    let picture = Content::from(Media::new("image/jpg", b"hi"));
    let sound = Content::from(Media::from_url("audio/ogg", "https://example.com/a.ogg"));
    let report = Content::from(Media::new("application/pdf", b"hi"));
    let archive = Content::from(Media::new("application/zip", b"hi"));
    let film = Content::from(Media::new("video/mp4", b"hi"));
    let media = ToolOutput::new(vec![picture, sound, report, archive, film]);
    let outcomes = [Ok(object), Ok(media), Err(ToolError::failed("no disk"))];
    let results: Vec<ToolResult> = outcomes
        .into_iter()
        .enumerate()
        .map(|(at, outcome)| ToolResult::of(&ToolCall::new(format!("c{at}"), "f", "{}"), outcome))
        .collect();
    let steps = GeminiInteractions.encode_results(&results);
    assert_eq!(steps[0], answer("c0", "f", json!("{\"sum\":3}\nThe sum.")));
    let blocks = steps[1]["result"].as_array().unwrap();
    assert_eq!(blocks[0], json!({"type": "image", "data": "aGk=", "mime_type": "image/jpeg"}));
    assert_eq!(blocks[1]["uri"], "https://example.com/a.ogg");
    assert_eq!(
        (&blocks[2]["type"], &blocks[3]["type"], &blocks[4]["type"]),
        (&json!("document"), &json!("text"), &json!("video"))
    );
    assert_eq!(steps[2]["is_error"], true);
}

#[test]
fn histories_are_repaired() {
    let repair = |history: &[Value], repaired: &[Value]| {
        assert_eq!(GeminiInteractions.repair_history(history.to_vec()), repaired);
        assert_eq!(GeminiInteractions.repair_history(repaired.to_vec()), repaired, "repairing twice");
    };
    let [f, g] = ["a", "b"].map(|id| call(id, "f", json!({})));
    let [one, two] = ["a", "b"].map(|id| answer(id, "f", json!("1")));
    let none = answer("a", "f", json!("[No output available yet]"));
    repair(
        &[f.clone(), g.clone(), two.clone(), one.clone()],
        &[f.clone(), g.clone(), two.clone(), one.clone()],
    );
    repair(&[f.clone(), g.clone(), two.clone()], &[f.clone(), g, none.clone(), two]);
    repair(std::slice::from_ref(&f), &[f.clone(), none]);
    repair(&[one, says("x")], &[says("x")]);
}

fn event(kind: &str, at: u8, name: &str, value: Value) -> Value {
    json!({"event_type": kind, "index": at, name: value})
}

#[test]
fn a_stream_is_assembled_from_all_kinds_of_deltas() {
    let start = |at, step| event("step.start", at, "step", step);
    let delta = |at, delta| event("step.delta", at, "delta", delta);
    let search = json!({"type": "google_search_call", "id": "s", "arguments": {"queries": ["x"]}});
    let image = json!({"type": "image", "data": "aGk=", "mime_type": "image/png"});
    let events = [
        start(0, json!({"type": "google_search_call"})),
        delta(0, search.clone()),
        delta(1, json!({"type": "text", "text": "It "})),
        delta(1, json!({"type": "text", "text": "is."})),
        delta(1, json!({"type": "text_annotation_delta", "annotations": [{"type": "url_citation"}]})),
        delta(1, image.clone()),
        delta(1, json!({"type": "arguments_delta", "arguments": "{}"})),
        start(2, json!({"type": "function_call", "id": "a", "name": "now"})),
        event("step.stop", 2, "usage", json!({})),
        json!({"event_type": "future"}),
        json!({"event_type": "interaction.status_update", "interaction_id": "i", "status": "requires_action"}),
    ];
    let mut stream = GeminiInteractions.accumulator();
    let mut found: Vec<StreamEvent> = events.iter().flat_map(|event| stream.push(event).unwrap()).collect();
    let mut end = stream.finish();
    found.append(&mut end.events);
    assert!(end.is_complete);
    let text = json!({"type": "text", "text": "It is.", "annotations": [{"type": "url_citation"}]});
    let output = json!({"type": "model_output", "content": [text, image]});
    assert_eq!(end.body["steps"], json!([search, output, call("a", "now", json!({}))]));
    let response = end.response.unwrap();
    assert_eq!(response.text, "It is.");
    assert!(found.contains(&StreamEvent::Call(response.calls[0].clone())));
    assert_eq!(GeminiInteractions.parse_calls(&json!(events)).unwrap(), response.calls);
    // A server without streaming sends all steps at the end.
    let interaction = body(json!([says("hi"), call("a", "now", json!({}))]), "requires_action");
    let mut stream = GeminiInteractions.accumulator();
    stream.push(&json!({"event_type": "interaction.completed", "interaction": interaction})).unwrap();
    assert_eq!(stream.finish().body, interaction);
}

#[test]
fn a_stream_reports_errors_and_interruptions() {
    let mut stream = GeminiInteractions.accumulator();
    stream.push(&event("step.start", 0, "step", call("a", "add", json!({})))).unwrap();
    stream.push(&json!({"choices": []})).unwrap_err();
    let error = stream.push(&json!({"event_type": "error", "error": {"message": "no quota"}})).unwrap_err();
    assert!(error.to_string().contains("no quota"));
    let end = stream.finish();
    assert!(!end.is_complete);
    let response = end.response.unwrap();
    assert_eq!((response.finish, response.calls[0].arguments.as_str()), (FinishReason::Interrupted, "{"));
}

fn json() -> impl Strategy<Value = Value> {
    any_json(
        r#"type text content summary model_output user_input thought function_call function_result google_search_call
        id call_id name arguments result is_error signature status completed requires_action incomplete steps step
        event_type interaction interaction.completed step.start step.delta step.stop index delta arguments_delta
        thought_summary thought_signature generation_config tool_choice allowed_tools mode tools any auto function
        parameters description defer_loading image data uri mime_type {} {"a": call_0"#,
    )
}

fn any_event() -> impl Strategy<Value = Value> {
    let at = 0..3_u8;
    prop_oneof![
        json(),
        (at.clone(), json()).prop_map(|(at, step)| event("step.start", at, "step", step)),
        (at.clone(), "[ab]{0,1}").prop_map(|(at, id)| event(
            "step.start",
            at,
            "step",
            call(&id, "f", json!({}))
        )),
        (at.clone(), json()).prop_map(|(at, delta)| event("step.delta", at, "delta", delta)),
        (at.clone(), "[a-z{}\":1]{0,6}").prop_map(|(at, text)| {
            event("step.delta", at, "delta", json!({"type": "arguments_delta", "arguments": text}))
        }),
        at.prop_map(|at| event("step.stop", at, "usage", json!({}))),
        Just(json!({"event_type": "interaction.status_update", "status": "incomplete"})),
    ]
}

proptest! {
    /// No parser panics, and repairing a history twice changes nothing.
    #[test]
    fn any_payload_is_parsed_or_refused(payload in json(), history in prop::collection::vec(json(), 0..5)) {
        check_payload(GeminiInteractions, &payload)?;
        let repaired = GeminiInteractions.repair_history(history);
        prop_assert_eq!(&GeminiInteractions.repair_history(repaired.clone()), &repaired);
    }

    #[test]
    fn calls_round_trip(ids in prop::collection::btree_set("[a-z0-9_]{1,20}", 1..4), name in "[a-zA-Z0-9_.-]{1,80}") {
        let calls = ids.into_iter().map(|id| ToolCall::new(id, &*name, r#"{"a":[1]}"#)).collect();
        check_round_trip(GeminiInteractions, calls)?;
    }

    /// Every call is yielded once, with the id that it has in the complete response.
    #[test]
    fn every_streamed_call_is_yielded_once(events in prop::collection::vec(any_event(), 0..8)) {
        let mut stream = GeminiInteractions.accumulator();
        let mut found: Vec<StreamEvent> = Vec::new();
        for event in &events {
            found.extend(stream.push(event).unwrap_or_default());
        }
        let end = stream.finish();
        found.extend(end.events);
        let yielded = found.iter().filter(|event| matches!(event, StreamEvent::Call(_))).count();
        let Ok(response) = end.response else { return Ok(()) };
        prop_assert_eq!(yielded, response.calls.len());
        let again = GeminiInteractions.parse_calls(&end.body).unwrap();
        let ids = |calls: &[ToolCall]| calls.iter().map(|call| call.id.clone()).collect::<Vec<_>>();
        prop_assert_eq!(ids(&again), ids(&response.calls));
    }
}
