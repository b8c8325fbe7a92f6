//! Results of calls in a form that the protocol does not know. The tool has run, so the readable parts are kept.

use super::outcome;
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Deserialize;
use serde_json::{Map, Value};
use toolkit_core::foreign::shorten;
use toolkit_core::{ToolError, ToolOutput};

/// The limit in characters. Longer strings of unreadable parts are often encoded media.
const LONGEST_STRING: usize = 200;

/// The limit in characters of JSON.
const LONGEST_PART: usize = 2_048;

/// Converts a result of any form. What is not content of the protocol becomes text.
pub(crate) fn any_outcome(result: Value) -> Result<ToolOutput, ToolError> {
    let mut read = CallToolResult::default();
    let Value::Object(mut members) = result else {
        read.content = vec![ContentBlock::text(result.to_string())];
        return outcome(read);
    };
    // Version 2024-10-07 has this member in place of `content`.
    let content = members.remove("content").or_else(|| members.remove("toolResult"));
    read.is_error = members.remove("isError").and_then(|is_error| is_error.as_bool());
    read.structured_content = members.remove("structuredContent");
    read.content = match content {
        Some(Value::Array(parts)) => parts.into_iter().map(part).collect(),
        Some(content) => vec![part(content)],
        None => vec![part(Value::Object(without_protocol(members)))],
    };
    outcome(read)
}

/// Returns the members of a plain object as the result.
fn without_protocol(mut members: Map<String, Value>) -> Map<String, Value> {
    members.remove("_meta");
    members.remove("resultType");
    members
}

fn part(part: Value) -> ContentBlock {
    if let Ok(block) = ContentBlock::deserialize(&part) {
        return block;
    }
    let mut members = match part {
        Value::String(text) => return ContentBlock::text(text),
        Value::Object(members) => members,
        other => return ContentBlock::text(other.to_string()),
    };
    if !members.contains_key("type") {
        return ContentBlock::text(Value::Object(members).to_string());
    }
    for value in members.values_mut() {
        if let Value::String(text) = value {
            *text = shorten(std::mem::take(text), LONGEST_STRING);
        }
    }
    let text = shorten(Value::Object(members).to_string(), LONGEST_PART);
    ContentBlock::text(format!("[content that the client cannot read: {text}]"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_readable_parts_of_a_result_are_kept() {
        let video = json!({"type": "video", "data": "a".repeat(1_000), "mimeType": "video/mp4"});
        let unread = format!(
            r#"[content that the client cannot read: {{"type":"video","data":"{}…","mimeType":"video/mp4"}}]"#,
            "a".repeat(200)
        );
        let both = format!("sent\n{unread}");
        for (result, text) in [
            (json!({"content": [{"type": "text", "text": "sent"}, video]}), both.as_str()),
            (
                json!({"content": [{"type": "text"}]}),
                r#"[content that the client cannot read: {"type":"text"}]"#,
            ),
            (json!({"content": "sent"}), "sent"),
            (json!({"content": ["sent", 5, null]}), "sent\n5\nnull"),
            (json!({"content": {"type": "text", "text": "sent"}}), "sent"),
            (json!({"toolResult": {"id": 7}}), r#"{"id":7}"#),
            (json!({"messageId": "m1", "_meta": {}}), r#"{"messageId":"m1"}"#),
            (json!({"content": "sent", "structuredContent": {"a": 1}, "isError": "no"}), "sent"),
            (json!("sent"), r#""sent""#),
        ] {
            let output = any_outcome(result.clone()).expect("an output");
            assert_eq!(output.to_text(), text, "{result}");
        }
        let error = any_outcome(json!({"content": "no such city", "isError": true})).expect_err("an error");
        assert_eq!(error.message(), "no such city");
    }
}
