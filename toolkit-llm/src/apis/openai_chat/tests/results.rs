//! Tests of encoding results as messages, and of parsing them.

use crate::ApiFormat::OpenAiChat;
use crate::translate::RequestFormat;
use serde_json::{Value, json};
use toolkit_core::ToolError;
use toolkit_core::ToolResult;
use toolkit_core::output::{Content, Media, MediaData, Resource, ToolOutput};

fn result(id: &str, outcome: Result<ToolOutput, ToolError>) -> ToolResult {
    ToolResult::new(id.into(), "chart", outcome)
}

#[track_caller]
fn check(outcome: Result<ToolOutput, ToolError>, text: &str) {
    let messages = OpenAiChat.encode_results(&[result("call_1", outcome)]);
    assert_eq!(messages, [json!({"role": "tool", "tool_call_id": "call_1", "content": text})]);
}

/// Checks that the output `content` becomes a tool message with `text`. If `part` is given, a user message with this
/// content part must follow.
#[track_caller]
fn check_media(content: Content, text: &str, part: Option<Value>) {
    let name = content.to_text().into_owned();
    let messages = OpenAiChat.encode_results(&[result("c1", Ok(content.into()))]);
    assert_eq!(messages[0], json!({"role": "tool", "tool_call_id": "c1", "content": text}));
    let label = json!({"type": "text", "text": format!("{name} from tool call c1 (chart):")});
    let expected = part.map(|part| json!({"role": "user", "content": [label, part]}));
    assert_eq!(messages.get(1), expected.as_ref());
}

fn bytes(media_type: &str, name: Option<&str>) -> Box<Media> {
    let data = MediaData::Base64("aGk=".to_owned());
    Box::new(Media { media_type: media_type.to_owned(), data, name: name.map(ToOwned::to_owned) })
}

fn link(media_type: &str) -> Box<Media> {
    let data = MediaData::Url("https://x.org/y".to_owned());
    Box::new(Media { media_type: media_type.to_owned(), data, name: None })
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
        check(Ok(ToolOutput::json(&value).unwrap()), text);
    }
    check(Ok(ToolOutput::text("")), "");
    check(Ok(ToolOutput::default()), "");
    check(Ok(ToolOutput::new(vec![Content::Text("a".into()), Content::Text("b".into())])), "a\nb");
}

#[test]
fn the_message_is_on_its_own_line() {
    check(
        Ok(ToolOutput::text("12 files").with_message("Only the first ten are shown.")),
        "12 files\nOnly the first ten are shown.",
    );
    check(Ok(ToolOutput::text("").with_message("Nothing found.")), "Nothing found.");
    check(Ok(ToolOutput::text("12").with_brief("for the user").with_structured(json!(12))), "12");
}

#[test]
fn an_error_is_its_message() {
    let error = ToolError::failed("division by zero").with_brief("for the user");
    check(Err(error), "Error running tool: division by zero");
}

#[test]
fn media_follow_in_a_message_of_the_user() {
    let follows = "follows in the user message after the tool results";
    check_media(
        Content::Image(bytes("image/png", Some("chart.png"))),
        &format!("[image image/png chart.png] {follows}"),
        Some(json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}})),
    );
    check_media(
        Content::Image(link("image/png")),
        &format!("[image image/png https://x.org/y] {follows}"),
        Some(json!({"type": "image_url", "image_url": {"url": "https://x.org/y"}})),
    );
    for (media_type, format) in [("audio/wav", "wav"), ("audio/x-wav", "wav"), ("Audio/MPEG; rate=8", "mp3")]
    {
        check_media(
            Content::Audio(bytes(media_type, None)),
            &format!("[audio {media_type}] {follows}"),
            Some(json!({"type": "input_audio", "input_audio": {"data": "aGk=", "format": format}})),
        );
    }
    for (media_type, name, sent) in
        [("application/pdf", Some("report.pdf"), "report.pdf"), ("application/pdf", None, "file.pdf")]
    {
        let content = Content::File(bytes(media_type, name));
        let text = format!("{} {follows}", content.to_text());
        let data = format!("data:{media_type};base64,aGk=");
        let part = json!({"type": "file", "file": {"filename": sent, "file_data": data}});
        check_media(content, &text, Some(part));
    }
}

#[test]
fn unsupported_media_are_named_in_a_text() {
    check_media(
        Content::Audio(bytes("audio/ogg", None)),
        "[audio audio/ogg] cannot be shown: this API has no way to send it",
        None,
    );
    check_media(
        Content::File(bytes("application/vnd.ms-excel", None)),
        "[file application/vnd.ms-excel] cannot be shown: this API has no way to send it",
        None,
    );
    check_media(Content::Audio(link("audio/mpeg")), "[audio audio/mpeg https://x.org/y]", None);
    check_media(Content::File(link("application/pdf")), "[file application/pdf https://x.org/y]", None);
    let resource =
        Resource { uri: "file:///notes.md".to_owned(), name: "notes".to_owned(), media_type: None };
    check_media(Content::Resource(Box::new(resource)), "[resource notes file:///notes.md]", None);
}

#[test]
fn all_results_come_before_the_message_with_media() {
    let picture = |text: &str| ToolOutput::text(text).with_content(Content::Image(bytes("image/png", None)));
    let messages = OpenAiChat.encode_results(&[
        result("a", Ok(picture("first"))),
        result("b", Err(ToolError::failed("no"))),
        result("a", Ok(picture("again"))),
    ]);
    let roles: Vec<&Value> = messages.iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["tool", "tool", "tool", "user"]);
    let ids: Vec<&Value> = messages.iter().map(|message| &message["tool_call_id"]).collect();
    assert_eq!(ids[..2], ["a", "b"]);
    assert_ne!(ids[2], "a");
    assert_eq!(messages[3]["content"].as_array().unwrap().len(), 4);
    assert!(OpenAiChat.encode_results(&[]).is_empty());
}

#[test]
fn results_round_trip() {
    let sent = [result("a", Ok(ToolOutput::text("12"))), result("b", Err(ToolError::failed("no")))];
    let messages = OpenAiChat.encode_results(&sent);
    let read = RequestFormat::OpenAiChat.parse_results(&json!(messages)).unwrap();
    let read: Vec<_> = read
        .iter()
        .map(|result| (result.position, result.call_id.as_str(), result.to_text().into_owned()))
        .collect();
    assert_eq!(read, [(0, "a", "12".to_owned()), (1, "b", "Error running tool: no".to_owned())]);
}

#[test]
fn results_of_a_history_are_parsed() {
    let read = |payload: Value| RequestFormat::OpenAiChat.parse_results(&payload).unwrap();
    let history = json!([
        {"role": "user", "content": "hi"},
        {"role": "tool", "tool_call_id": "a", "name": "chart", "content": [
            {"type": "text", "text": "see"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
            {"type": "other"},
        ]},
    ]);
    let parsed = read(history);
    assert_eq!((parsed.len(), parsed[0].name.as_str()), (1, "chart"));
    let contents = parsed[0].output().unwrap().content();
    assert_eq!(contents[..2], [Content::Text("see".into()), Content::Image(bytes("image/png", None))]);
    assert_eq!(contents[2].to_text(), r#"{"type":"other"}"#);
    for content in [Value::Null, json!("")] {
        let parsed = read(json!({"role": "tool", "tool_call_id": "a", "content": content}));
        assert_eq!(parsed[0].to_text(), "");
    }
    assert!(read(json!({"role": "user", "content": "hi"})).is_empty());
    let error =
        RequestFormat::OpenAiChat.parse_results(&json!([{"role": "tool", "content": "x"}])).unwrap_err();
    assert_eq!((error.path(), error.expected()), ("[0].tool_call_id", "the id of a call"));
}
