//! Tests of encoding results as messages, and of parsing them.

use crate::ApiFormat::Anthropic;
use crate::translate::RequestFormat;
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::call::ProviderExtras;
use toolkit_core::output::{Content, Media, MediaData, Resource, ToolOutput};
use toolkit_core::{ErrorKind, ToolError};

fn result(id: &str, outcome: Result<ToolOutput, ToolError>) -> ToolResult {
    ToolResult::new(id.into(), "chart", outcome)
}

#[track_caller]
fn check(outcome: Result<ToolOutput, ToolError>, expected: Value) {
    let mut block = json!({"type": "tool_result", "tool_use_id": "call_1"});
    block.as_object_mut().unwrap().extend(expected.as_object().unwrap().clone());
    let messages = Anthropic.encode_results(&[result("call_1", outcome)]);
    assert_eq!(messages, [json!({"role": "user", "content": [block]})]);
}

#[track_caller]
fn check_content(content: Content, expected: Value) {
    check(Ok(content.into()), json!({"content": expected}));
}

fn bytes(media_type: &str, name: Option<&str>) -> Box<Media> {
    let data = MediaData::Base64("aGk=".to_owned());
    Box::new(Media { media_type: media_type.to_owned(), data, name: name.map(ToOwned::to_owned) })
}

fn link(media_type: &str, url: &str) -> Box<Media> {
    Box::new(Media { media_type: media_type.to_owned(), data: MediaData::Url(url.to_owned()), name: None })
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[test]
fn every_value_is_kept_as_text() {
    for (value, text) in [
        (json!(0), "0"),
        (json!(false), "false"),
        (json!(null), "null"),
        (json!([1, 2, 3]), "[1,2,3]"),
        (json!({"city": "東京"}), r#"{"city":"東京"}"#),
    ] {
        check(Ok(ToolOutput::json(&value).unwrap()), json!({"content": text}));
    }
    for empty in [ToolOutput::text(""), ToolOutput::text(" \n"), ToolOutput::default()] {
        check(Ok(empty), json!({"content": ""}));
    }
}

#[test]
fn several_texts_and_the_message_are_blocks() {
    let two = ToolOutput::new(vec![Content::Text("a".into()), Content::Text("b".into())]);
    check(Ok(two), json!({"content": [text("a"), text("b")]}));
    let output = ToolOutput::text("12 files").with_message("Only ten are shown.").with_brief("for the user");
    check(Ok(output), json!({"content": [text("12 files"), text("Only ten are shown.")]}));
    check(Ok(ToolOutput::text("").with_message("Nothing.")), json!({"content": "Nothing."}));
}

#[test]
fn an_error_is_marked() {
    let error = ToolError::failed("division by zero").with_brief("for the user");
    check(Err(error), json!({"content": "Error running tool: division by zero", "is_error": true}));
    let silent = ToolError::new(ErrorKind::Failed, " ");
    check(Err(silent), json!({"content": "The call failed for an unknown reason.", "is_error": true}));
}

#[test]
fn images_are_blocks() {
    let image = |source: Value| json!({"type": "image", "source": source});
    for (media_type, sent) in
        [("image/png", "image/png"), ("Image/JPEG; q=1", "image/jpeg"), ("image/jpg", "image/jpeg")]
    {
        let picture = image(json!({"type": "base64", "media_type": sent, "data": "aGk="}));
        check_content(Content::Image(bytes(media_type, None)), json!([picture]));
    }
    let named = image(json!({"type": "base64", "media_type": "image/png", "data": "aGk="}));
    check_content(
        Content::Image(bytes("image/png", Some("chart.png"))),
        json!([text("[image image/png chart.png]"), named]),
    );
    check_content(
        Content::Image(link("image/png", "https://x.org/y")),
        json!([image(json!({"type": "url", "url": "https://x.org/y"}))]),
    );
}

#[test]
fn documents_are_blocks() {
    let pdf = json!({"type": "base64", "media_type": "application/pdf", "data": "aGk="});
    check_content(
        Content::File(bytes("application/pdf", Some("report.pdf"))),
        json!([{"type": "document", "source": pdf, "title": "report.pdf"}]),
    );
    check_content(
        Content::File(link("application/pdf", "https://x.org/y")),
        json!([{"type": "document", "source": {"type": "url", "url": "https://x.org/y"}}]),
    );
    for media_type in ["text/csv; charset=utf-8", "application/json", "application/geo+json"] {
        let plain = json!({"type": "text", "media_type": "text/plain", "data": "hi"});
        check_content(Content::File(bytes(media_type, None)), json!([{"type": "document", "source": plain}]));
    }
}

#[test]
fn unsupported_media_are_named_in_a_text() {
    let unsendable = "cannot be shown: this API has no way to send it";
    for (content, name) in [
        (Content::Audio(bytes("audio/wav", None)), "[audio audio/wav]"),
        (Content::Image(bytes("image/tiff", Some("a.tiff"))), "[image image/tiff a.tiff]"),
        (Content::File(bytes("application/zip", None)), "[file application/zip]"),
    ] {
        check_content(content, json!(format!("{name} {unsendable}")));
    }
    check_content(
        Content::Audio(link("audio/mpeg", "https://x.org/y")),
        json!("[audio audio/mpeg https://x.org/y]"),
    );
    check_content(Content::Image(link("image/png", "s3://x/y")), json!("[image image/png s3://x/y]"));
    check_content(
        Content::File(link("text/csv", "https://x.org/y")),
        json!("[file text/csv https://x.org/y]"),
    );
    let resource = Resource { uri: "file:///notes.md".into(), name: "notes".into(), media_type: None };
    check_content(Content::Resource(Box::new(resource)), json!("[resource notes file:///notes.md]"));
    let not_text = MediaData::Base64("//79".to_owned());
    let media = Media { media_type: "text/plain".into(), data: not_text, name: None };
    check_content(Content::File(Box::new(media)), json!(format!("[file text/plain] {unsendable}")));
}

#[test]
fn all_results_are_in_one_message() {
    let messages = Anthropic.encode_results(&[
        result("a", Ok(ToolOutput::text("first"))),
        result("b", Err(ToolError::failed("no"))),
        result("c", Ok(ToolOutput::text("").with_content(Content::Image(bytes("image/png", None))))),
    ]);
    let [message] = messages.as_slice() else { panic!("one message") };
    let ids: Vec<&Value> =
        message["content"].as_array().unwrap().iter().map(|block| &block["tool_use_id"]).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    assert!(Anthropic.encode_results(&[]).is_empty());
}

#[test]
fn a_result_repeats_the_toolset_of_its_call() {
    let extras = json!({"toolset_name": "browser", "caller": {"type": "direct"}});
    let mut result = result("a", Ok(ToolOutput::text("x")));
    result.extras = ProviderExtras::new("anthropic", extras.as_object().unwrap().clone());
    assert_eq!(
        Anthropic.encode_results(&[result])[0]["content"],
        json!([{"type": "tool_result", "tool_use_id": "a", "content": "x", "toolset_name": "browser"}])
    );
}

#[test]
fn results_round_trip() {
    let contents = vec![
        Content::Text("see".into()),
        Content::Image(bytes("image/png", None)),
        Content::File(bytes("application/pdf", Some("report.pdf"))),
        Content::File(link("application/pdf", "https://x.org/y")),
    ];
    let results = [
        result("a", Ok(ToolOutput::text("x"))),
        result("b", Err(ToolError::failed("no"))),
        result("c", Ok(ToolOutput::new(contents))),
        result("d", Ok(ToolOutput::text(""))),
    ];
    let messages = Anthropic.encode_results(&results);
    for payload in [json!(messages), messages[0].clone(), messages[0]["content"].clone()] {
        let parsed = RequestFormat::Anthropic.parse_results(&payload).unwrap();
        assert_eq!(parsed.iter().map(|result| result.position).collect::<Vec<_>>(), [0, 1, 2, 3]);
        for (parsed, result) in parsed.iter().zip(&results) {
            assert_eq!(parsed.call_id, result.call_id);
            assert_eq!(parsed.output(), result.output());
            assert_eq!(parsed.to_text(), result.to_text());
        }
    }
}

#[test]
fn other_blocks_are_left_out() {
    let block = json!({"type": "tool_result", "tool_use_id": "a"});
    let history = json!([
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "add", "input": {}}]},
        {"role": "user", "content": [block, {"type": "text", "text": "and?"}]},
    ]);
    let parsed = RequestFormat::Anthropic.parse_results(&history).unwrap();
    assert_eq!(parsed.len(), 1);
    assert_eq!((parsed[0].name.as_str(), parsed[0].output()), ("add", Some(&ToolOutput::default())));
    assert_eq!(RequestFormat::Anthropic.parse_results(&block).unwrap()[0].name, "");
    assert!(RequestFormat::Anthropic.parse_results(&json!([])).unwrap().is_empty());
}

#[test]
fn unknown_blocks_are_kept_as_json() {
    let reference = json!({"type": "tool_reference", "tool_name": "add"});
    let result = json!({"type": "tool_result", "tool_use_id": "a", "content": [reference]});
    let parsed = RequestFormat::Anthropic.parse_results(&result).unwrap();
    assert_eq!(parsed[0].to_text(), reference.to_string());
}

#[test]
fn errors_about_results_state_the_path() {
    let refuse = |payload: Value, path: &str, expected: &str| {
        let error = RequestFormat::Anthropic.parse_results(&payload).unwrap_err();
        assert_eq!((error.path(), error.expected()), (path, expected));
    };
    let message = |block: Value| json!([{"role": "user", "content": [block]}]);
    refuse(json!(1), "", "a message with results, a result, or a list of them");
    let role = "`user`, which marks messages with results";
    refuse(json!({"role": "tool", "tool_call_id": "a", "content": "x"}), "role", role);
    refuse(json!([{"type": "function_call_output", "call_id": "a", "output": "x"}]), "[0].role", role);
    refuse(message(json!({"type": "tool_result"})), "[0].content[0].tool_use_id", "the id of a call");
    refuse(
        message(json!({"type": "tool_result", "tool_use_id": "a", "content": 1})),
        "[0].content[0].content",
        "a text or a list of content blocks",
    );
    refuse(
        message(json!({"type": "tool_result", "tool_use_id": "a", "is_error": "yes"})),
        "[0].content[0].is_error",
        "true or false",
    );
}

#[test]
fn the_cache_breakpoint_of_a_received_result_is_sent_back() {
    let block = json!({"type": "tool_result", "tool_use_id": "call_1", "content": "3",
        "cache_control": {"type": "ephemeral"}});
    let message = json!({"role": "user", "content": [block]});
    let results = RequestFormat::Anthropic.parse_results(&message).unwrap();
    assert_eq!(Anthropic.encode_results(&results), [message]);
    // The cache breakpoint of a call does not become a breakpoint of its result.
    let extras = json!({"cache_control": {"type": "ephemeral"}}).as_object().unwrap().clone();
    let mut result = result("call_1", Ok("3".into()));
    result.extras = ProviderExtras::new("anthropic", extras);
    let sent = Anthropic.encode_results(&[result]);
    assert!(sent[0]["content"][0].get("cache_control").is_none(), "{}", sent[0]);
}
