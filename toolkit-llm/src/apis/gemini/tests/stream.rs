//! Tests of streamed responses.

use crate::ApiFormat::Gemini;
use crate::WireError;
use crate::{StreamEnd, StreamEvent};
use serde_json::{Value, json};
use toolkit_core::call::ToolCall;

fn chunk(parts: Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}], "modelVersion": "m"})
}

fn stop() -> Value {
    json!({
        "candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"totalTokenCount": 9},
    })
}

/// Pushes the chunks into a stream. Returns the events yielded for each of them, and the end of the stream.
fn run(chunks: &[Value]) -> (Vec<Vec<StreamEvent>>, StreamEnd) {
    let mut stream = Gemini.accumulator();
    let events = chunks.iter().map(|chunk| stream.push(chunk).unwrap()).collect();
    (events, stream.finish())
}

fn calls<'a>(events: impl IntoIterator<Item = &'a StreamEvent>) -> Vec<ToolCall> {
    let calls = events.into_iter().filter_map(|event| match event {
        StreamEvent::Call(call) => Some(call.clone()),
        _ => None,
    });
    calls.collect()
}

/// Checks the names and arguments of the yielded calls, and that the complete response contains the same calls. Returns
/// the body of the complete response.
#[track_caller]
fn check(chunks: &[Value], expected: &[(&str, &str)]) -> Value {
    let (events, end) = run(chunks);
    let yielded = calls(events.iter().flatten().chain(&end.events));
    let short: Vec<_> = yielded.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect();
    assert_eq!(short, expected);
    assert_eq!(Gemini.parse_calls(&end.body).unwrap(), yielded);
    let history = Gemini.assistant_messages(&end.body).unwrap();
    assert_eq!(Gemini.parse_calls(&json!(history[0])).unwrap().len(), yielded.len());
    end.body
}

fn start(name: &str) -> Value {
    json!({"functionCall": {"name": name, "willContinue": true}, "thoughtSignature": "CpcB"})
}

fn piece(path: &str, text: &str, goes_on: bool) -> Value {
    json!({"functionCall": {
        "partialArgs": [{"jsonPath": path, "stringValue": text, "willContinue": goes_on}], "willContinue": true,
    }})
}

fn end() -> Value {
    json!({"functionCall": {}})
}

#[test]
fn calls_are_yielded_at_once_and_the_response_is_whole() {
    let first =
        json!({"functionCall": {"name": "weather", "args": {"city": "Oslo"}}, "thoughtSignature": "CpcB"});
    let second = json!({"functionCall": {"id": "x", "name": "weather", "args": {"city": "Rome"}}});
    let chunks = [
        chunk(json!([{"text": "I ", "thought": true}])),
        chunk(json!([{"text": "think.", "thought": true}, {"text": "Let "}])),
        chunk(json!([{"text": "me see."}, first])),
        chunk(json!([second])),
        stop(),
    ];
    let (events, end) = run(&chunks);
    let text = |text: &str| StreamEvent::Text(text.to_owned());
    let reasoning = |text: &str| StreamEvent::Reasoning(text.to_owned());
    assert_eq!(events[0], [reasoning("I ")]);
    assert_eq!(events[1], [reasoning("think."), text("Let ")]);
    let [said, StreamEvent::CallStarted { id, name }, StreamEvent::Call(call)] = events[2].as_slice() else {
        panic!("{:?}", events[2]);
    };
    assert_eq!((said, name.as_str(), call.id.as_str()), (&text("me see."), "weather", id.as_str()));
    assert_eq!(call.extras.get("gemini", "thoughtSignature"), Some(&json!("CpcB")));
    assert_eq!(calls(&events[3])[0].id, "x");
    assert!(events[4].is_empty() && end.events.is_empty());

    let candidate = &end.body["candidates"][0];
    assert_eq!(candidate["finishReason"], "STOP");
    assert_eq!(end.body["usageMetadata"]["totalTokenCount"], 9);
    assert_eq!(end.body["modelVersion"], "m");
    assert_eq!(
        Gemini.assistant_messages(&end.body).unwrap(),
        [json!({"role": "model", "parts": [
            {"text": "I think.", "thought": true}, {"text": "Let me see."}, first, second,
        ]})]
    );
    assert_eq!(Gemini.parse_calls(&end.body).unwrap(), calls(events.iter().flatten()));
}

#[test]
fn a_signature_keeps_its_part() {
    let signed = json!({"text": "b", "thoughtSignature": "CpcB"});
    let (_, end) = run(&[
        chunk(json!([{"text": "a"}])),
        chunk(json!([signed])),
        chunk(json!([{"text": "c"}, {"text": "", "thoughtSignature": "Cq"}])),
    ]);
    assert_eq!(
        end.body["candidates"][0]["content"]["parts"],
        json!([{"text": "a"}, signed, {"text": "c"}, {"text": "", "thoughtSignature": "Cq"}])
    );
}

#[test]
fn arguments_in_pieces_are_put_together() {
    let response = check(
        &[
            chunk(json!([start("weather")])),
            chunk(json!([piece("$.city", "New ", true)])),
            chunk(json!([piece("$.city", "Delhi", false), piece("$.units[0]", "K", false)])),
            chunk(json!([end(), start("weather")])),
            chunk(json!([piece("$.city", "Rome", true), end()])),
            chunk(json!([{"functionCall": {"name": "now"}}])),
            stop(),
        ],
        &[
            ("weather", r#"{"city":"New Delhi","units":["K"]}"#),
            ("weather", r#"{"city":"Rome"}"#),
            ("now", ""),
        ],
    );
    let part = &Gemini.assistant_messages(&response).unwrap()[0]["parts"][0];
    assert_eq!(
        *part,
        json!({
            "functionCall": {"name": "weather", "args": {"city": "New Delhi", "units": ["K"]}},
            "thoughtSignature": "CpcB",
        })
    );
}

#[test]
fn pieces_have_values_of_every_kind_in_both_spellings() {
    let pieces = json!([
        {"jsonPath": "$.open", "willContinue": true},
        {"json_path": "$.rows[0].n", "number_value": 1.5},
        {"jsonPath": "$.rows[0]['a.b']", "boolValue": true},
        {"jsonPath": "$.rows[1]", "nullValue": null},
        {"jsonPath": "$[\"none\"]", "nullValue": "NULL_VALUE"},
        {"jsonPath": "$.all", "structValue": {"a": [1]}},
    ]);
    let last = json!({"function_call": {"partial_args": pieces}});
    let arguments = r#"{"rows":[{"n":1.5,"a.b":true},null],"none":null,"all":{"a":[1]}}"#;
    check(&[chunk(json!([start("f"), last])), stop()], &[("f", arguments)]);
    for broken in [json!({"stringValue": "x"}), json!(null)] {
        let last = json!({"functionCall": {"partialArgs": [broken]}});
        check(&[chunk(json!([start("f"), last])), stop()], &[("f", "{")]);
    }
}

#[test]
fn a_call_in_pieces_is_started_at_its_name_and_yielded_at_its_end() {
    let (events, _) =
        run(&[chunk(json!([start("f")])), chunk(json!([piece("$.a", "x", false)])), chunk(json!([end()]))]);
    assert!(matches!(events[0].as_slice(), [StreamEvent::CallStarted { name, .. }] if name == "f"));
    assert!(events[1].is_empty());
    assert!(matches!(events[2].as_slice(), [StreamEvent::Call(call)] if call.name == "f"));
}

#[test]
fn pieces_of_calls_with_ids_may_be_mixed() {
    let part = |id: &str, name: Option<&str>, text: &str, goes_on: bool| {
        json!({"functionCall": {"id": id, "name": name, "willContinue": goes_on,
            "partialArgs": [{"jsonPath": "$.t", "stringValue": text, "willContinue": goes_on}]}})
    };
    let chunks = [
        chunk(json!([part("a", Some("f"), "1", true), part("b", Some("f"), "2", true)])),
        chunk(json!([part("a", None, "3", true)])),
        chunk(json!([part("b", None, "4", false), part("a", Some("f"), "5", false)])),
    ];
    let (events, end) = run(&chunks);
    let mut yielded = calls(events.iter().flatten());
    assert_eq!(yielded.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["b", "a"]);
    yielded.reverse();
    assert_eq!(Gemini.parse_calls(&end.body).unwrap(), yielded);
    assert_eq!(yielded[0].arguments.as_str(), r#"{"t":"135"}"#);
    assert_eq!(yielded[1].arguments.as_str(), r#"{"t":"24"}"#);
}

#[test]
fn the_last_piece_may_bring_arguments() {
    let last = json!({"functionCall": {"partialArgs": [{"jsonPath": "$.b", "numberValue": 2}]}});
    let whole = json!({"functionCall": {"args": {"a": 1}, "willContinue": true}});
    check(&[chunk(json!([start("f"), whole, last])), stop()], &[("f", r#"{"a":1,"b":2}"#)]);
}

#[test]
fn what_was_cut_off_comes_at_the_end_and_is_not_json() {
    let chunks = [chunk(json!([start("f")])), chunk(json!([piece("$.a", "x", true)]))];
    let response = check(&chunks, &[("f", r#"{"a":"x""#)]);
    let history = Gemini.assistant_messages(&response).unwrap();
    assert_eq!(history[0]["parts"][0]["functionCall"]["args"], json!({"invalid_arguments": "{\"a\":\"x\""}));
    check(&[chunks[0].clone(), chunks[1].clone(), stop()], &[("f", r#"{"a":"x"}"#)]);
}

#[test]
fn candidates_are_kept_apart() {
    let part = |index: u64, parts: Value| json!({"index": index, "content": {"parts": parts}});
    let call = |n: u64| json!([{"functionCall": {"name": "f", "args": {"n": n}}}]);
    let (events, end) = run(&[
        json!({"candidates": [part(1, call(1)), part(0, json!([start("g")]))]}),
        json!({"candidates": [part(0, json!([piece("$.a", "x", false), end()]))]}),
    ]);
    let yielded = calls(events.iter().flatten());
    assert_eq!(yielded.iter().map(|call| call.name.as_str()).collect::<Vec<_>>(), ["f", "g"]);
    let parsed = Gemini.parse_calls(&end.body).unwrap();
    assert_eq!(parsed, [yielded[1].clone(), yielded[0].clone()]);
    assert_ne!(parsed[0].id, parsed[1].id);
}

#[test]
fn a_list_of_events_is_taken_at_once() {
    let call = json!([{"functionCall": {"name": "f", "args": {}}}]);
    check(&[json!([chunk(call.clone()), chunk(call), stop()])], &[("f", "{}"), ("f", "{}")]);
}

#[test]
fn faults_are_told_and_nothing_before_them_is_lost() {
    #[track_caller]
    fn refuse(error: &WireError, path: &str, reason: &str) {
        assert_eq!(error.path(), path);
        assert_eq!(error.expected(), format!("a content of the model ({reason})"));
    }
    let good = chunk(json!([{"functionCall": {"id": "a", "name": "f", "args": {"x": 1}}}]));
    let overloaded = json!({"error": {"code": 503, "message": "overloaded"}});
    let mut stream = Gemini.accumulator();
    let error = stream.push(&json!([good, overloaded])).unwrap_err();
    refuse(&error, "candidates[0].content", "the service reported an error: overloaded");
    assert_eq!(stream.push(&json!([])).unwrap().len(), 2);
    assert_eq!(Gemini.parse_calls(&stream.finish().body).unwrap().len(), 1);

    let mut stream = Gemini.accumulator();
    let malformed =
        json!({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "f("}]});
    stream.push(&chunk(json!([{"text": "hm"}]))).unwrap();
    let error = stream.push(&malformed).unwrap_err();
    refuse(&error, "candidates[0].content", "the model stopped: MALFORMED_FUNCTION_CALL: f(");
    assert!(Gemini.parse_calls(&stream.finish().body).is_err());

    let mut stream = Gemini.accumulator();
    let error = stream.push(&json!({"promptFeedback": {"blockReason": "SAFETY"}})).unwrap_err();
    refuse(&error, "candidates[0].content", "the prompt was blocked: SAFETY");
    let error = stream.push(&json!("data")).unwrap_err();
    assert_eq!(error.expected(), "a response or a list of responses");
    let error = stream.push(&json!({"candidates": [{"content": {"parts": 1}}]})).unwrap_err();
    assert_eq!((error.path(), error.expected()), ("candidates[0].content.parts", "a list of parts"));

    let nothing = Gemini.accumulator().finish();
    assert!(Gemini.parse_calls(&nothing.body).is_err());
}

#[test]
fn a_call_without_arguments_waits_until_it_is_known_whether_it_was_cut_off() {
    let call = |name: &str| chunk(json!([{"functionCall": {"name": name, "args": {}}}]));
    let cut = json!({"candidates": [{"finishReason": "MAX_TOKENS", "index": 0}]});
    check(&[call("f"), cut.clone()], &[("f", "{")]);
    check(&[call("f"), call("g"), cut.clone()], &[("f", "{}"), ("g", "{")]);
    check(&[call("f"), chunk(json!([{"text": "and"}])), cut.clone()], &[("f", "{}")]);
    check(&[call("f"), stop()], &[("f", "{}")]);
    check(&[call("f")], &[("f", "{")]);
    // The end of the call was announced, so it has no arguments.
    check(&[chunk(json!([start("f")])), chunk(json!([end()])), cut], &[("f", "{}")]);
    let (events, _) = run(&[call("f"), call("g")]);
    assert_eq!((calls(&events[0]).len(), calls(&events[1]).len()), (0, 0), "arguments may follow");
}
