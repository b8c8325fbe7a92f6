//! Tests of encoding results as one message, and of parsing them.

use crate::ApiFormat::Gemini;
use crate::ids;
use crate::translate::RequestFormat;
use serde_json::{Value, json};
use toolkit_core::ToolError;
use toolkit_core::ToolResult;
use toolkit_core::output::{Content, Media, MediaData, Resource, ToolOutput};

fn result(id: &str, outcome: Result<ToolOutput, ToolError>) -> ToolResult {
    ToolResult::new(id.into(), "chart", outcome)
}

#[track_caller]
fn check(outcome: Result<ToolOutput, ToolError>, response: &Value) {
    assert_eq!(
        Gemini.encode_results(&[result("call_1", outcome)]),
        [json!({"role": "user", "parts": [
            {"functionResponse": {"id": "call_1", "name": "chart", "response": response}},
        ]})]
    );
}

fn media(media_type: &str, data: MediaData, name: Option<&str>) -> Box<Media> {
    Box::new(Media { media_type: media_type.to_owned(), data, name: name.map(ToOwned::to_owned) })
}

fn bytes() -> MediaData {
    MediaData::Base64("aGk=".to_owned())
}

fn url() -> MediaData {
    MediaData::Url("https://x.org/y".to_owned())
}

#[test]
fn every_value_is_kept() {
    for value in [json!(0), json!(false), json!(null), json!([1, 2.5]), json!({"city": "東京"}), json!("a")]
    {
        check(Ok(ToolOutput::json(&value).unwrap()), &json!({"output": value}));
    }
    check(Ok(ToolOutput::text("")), &json!({"output": ""}));
    check(Ok(ToolOutput::default()), &json!({"output": ""}));
    check(Ok(ToolOutput::text("{\"a\": 1}")), &json!({"output": "{\"a\": 1}"}));
}

#[test]
fn values_with_numbers_that_a_double_rounds_are_sent_as_text() {
    for (value, text) in [
        (json!({"id": 9_007_199_254_740_993_u64}), r#"{"id":9007199254740993}"#),
        (json!([-9_007_199_254_740_993_i64]), "[-9007199254740993]"),
    ] {
        check(Ok(ToolOutput::json(&value).unwrap()), &json!({"output": text}));
    }
    let exact = json!([9_007_199_254_740_991_u64]);
    check(Ok(ToolOutput::json(&exact).unwrap()), &json!({"output": exact}));
}

#[test]
fn deep_values_are_sent_as_text() {
    let mut deep = json!(1);
    for _ in 0..200 {
        deep = json!([deep]);
    }
    check(Ok(ToolOutput::json(&deep).unwrap()), &json!({"output": deep.to_string()}));
}

#[test]
fn errors_and_messages_are_in_the_response() {
    check(Err(ToolError::failed("no")), &json!({"error": "Error running tool: no"}));
    check(
        Ok(ToolOutput::json(&json!([1])).unwrap().with_message("Only the first.")),
        &json!({"output": "[1]\nOnly the first."}),
    );
    check(Ok(ToolOutput::text("").with_message("Nothing.")), &json!({"output": "Nothing."}));
}

#[test]
fn media_are_parts_beside_the_response() {
    let output = ToolOutput::new(vec![
        Content::Text("hello".to_owned()),
        Content::Image(media("image/png", bytes(), Some("chart.png"))),
        Content::File(media("application/pdf", url(), None)),
        Content::Resource(Box::new(Resource {
            uri: "file:///n".to_owned(),
            name: "n".to_owned(),
            media_type: None,
        })),
    ]);
    let contents = Gemini.encode_results(&[result("a", Ok(output))]);
    assert_eq!(
        contents[0]["parts"][0]["functionResponse"],
        json!({
            "id": "a", "name": "chart",
            "response": {"output": "hello\n[image image/png chart.png]\n[file application/pdf https://x.org/y] follows in the user message after the tool results\n[resource n file:///n]"},
            "parts": [{"inlineData": {"mimeType": "image/png", "data": "aGk="}}],
        })
    );
    // A result accepts no URL.
    assert_eq!(
        contents[1],
        json!({"role": "user", "parts": [
            {"text": "[file application/pdf https://x.org/y] from tool call a (chart):"},
            {"fileData": {"mimeType": "application/pdf", "fileUri": "https://x.org/y"}},
        ]})
    );
}

#[test]
fn one_content_has_all_results_in_call_order_without_generated_ids() {
    let call = Gemini.parse_calls(&json!({"functionCall": {"name": "chart", "args": {}}})).unwrap().remove(0);
    let results = [
        ToolResult::of(&call, Ok("1".into())),
        result("", Ok("2".into())),
        result("x y", Err(ToolError::failed("no"))),
    ];
    let contents = Gemini.encode_results(&results);
    assert_eq!(contents.len(), 1);
    let ids: Vec<&Value> =
        contents[0]["parts"].as_array().unwrap().iter().map(|part| &part["functionResponse"]["id"]).collect();
    assert_eq!(ids, [&Value::Null, &Value::Null, &json!("x y")]);
    assert!(Gemini.encode_results(&[]).is_empty());
}

#[test]
fn results_round_trip() {
    let chart =
        ToolOutput::text("a chart").with_content(Content::Image(media("image/png", bytes(), Some("c.png"))));
    let outputs =
        [ToolOutput::text("two\nlines"), ToolOutput::json(&json!({"a": [1, null]})).unwrap(), chart];
    let outcomes = outputs.into_iter().map(Ok).chain([Err(ToolError::failed("no"))]);
    let results: Vec<ToolResult> = outcomes
        .enumerate()
        .map(|(position, outcome)| result(&format!("id {position}"), outcome).with_position(position))
        .collect();
    let contents = Gemini.encode_results(&results);
    let parsed = RequestFormat::Gemini.parse_results(&contents[0]).unwrap();
    assert_eq!(parsed[..2], results[..2]);
    assert_eq!(
        parsed[2].output().unwrap().content(),
        [
            Content::Text("a chart\n[image image/png c.png]".to_owned()),
            Content::Image(media("image/png", bytes(), None))
        ]
    );
    assert_eq!(parsed[3].error().unwrap().message(), results[3].error().unwrap().message());
    assert_eq!(Gemini.encode_results(&parsed), contents);
    assert_eq!(RequestFormat::Gemini.parse_results(&json!(contents)).unwrap().len(), 4);
    assert_eq!(RequestFormat::Gemini.parse_results(&contents[0]["parts"]).unwrap().len(), 4);
}

#[test]
fn all_forms_of_a_response_are_read() {
    let text = |response: Value| {
        let part = json!({"function_response": {"name": "f", "response": response}});
        RequestFormat::Gemini.parse_results(&part).unwrap()[0].to_text().into_owned()
    };
    assert_eq!(text(json!({"output": "x"})), "x");
    assert_eq!(text(json!({"result": "other key"})), r#"{"result":"other key"}"#);
    assert_eq!(text(json!("bare")), "bare");
    assert_eq!(text(Value::Null), "");
    assert_eq!(text(json!({"error": {"code": 1}})), r#"{"code":1}"#);
}

#[test]
fn results_without_ids_belong_to_the_calls_before_them() {
    let asked = json!({"role": "model", "parts": [
        {"functionCall": {"name": "f", "args": {"n": 1}}}, {"functionCall": {"name": "g"}},
        {"functionCall": {"name": "f", "args": {"n": 2}}}, {"functionCall": {"id": "x", "name": "f"}},
    ]});
    let answer = |name: &str| json!({"functionResponse": {"name": name, "response": {"output": ""}}});
    let with_id = json!({"functionResponse": {"id": "x", "name": "f", "response": {}}});
    let answers =
        json!({"role": "user", "parts": [with_id, answer("f"), answer("f"), answer("g"), answer("h")]});
    let calls = Gemini.parse_calls(&asked).unwrap();
    let results = RequestFormat::Gemini
        .parse_results(&json!([{"role": "user", "parts": [{"text": "hi"}]}, asked, answers]))
        .unwrap();
    let ids: Vec<&str> = results.iter().map(|result| result.call_id.as_str()).collect();
    assert_eq!(ids[..4], ["x", calls[0].id.as_str(), calls[2].id.as_str(), calls[1].id.as_str()]);
    assert!(ids::is_generated(ids[4]) && !ids[..4].contains(&ids[4]));
}

#[test]
fn other_values_are_refused_or_left_out() {
    assert!(
        RequestFormat::Gemini
            .parse_results(&json!({"role": "user", "parts": [{"text": "hi"}]}))
            .unwrap()
            .is_empty()
    );
    for (payload, path) in [
        (json!({"role": "tool", "tool_call_id": "c", "content": "x"}), "parts"),
        (json!([{"type": "function_call_output", "call_id": "c", "output": "x"}]), "[0].parts"),
        (json!([{"parts": 1}]), "[0].parts"),
        (json!([1]), "[0]"),
        (json!(null), ""),
    ] {
        assert_eq!(RequestFormat::Gemini.parse_results(&payload).unwrap_err().path(), path, "{payload}");
    }
}
