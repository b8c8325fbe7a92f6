//! Messages for the next request, received or made.

use super::{Gemini, call, results};
use crate::call::WireCall;
use crate::codec::{HistoryCodec, IdRule};
use crate::reading::Message;
use serde_json::{Value, json};
use toolkit_core::call::ToolCall;
use toolkit_core::name::WireNames;
use toolkit_core::output::Content;

impl HistoryCodec for Gemini {
    fn id_rule(&self) -> Option<IdRule> {
        None
    }

    fn write_call(&self, call: &WireCall<'_>, _id: String, names: &WireNames) -> Value {
        call::write(call, names)
    }

    fn write_part(&self, part: &Value) -> Option<Value> {
        let part = call::without_result(part);
        call::says_something(&part).then(|| part.into())
    }

    /// Drops a content without parts, which the service refuses.
    fn write_message(&self, message: &Message<'_>, parts: Vec<Value>) -> Vec<Value> {
        if parts.is_empty() {
            return Vec::new();
        }
        let mut fields = message.fields.cloned().unwrap_or_default();
        fields.insert("role".to_owned(), "model".into());
        fields.insert("parts".to_owned(), parts.into());
        vec![fields.into()]
    }

    fn encode_call(&self, call: &ToolCall, _id: String, names: &WireNames) -> Value {
        call::encode(call, names)
    }

    fn encode_assistant(&self, text: &str, calls: Vec<Value>) -> Vec<Value> {
        let text = Some(text).filter(|text| !text.is_empty()).map(|text| json!({"text": text}));
        let parts: Vec<Value> = text.into_iter().chain(calls).collect();
        if parts.is_empty() { Vec::new() } else { vec![json!({"role": "model", "parts": parts})] }
    }

    fn encode_user(&self, contents: &[Content]) -> Value {
        let part = |content: &Content| match results::media(content) {
            Some(media) => results::media_part(media),
            None => json!({"text": content.to_text()}),
        };
        let mut parts: Vec<Value> = contents.iter().map(part).collect();
        if parts.is_empty() {
            parts.push(json!({"text": ""}));
        }
        json!({"role": "user", "parts": parts})
    }
}
