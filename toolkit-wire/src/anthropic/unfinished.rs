//! Removes calls of the service's own tools from a history if the service can no longer finish them.
//!
//! The service leaves such a call without a result if it pauses a turn, if the output limit cuts the turn off,
//! or if the model also calls tools of the program. The service then continues the turn from a request that
//! ends with it. If anything else follows, it refuses the request: "tool use with id … was found without a
//! corresponding `web_search_tool_result` block".

use super::history::ends_with_thinking;
use crate::fields::{list, text};
use serde_json::Value;
use std::collections::HashSet;
use toolkit_schema::SchemaLoss;

/// Removes the calls of the service's own tools that have no result and are before new input, and the results
/// without a call. A call of the program's tools whose code was removed becomes a direct call.
pub(super) fn remove(mut history: Vec<Value>, losses: &mut Vec<SchemaLoss>) -> Vec<Value> {
    let start = history.iter().rposition(is_input).unwrap_or_default();
    let (mut called, mut finished) = (HashSet::new(), HashSet::new());
    for block in history.iter().filter(|message| is_of_model(message)).flat_map(|said| list(said, "content"))
    {
        let answered = text(block, "tool_use_id");
        if is_hosted(block, "tool_use") {
            called.insert(text(block, "id").to_owned());
        } else if is_hosted(block, "tool_result") && called.contains(answered) {
            finished.insert(answered.to_owned());
        }
    }
    let mut known: HashSet<String> = HashSet::new();
    for (index, message) in history.iter_mut().enumerate().filter(|(_, message)| is_of_model(message)) {
        let Some(Value::Array(blocks)) = message.get_mut("content") else { continue };
        let mut lose = |kind: &str, reason| losses.push(SchemaLoss::new(format!("/{index}"), kind, reason));
        let before = blocks.len();
        blocks.retain_mut(|block| {
            let caller = block.get("caller").map_or("", |caller| text(caller, "tool_id"));
            if !caller.is_empty() && !known.contains(caller) {
                if let Some(fields) = block.as_object_mut() {
                    fields.shift_remove("caller");
                }
                lose("caller", CODE_IS_MISSING);
            }
            let kind = text(block, "type");
            if is_hosted(block, "tool_use") {
                let id = text(block, "id");
                let is_kept = index >= start || finished.contains(id);
                match is_kept {
                    true => drop(known.insert(id.to_owned())),
                    false => lose(kind, IS_UNFINISHED),
                }
                return is_kept;
            }
            let is_kept = !is_hosted(block, "tool_result") || known.contains(text(block, "tool_use_id"));
            if !is_kept {
                lose(kind, "the call of this result is missing");
            }
            is_kept
        });
        while blocks.len() < before && ends_with_thinking(blocks) {
            blocks.pop();
        }
    }
    let is_empty =
        |message: &Value| message.get("content").and_then(Value::as_array).is_some_and(Vec::is_empty);
    history.retain(|message| !(is_of_model(message) && is_empty(message)));
    history
}

const IS_UNFINISHED: &str = "the provider has not finished this call, and cannot finish it after new input";
const CODE_IS_MISSING: &str = "the code that made this call is missing, so it is sent as a call of the model";

fn is_of_model(message: &Value) -> bool {
    text(message, "role") == "assistant"
}

/// Returns whether a message contains new input: anything except the model's messages and results of calls.
fn is_input(message: &Value) -> bool {
    let content = list(message, "content");
    let is_result = |block: &Value| text(block, "type") == "tool_result";
    !is_of_model(message) && (content.is_empty() || !content.iter().all(is_result))
}

/// Returns whether a block is a call (`tool_use`) or a result (`tool_result`) of a tool that the service runs
/// itself. The types of such blocks end with these words.
fn is_hosted(block: &Value, word: &str) -> bool {
    text(block, "type").strip_suffix(word).is_some_and(|before| !before.is_empty())
}
