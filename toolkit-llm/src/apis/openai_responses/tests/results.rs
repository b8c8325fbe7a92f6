//! Tests of encoding results as items, and of parsing them.

use super::call;
use crate::ApiFormat::OpenAiResponses;
use crate::translate::RequestFormat;
use serde_json::{Value, json};
use toolkit_core::ToolError;
use toolkit_core::ToolResult;
use toolkit_core::output::{Content, Media, MediaData, Resource, ToolOutput};

#[track_caller]
fn check(outcome: Result<ToolOutput, ToolError>, output: Value) {
    let items = OpenAiResponses.encode_results(&[ToolResult::new("call_1".into(), "chart", outcome)]);
    let expected =
        json!({"type": "function_call_output", "call_id": "call_1", "output": output, "status": "completed"});
    assert_eq!(items, [expected]);
}

fn media(media_type: &str, data: MediaData, name: Option<&str>) -> Box<Media> {
    Box::new(Media { media_type: media_type.to_owned(), data, name: name.map(ToOwned::to_owned) })
}

fn bytes() -> MediaData {
    MediaData::Base64("aGk=".to_owned())
}

fn link() -> MediaData {
    MediaData::Url("https://x.org/y".to_owned())
}

#[test]
fn text_outputs_are_strings() {
    check(Ok("3".into()), json!("3"));
    check(Ok(ToolOutput::default()), json!(""));
    check(Ok(ToolOutput::json(&json!([1, 2])).unwrap()), json!("[1,2]"));
    check(Ok(ToolOutput::new(vec![Content::Text("a".into()), Content::Text("b".into())])), json!("a\nb"));
    check(Ok(ToolOutput::text("12").with_message("More follows.")), json!("12\nMore follows."));
    check(Ok(ToolOutput::text("").with_message("Nothing found.")), json!("Nothing found."));
    check(Err(ToolError::failed("no such city")), json!("Error running tool: no such city"));
}

#[test]
fn media_are_in_the_output() {
    let picture = Content::Image(media("image/png", bytes(), None));
    check(
        Ok(ToolOutput::text("hello").with_content(picture).with_message("Look.")),
        json!([
            {"type": "input_text", "text": "hello"},
            {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,aGk="},
            {"type": "input_text", "text": "Look."},
        ]),
    );
    let picture = Content::Image(media("image/png", link(), None));
    check(
        Ok(picture.into()),
        json!([{"type": "input_image", "detail": "auto", "image_url": "https://x.org/y"}]),
    );
    let file = Content::File(media("application/pdf", bytes(), Some("report.pdf")));
    let data = "data:application/pdf;base64,aGk=";
    check(Ok(file.into()), json!([{"type": "input_file", "filename": "report.pdf", "file_data": data}]));
    let file = Content::File(media("application/pdf", link(), None));
    check(Ok(file.into()), json!([{"type": "input_file", "file_url": "https://x.org/y"}]));
}

#[test]
fn unsupported_media_are_named_in_a_text() {
    let sound = Content::Audio(media("audio/ogg", bytes(), None));
    check(Ok(sound.into()), json!("[audio audio/ogg] cannot be shown: this API has no way to send it"));
    let sound = Content::Audio(media("audio/ogg", link(), None));
    check(Ok(sound.into()), json!("[audio audio/ogg https://x.org/y]"));
    let resource = Resource { uri: "file:///a".to_owned(), name: "a".to_owned(), media_type: None };
    check(Ok(Content::Resource(Box::new(resource)).into()), json!("[resource a file:///a]"));
}

#[test]
fn a_result_has_the_kind_of_its_call() {
    let mut search = call("a", "search", "{}");
    search["namespace"] = json!("crm");
    search["caller"] = json!({"type": "program", "caller_id": "p"});
    let custom = json!({
        "type": "custom_tool_call", "call_id": "b", "name": "p", "input": "",
        "namespace": "crm", "caller": {"type": "direct"},
    });
    let calls = OpenAiResponses.parse_calls(&json!([search, custom])).unwrap();
    let results: Vec<ToolResult> = calls.iter().map(|call| ToolResult::of(call, Ok("x".into()))).collect();
    let items = json!([
        {"type": "function_call_output", "call_id": "a", "output": "x", "status": "completed",
         "namespace": "crm", "caller": {"type": "program", "caller_id": "p"}},
        {"type": "custom_tool_call_output", "call_id": "b", "output": "x", "caller": {"type": "direct"}},
    ]);
    assert_eq!(Value::from(OpenAiResponses.encode_results(&results)), items);
    let parsed = RequestFormat::OpenAiResponses.parse_results(&items).unwrap();
    assert_eq!(Value::from(OpenAiResponses.encode_results(&parsed)), items);
}

#[test]
fn results_round_trip() {
    let items = json!([
        call("a", "chart", "{}"),
        {"type": "function_call_output", "call_id": "a", "output": "3"},
        {"role": "user", "content": "hi"},
        {"type": "function_call_output", "call_id": "b", "name": "now", "output": [
            {"type": "input_text", "text": "t"},
            {"type": "input_image", "image_url": "data:image/png;base64,aGk="},
            {"type": "input_file", "file_url": "https://x.org/y", "filename": "y"},
            {"type": "input_image", "file_id": "file_1"},
        ]},
    ]);
    let parsed = RequestFormat::OpenAiResponses.parse_results(&items).unwrap();
    let of =
        |index: usize| (parsed[index].call_id.as_str(), parsed[index].name.as_str(), parsed[index].position);
    assert_eq!((of(0), of(1)), (("a", "chart", 0), ("b", "now", 1)));
    assert_eq!(parsed[0].to_text(), "3");
    let contents = parsed[1].output().unwrap().content();
    assert_eq!(
        contents[..3],
        [
            Content::Text("t".to_owned()),
            Content::Image(media("image/png", bytes(), None)),
            Content::File(media("application/octet-stream", link(), Some("y"))),
        ]
    );
    assert_eq!(contents[3].to_text(), r#"{"type":"input_image","file_id":"file_1"}"#);
}

#[track_caller]
fn refuse(payload: &Value, path: &str, expected: &str) {
    let error = RequestFormat::OpenAiResponses.parse_results(payload).unwrap_err();
    assert_eq!((error.path(), error.expected()), (path, expected));
}

#[test]
fn errors_state_the_path() {
    let content = "a text or a list of contents";
    refuse(&json!("x"), "", "an item or a list of items");
    refuse(&json!({"type": "function_call_output", "call_id": "a"}), "output", content);
    refuse(
        &json!([null, {"type": "function_call_output", "output": "x"}]),
        "[1].call_id",
        "the id of a call",
    );
    assert!(RequestFormat::OpenAiResponses.parse_results(&json!({"type": "message"})).unwrap().is_empty());
}
