//! Messages for the next request, received or made.

use super::results::{content_text, part};
use super::{IDS, OpenAiChat, call};
use crate::call::{Fields, WireCall};
use crate::codec::{HistoryCodec, IdRule};
use crate::reading::Message;
use serde_json::{Value, json};
use toolkit_core::call::ToolCall;
use toolkit_core::name::WireNames;
use toolkit_core::output::Content;

impl HistoryCodec for OpenAiChat {
    fn id_rule(&self) -> Option<IdRule> {
        Some(IdRule { rule: IDS, is_strict: false })
    }

    fn write_call(&self, call: &WireCall<'_>, id: String, names: &WireNames) -> Value {
        call::write(call, id, names)
    }

    fn write_part(&self, _part: &Value) -> Option<Value> {
        None
    }

    fn write_message(&self, message: &Message<'_>, calls: Vec<Value>) -> Vec<Value> {
        let mut fields = message.fields.cloned().unwrap_or_default();
        fields.insert("role".to_owned(), "assistant".into());
        // Now among the calls if it was one; `null`, which some servers write, is refused in a request.
        fields.shift_remove("function_call");
        if calls.is_empty() {
            // Neither an empty list nor `null` is accepted back.
            fields.shift_remove("tool_calls");
            if is_silent(&fields) {
                fields.insert("content".to_owned(), "".into());
            }
        } else {
            fields.entry("content").or_insert(Value::Null);
            fields.insert("tool_calls".to_owned(), calls.into());
        }
        vec![Value::Object(fields)]
    }

    fn encode_call(&self, call: &ToolCall, id: String, names: &WireNames) -> Value {
        call::encode(call, id, names)
    }

    fn encode_assistant(&self, text: &str, calls: Vec<Value>) -> Vec<Value> {
        // The service refuses an empty list of calls.
        vec![match (text, calls.is_empty()) {
            (text, true) => json!({"role": "assistant", "content": text}),
            ("", false) => json!({"role": "assistant", "content": null, "tool_calls": calls}),
            (text, false) => json!({"role": "assistant", "content": text, "tool_calls": calls}),
        }]
    }

    /// Encodes plain text where there is nothing else, because many servers take only that.
    fn encode_user(&self, contents: &[Content]) -> Value {
        let text_part = |content| json!({"type": "text", "text": content_text(content)});
        let content = match contents {
            [only] if part(only).is_none() => content_text(only).into(),
            _ => contents
                .iter()
                .map(|content| part(content).unwrap_or_else(|| text_part(content)))
                .collect::<Value>(),
        };
        json!({"role": "user", "content": content})
    }
}

/// Returns whether a message without calls says nothing; it must say something, if only an empty text.
fn is_silent(fields: &Fields) -> bool {
    ["content", "refusal", "audio"].iter().all(|name| fields.get(*name).is_none_or(Value::is_null))
}
