//! Writes steps for the next request, and repairs histories.

use super::call::{self, is_call};
use super::{FACTS, GeminiInteractions, media};
use crate::call::{Message, OutgoingCall, id};
use crate::codec::{HistoryCodec, RepairCodec};
use crate::fields::{set, text};
use crate::pairing::{Entry, Key, NO_OUTPUT};
use crate::result_rule::{ResultPlace, ResultRule};
use serde_json::{Value, json};
use toolkit_core::output::Content;

impl HistoryCodec for GeminiInteractions {
    fn write_call(&self, call: OutgoingCall<'_>) -> Value {
        let mut step = call.fields(FACTS.name);
        set(&mut step, "type", "function_call");
        set(&mut step, "id", call.id);
        set(&mut step, "name", call.name);
        set(&mut step, "arguments", call.arguments.into_object());
        step.into()
    }

    /// Copies a received step into the next request. Steps with the user's input or the result of a function
    /// are dropped, because the history already contains them.
    fn write_part(&self, step: &Value) -> Option<Value> {
        let is_dropped = matches!(text(step, "type"), "" | "user_input" | "function_result");
        (!is_dropped).then(|| step.clone())
    }

    fn write_message(&self, _message: &Message<'_>, steps: Vec<Value>) -> Vec<Value> {
        steps
    }

    fn encode_assistant(&self, text: &str, calls: Vec<Value>) -> Vec<Value> {
        let text = Some(text).filter(|text| !text.is_empty());
        let output =
            text.map(|text| json!({"type": "model_output", "content": [{"type": "text", "text": text}]}));
        output.into_iter().chain(calls).collect()
    }

    fn encode_user(&self, contents: &[Content]) -> Value {
        let content: Vec<Value> = contents.iter().map(media::block).collect();
        json!({"type": "user_input", "content": content})
    }
}

pub(super) const RESULTS: ResultRule = ResultRule { place: ResultPlace::AfterCall, ..ResultRule::PLAIN };

impl RepairCodec for GeminiInteractions {
    fn entries<'a>(&self, step: &'a Value) -> Vec<(usize, Entry<'a>)> {
        let entry = match text(step, "type") {
            "function_result" => Some(Entry::Result(Key::of_id(id(step.get("call_id"))), step)),
            _ => is_call(step).then(|| Entry::Call(Key::of_id(call::read(step, false).id), step)),
        };
        entry.into_iter().map(|entry| (0, entry)).collect()
    }

    fn placeholder(&self, call: &Value, key: &Key<'_>) -> Value {
        result(key.id.as_deref().unwrap_or_default(), text(call, "name"), NO_OUTPUT.into(), false)
    }
}

/// Creates a step of the type `function_result`.
pub(super) fn result(id: &str, name: &str, result: Value, is_error: bool) -> Value {
    let mut step = json!({"type": "function_result", "call_id": id, "name": name, "result": result});
    if is_error {
        step["is_error"] = true.into();
    }
    step
}
