//! Tests of definitions, choices, calls, streams, results and histories.

use super::FACTS;
use crate::ApiFormat::Ollama;
use crate::{DefinitionOptions, StreamEvent};
use proptest::prelude::*;
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::call::{ToolCall, ToolChoice, ToolConfig};
use toolkit_core::name::{ToolName, WireNames};
use toolkit_core::output::{Content, Media, ToolOutput};
use toolkit_core::tool::{TextFormat, ToolDefinition, ToolMetadata};

fn weather() -> Value {
    json!({"type": "function", "function": {
        "name": "get_weather",
        "description": "d",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    }})
}

fn call(name: &str, arguments: Value) -> Value {
    json!({"function": {"name": name, "arguments": arguments}})
}

fn asks(calls: Value) -> Value {
    json!({"role": "assistant", "content": "", "tool_calls": calls})
}

fn answer(name: &str, text: &str) -> Value {
    json!({"role": "tool", "tool_name": name, "content": text})
}

fn body(message: Value) -> Value {
    json!({"model": "m", "created_at": "t", "message": message, "done": true, "done_reason": "stop"})
}

#[track_caller]
fn refuse(payload: &Value, path: &str, expected: &str) {
    let error = Ollama.parse_calls(payload).unwrap_err();
    assert_eq!((error.path(), error.expected()), (path, expected), "{payload}");
}

#[test]
fn definitions_are_encoded() {
    let name = ToolName::new("get_weather").unwrap();
    let definition = ToolDefinition::new(name, "d", weather()["function"]["parameters"].clone());
    let options = DefinitionOptions::default().with_output_schemas(true);
    let tools = Ollama.encode_definitions([&definition], &WireNames::default(), &options);
    assert_eq!(tools.to_value(), json!([weather()]));
    assert!(tools.report().is_clean());
}

#[test]
fn settings_without_a_field_are_reported() {
    let name = || ToolName::new("fs.read").unwrap();
    let metadata = ToolMetadata::default()
        .with_input_examples([json!({})])
        .with_allowed_callers(["direct"])
        .with_defer(true)
        .with_strict(true);
    let full = ToolDefinition::new(name(), "", json!({"type": "object"}))
        .with_metadata(metadata)
        .with_output_schema(json!({"type": "string"}));
    let custom = ToolDefinition::custom(name(), "", TextFormat::Text);
    let names = WireNames::new(Ollama.name_rule(), ["fs.read"]);
    let options = DefinitionOptions::default().with_output_schemas(true);
    let losses = |definition: &ToolDefinition| {
        let tools = Ollama.encode_definitions([definition], &names, &options);
        assert_eq!(tools.to_value()[0]["function"]["name"], "fs_read");
        tools.report().losses.iter().map(|loss| loss.loss.path.clone()).collect::<Vec<_>>()
    };
    assert_eq!(losses(&full), ["/output_schema", "/input_examples", "/allowed_callers", "/defer"]);
    assert_eq!(losses(&custom), ["/kind"]);
}

#[test]
fn a_tool_choice_is_reported_as_lost() {
    for (choice, lost) in [
        (ToolChoice::Auto, None),
        (ToolChoice::None, Some("none")),
        (ToolChoice::Required, Some("required")),
        (ToolChoice::Tool("f".to_owned()), Some("tool")),
        (ToolChoice::Allowed { names: vec![], required: true }, Some("allowed")),
    ] {
        let encoded = Ollama.encode_tool_config(&choice.into(), &WireNames::default());
        assert!(encoded.fields.is_empty());
        assert_eq!(encoded.losses.first().map(|loss| loss.keyword.as_str()), lost);
    }
    let one = Ollama.encode_tool_config(&ToolConfig::default().with_parallel(false), &WireNames::default());
    assert_eq!(one.losses[0].path, "/parallel");
}

#[test]
fn calls_are_parsed_from_every_payload() {
    let add = json!({"id": "a", "function": {"index": 1, "name": "add", "arguments": {"x": 1}, "beside": 2}});
    let message = asks(json!([add, call("now", json!({}))]));
    for payload in
        [body(message.clone()), message.clone(), message["tool_calls"].clone(), json!([body(message)])]
    {
        let calls = Ollama.parse_calls(&payload).unwrap();
        let [first, second] = calls.as_slice() else { panic!("two calls") };
        assert_eq!((first.id.as_str(), first.arguments.as_str(), first.index), ("a", r#"{"x":1}"#, Some(1)));
        assert_eq!(first.extras.get(FACTS.name, "function"), Some(&json!({"beside": 2})));
        assert_eq!((second.name.as_str(), second.arguments.as_str(), second.index), ("now", "{}", None));
    }
    assert_eq!(Ollama.parse_calls(&call("now", json!({}))).unwrap().len(), 1);
    assert!(Ollama.parse_calls(&json!([])).unwrap().is_empty());
    assert!(Ollama.parse_calls(&body(json!({"role": "assistant", "content": "hi"}))).unwrap().is_empty());
}

#[test]
fn errors_state_the_path() {
    let no_message = "a message of the model";
    refuse(&json!(1), "", "a response, a message or a call");
    refuse(&json!([1]), "[0]", "a call with `function`");
    refuse(&json!({"choices": []}), "message", no_message);
    let reported = format!("{no_message} (the service reported an error: no such model)");
    refuse(&json!({"error": "no such model"}), "message", &reported);
    refuse(
        &json!({"role": "user", "content": "hi"}),
        "role",
        "`assistant`, which marks messages of the model",
    );
    refuse(&json!({"role": "assistant", "content": []}), "content", "the text of a message");
    refuse(&body(json!({"role": "assistant"})), "message.content", "the text of a message");
    refuse(&body(json!({"content": "", "tool_calls": {}})), "message.tool_calls", "a list of calls");
}

#[test]
fn messages_are_sent_back_with_all_fields() {
    let message = json!({"role": "assistant", "content": "I add.", "thinking": "Sum.", "tool_calls": [
        {"id": "a", "function": {"index": 0, "name": "add", "arguments": {"x": 1}, "beside": 2}},
        call("now", json!({})),
    ]});
    assert_eq!(Ollama.assistant_messages(&body(message.clone())).unwrap(), [message]);
    let silent = json!({"role": "assistant", "thinking": "Hm.", "content": null, "tool_calls": []});
    assert_eq!(
        Ollama.assistant_messages(&body(silent)).unwrap(),
        [json!({"role": "assistant", "thinking": "Hm.", "content": ""})]
    );
    let odd = Ollama.assistant_messages(&asks(json!([call("a b", json!("text"))]))).unwrap();
    assert_eq!(
        odd[0]["tool_calls"][0]["function"],
        json!({"name": "a_b", "arguments": {"invalid_arguments": "text"}})
    );
}

#[test]
fn calls_and_results_are_encoded_without_generated_ids() {
    let parsed = Ollama.parse_calls(&asks(json!([call("now", json!({}))]))).unwrap();
    let own = ToolCall::new("call_1", "add", r#"{"x": 1}"#);
    let calls = [parsed[0].clone(), own];
    assert_eq!(
        Ollama.encode_calls(&calls, &WireNames::default()),
        [asks(json!([
            call("now", json!({})),
            {"function": {"name": "add", "arguments": {"x": 1}}, "id": "call_1"},
        ]))]
    );
    let results = calls.map(|call| ToolResult::of(&call, Ok("done".into())));
    let messages = Ollama.encode_results(&results);
    assert_eq!(
        messages,
        [
            answer("now", "done"),
            json!({"role": "tool", "tool_name": "add", "tool_call_id": "call_1", "content": "done"}),
        ]
    );
}

#[test]
fn images_follow_the_results() {
    let picture = Content::from(Media::new("image/png", b"hi"));
    let sound = Content::from(Media::new("audio/ogg", b"hi"));
    let result = |content| ToolResult::of(&ToolCall::new("", "draw", "{}"), Ok(ToolOutput::from(content)));
    let messages = Ollama.encode_results(&[result(picture.clone()), result(sound.clone())]);
    assert_eq!(
        messages[0]["content"],
        "[image image/png] follows in the user message after the tool results"
    );
    assert!(messages[1]["content"].as_str().unwrap().contains("cannot be shown"));
    assert_eq!((&messages[2]["role"], &messages[2]["images"]), (&json!("user"), &json!(["aGk="])));
    assert_eq!(
        Ollama.encode_user(&[Content::Text("Look:".to_owned()), picture]),
        json!({"role": "user", "content": "Look:", "images": ["aGk="]})
    );
}

#[test]
fn histories_are_repaired() {
    let repair = |history: &[Value], repaired: &[Value]| {
        assert_eq!(Ollama.repair_history(history.to_vec()), repaired);
        assert_eq!(Ollama.repair_history(repaired.to_vec()), repaired, "repairing twice");
    };
    let none = "[No output available yet]";
    let user = json!({"role": "user", "content": "hi"});
    let two = asks(json!([call("f", json!({})), call("g", json!({}))]));
    repair(&[], &[]);
    repair(
        &[user.clone(), two.clone(), answer("f", "1"), answer("g", "2")],
        &[user.clone(), two.clone(), answer("f", "1"), answer("g", "2")],
    );
    repair(
        &[two.clone(), answer("g", "2"), user.clone()],
        &[two.clone(), answer("f", none), answer("g", "2"), user.clone()],
    );
    repair(&[answer("f", "1"), user.clone()], std::slice::from_ref(&user));
    let known = asks(json!([{"id": "a", "function": {"name": "f", "arguments": {}}}]));
    repair(
        std::slice::from_ref(&known),
        &[known.clone(), json!({"role": "tool", "tool_name": "f", "tool_call_id": "a", "content": none})],
    );
}

fn chunk(message: Value) -> Value {
    json!({"model": "m", "message": message, "done": false})
}

#[test]
fn a_stream_of_lines_is_the_response_in_pieces() {
    let chunks = [
        chunk(json!({"role": "assistant", "content": "", "thinking": "Su"})),
        chunk(json!({"role": "assistant", "content": "", "thinking": "m."})),
        chunk(json!({"role": "assistant", "content": "Let "})),
        chunk(json!({"role": "assistant", "content": "me.", "tool_calls": [call("now", json!({}))]})),
        chunk(json!({"role": "assistant", "content": "", "tool_calls": [call("add", json!({"x": 1}))]})),
        json!({"model": "m", "message": {"role": "assistant", "content": ""}, "done": true,
            "done_reason": "length", "prompt_eval_count": 3, "eval_count": 4}),
    ];
    let lines: String = chunks.iter().map(|chunk| format!("{chunk}\n")).collect();
    let mut stream = Ollama.accumulator();
    let mut events: Vec<StreamEvent> =
        stream.push_bytes(lines.as_bytes()).into_iter().map(Result::unwrap).collect();
    let mut end = stream.finish();
    events.append(&mut end.events);
    assert!(end.is_complete);
    let response = end.response.unwrap();
    assert_eq!((response.text.as_str(), response.reasoning.as_str()), ("Let me.", "Sum."));
    assert_eq!((response.finish.is_cut(), response.usage.total()), (true, 7));
    // A complete call stays complete, even if the model was cut off after it.
    assert_eq!(response.calls[0].arguments.as_str(), "{}");
    let mut yielded: Vec<&ToolCall> = events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::Call(call) => Some(call),
            _ => None,
        })
        .collect();
    // A call without arguments is returned last.
    yielded.reverse();
    assert_eq!(yielded, response.calls.iter().collect::<Vec<_>>());
    assert_ne!(yielded[0].id, yielded[1].id);
    assert_eq!(Ollama.parse_calls(&json!(chunks)).unwrap(), response.calls);
}

#[test]
fn a_stream_reports_errors_and_interruptions() {
    let mut stream = Ollama.accumulator();
    stream.push(&chunk(json!({"role": "assistant", "content": "Hel"}))).unwrap();
    let error = stream.push(&json!({"error": "out of memory"})).unwrap_err();
    assert!(error.to_string().contains("out of memory"), "{error}");
    assert_eq!(stream.push(&json!({"choices": []})).unwrap_err().path(), "message");
    let end = stream.finish();
    assert!(!end.is_complete);
    assert_eq!(end.response.unwrap().text, "Hel");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..9).prop_map(Value::from),
        "[a-c{}]{0,3}".prop_map(Value::from),
    ];
    let key = prop_oneof![
        Just("role"),
        Just("content"),
        Just("tool_calls"),
        Just("function"),
        Just("name"),
        Just("arguments"),
        Just("message"),
        Just("id"),
        Just("done"),
        Just("tool_name"),
    ];
    leaf.prop_recursive(5, 40, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..5).prop_map(|members| {
                Value::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
            }),
        ]
    })
}

proptest! {
    /// No parser panics, every parsed call is written, and repairing a history twice changes nothing.
    #[test]
    fn any_payload_is_parsed_or_refused(payload in any_json(), history in prop::collection::vec(any_json(), 0..5)) {
        let calls = Ollama.parse_calls(&payload);
        let messages = Ollama.assistant_messages(&payload);
        prop_assert_eq!(calls.is_ok(), messages.is_ok());
        if let (Ok(calls), Ok(messages)) = (calls, messages) {
            let written: usize =
                messages.iter().map(|message| Ollama.parse_calls(message).unwrap().len()).sum();
            prop_assert_eq!(written, calls.len());
        }
        let repaired = Ollama.repair_history(history);
        prop_assert_eq!(&Ollama.repair_history(repaired.clone()), &repaired);
    }

    /// Every call is yielded once, with the id that it has in the complete response.
    #[test]
    fn every_streamed_call_is_yielded_once(events in prop::collection::vec(any_json(), 0..6)) {
        let mut stream = Ollama.accumulator();
        let mut yielded: Vec<ToolCall> = Vec::new();
        let mut news: Vec<StreamEvent> = Vec::new();
        for event in &events {
            news.extend(stream.push(event).unwrap_or_default());
        }
        let end = stream.finish();
        for event in news.into_iter().chain(end.events) {
            if let StreamEvent::Call(call) = event {
                yielded.push(call);
            }
        }
        if let Ok(response) = end.response {
            prop_assert!(yielded.len() <= response.calls.len());
        }
    }
}
