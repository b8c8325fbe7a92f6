//! The number of tokens in the requests of a run.

use super::history::visible;
use super::reduce::replacement;
use crate::compaction::CountTokens;
use crate::conversation::Compacted;
use serde_json::Value;
use std::borrow::Cow;
use toolkit_llm::ModelRequest;
use toolkit_llm::{AssistantMessage, Message, UserMessage};

/// Counts the tokens of an agent's requests in a run. Estimates each message once.
#[derive(Debug, Default)]
pub(in crate::llm) struct Meter {
    /// The first message in the request. If it changes, counting starts again.
    start: usize,
    /// The first message that is not counted yet.
    counted: usize,
    tokens: u64,
    /// Whether the next request must be shorter, because the last one or its answer was too long.
    pub(in crate::llm) is_exceeded: bool,
}

/// The messages as an agent's model reads them after a compaction.
#[derive(Clone, Copy)]
pub(super) struct Visible<'a> {
    pub(in crate::llm) agent: &'a str,
    pub(super) messages: &'a [Message],
    pub(super) compacted: &'a Compacted,
    pub(super) start: usize,
    pub(super) counter: &'a dyn CountTokens,
}

impl Visible<'_> {
    pub(super) fn tokens(&self, index: usize) -> u64 {
        let Some(message) = self.messages.get(index) else { return 0 };
        let visible = visible(self.agent, index, message, self.compacted);
        self.counter.count_message(&without_unsent_reasoning(visible))
    }

    pub(super) fn replacement_tokens(&self) -> u64 {
        match replacement(self.compacted, self.messages) {
            content if content.is_empty() => 0,
            content => self.counter.count_message(&Message::User(UserMessage::new(content))),
        }
    }

    /// Finds the agent's latest answer with a token count, from the index `from` on. Returns its index, and
    /// the tokens up to it.
    fn reported(&self, from: usize) -> Option<(usize, u64)> {
        let from = from.max(self.start).min(self.messages.len());
        for (index, message) in self.messages.iter().enumerate().skip(from).rev() {
            let Message::Assistant(message) = message else { continue };
            let usage = message.usage;
            if message.agent != self.agent || usage.input_tokens == 0 {
                continue;
            }
            let unsent = if keeps_reasoning(message) { 0 } else { usage.reasoning_tokens };
            let output = usage.output_tokens.saturating_sub(unsent);
            // The count of an answer that broke off may be incomplete, so the estimate is the minimum.
            return Some((index, usage.input_tokens.saturating_add(output.max(self.tokens(index)))));
        }
        None
    }
}

impl Meter {
    /// Returns the tokens of a request: the count of the agent's latest answer, if it has one, and
    /// estimates of newer messages. Counts before the index `usage_from` are ignored.
    pub(super) fn count(&mut self, view: Visible<'_>, usage_from: usize, request: &ModelRequest) -> u64 {
        if let Some((index, tokens)) = view.reported(usage_from.max(view.compacted.made_at)) {
            let newer = (index + 1)..view.messages.len();
            return tokens.saturating_add(newer.map(|index| view.tokens(index)).sum::<u64>());
        }
        if self.start != view.start || !(view.start..=view.messages.len()).contains(&self.counted) {
            (self.start, self.counted, self.tokens) = (view.start, view.start, 0);
        }
        self.tokens += (self.counted..view.messages.len()).map(|index| view.tokens(index)).sum::<u64>();
        self.counted = view.messages.len();
        view.counter.count_fixed(request) + view.replacement_tokens() + self.tokens
    }
}

/// Removes reasoning that later requests do not contain.
fn without_unsent_reasoning(message: Cow<'_, Message>) -> Cow<'_, Message> {
    match &*message {
        Message::Assistant(said) if !said.reasoning.is_empty() && !keeps_reasoning(said) => {
            let mut said = said.clone();
            said.reasoning.clear();
            Cow::Owned(Message::Assistant(said))
        }
        _ => message,
    }
}

/// Returns whether later requests contain the reasoning of a message, which is only in the provider's JSON.
fn keeps_reasoning(message: &AssistantMessage) -> bool {
    let Some(native) = &message.native else { return false };
    // A response stored by the provider contains its reasoning.
    native.response_id.is_some() || native.messages.iter().any(has_reasoning)
}

/// Returns whether a message in the provider's JSON contains reasoning, such as a field `reasoning_content`
/// or a block of the type `thinking`. The arguments of calls are ignored.
fn has_reasoning(json: &Value) -> bool {
    match json {
        Value::Array(items) => items.iter().any(has_reasoning),
        Value::Object(fields) => fields.iter().any(|(name, value)| is_reasoning_field(name, value)),
        _ => false,
    }
}

fn is_reasoning_field(name: &str, value: &Value) -> bool {
    match name {
        "type" => value.as_str().is_some_and(is_reasoning),
        "input" | "args" | "arguments" => false,
        _ if is_reasoning(name) => !matches!(value, Value::Null | Value::Bool(false)) && value != "",
        _ => has_reasoning(value),
    }
}

fn is_reasoning(name: &str) -> bool {
    ["reasoning", "thinking", "redacted_thinking", "thought"].iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolkit_llm::NativeMessages;

    #[test]
    fn reasoning_is_sent_back_only_in_native_messages() {
        let cases = [
            (None, false),
            (Some(json!({"role": "assistant", "content": "Yes."})), false),
            (Some(json!({"role": "assistant", "content": "Yes.", "reasoning_content": ""})), false),
            (Some(json!({"role": "assistant", "content": "Yes.", "reasoning_content": "Hm."})), true),
            (Some(json!({"role": "assistant", "content": "Yes.", "thinking": "Hm."})), true),
            (Some(json!({"role": "assistant", "content": [{"type": "thinking", "signature": "s"}]})), true),
            (
                Some(json!({"role": "assistant", "content": [{"type": "redacted_thinking", "data": "s"}]})),
                true,
            ),
            (
                Some(
                    json!({"role": "assistant", "content": [{"type": "tool_use", "input": {"thinking": "Hm."}}]}),
                ),
                false,
            ),
            (Some(json!({"type": "reasoning", "encrypted_content": "s"})), true),
            (Some(json!({"type": "message", "content": [{"type": "output_text", "text": "Hm."}]})), false),
            (Some(json!({"role": "model", "parts": [{"text": "Hm.", "thought": true}]})), true),
            (
                Some(
                    json!({"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "s"}]}),
                ),
                true,
            ),
        ];
        for (native, expected) in cases {
            let mut message = AssistantMessage::text("Yes.");
            message.reasoning = "Hm. ".repeat(100);
            message.native = native.clone().map(|native| NativeMessages::new("any", vec![native]));
            assert_eq!(keeps_reasoning(&message), expected, "{native:?}");
            let message = Message::Assistant(message);
            let counted = without_unsent_reasoning(Cow::Borrowed(&message));
            assert_eq!(*counted == message, expected, "{native:?}");
        }
    }
}
