//! The growth of a message's native form while the message arrives.

use serde_json::Value;
use std::mem::take;
use toolkit_llm::NativeMessages;

/// The field with the parts of a native message. Some APIs use a message for each part.
const PARTS: &str = "content";

/// The native form of an arriving message.
pub(super) trait GrowingNative: Sized {
    /// Adds further parts and messages.
    fn extend(&mut self, more: Self);
}

impl GrowingNative for NativeMessages {
    fn extend(&mut self, mut more: Self) {
        let mut messages = take(&mut self.messages);
        let mut further = take(&mut more.messages).into_iter();
        // Only the first message may continue an earlier one. The model has separated the others.
        if let (Some(last), Some(first)) = (messages.last_mut(), further.as_slice().first())
            && is_continued(last, first)
        {
            append(last, further.next().and_then(|mut first| first.get_mut(PARTS).map(Value::take)));
        }
        messages.extend(further);
        more.messages = messages;
        *self = more;
    }
}

fn append(message: &mut Value, further: Option<Value>) {
    if let (Some(Value::Array(parts)), Some(Value::Array(further))) = (message.get_mut(PARTS), further) {
        parts.extend(further);
    }
}

/// Returns whether `message` continues `last`: both have parts, and their other fields are equal.
fn is_continued(last: &Value, message: &Value) -> bool {
    let has_parts = |message: &Value| message.get(PARTS).is_some_and(Value::is_array);
    has_parts(last) && has_parts(message) && other_fields(last).eq(other_fields(message))
}

fn other_fields(message: &Value) -> impl Iterator<Item = (&String, &Value)> {
    message.as_object().into_iter().flatten().filter(|(name, _)| *name != PARTS)
}
