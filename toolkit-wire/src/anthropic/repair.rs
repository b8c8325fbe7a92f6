//! Repairs histories: each call gets its result.

use super::Anthropic;
use super::history::is_blank;
use super::media::text_block;
use crate::call::text;
use crate::codec::RepairCodec;
use crate::pairing::{Entry, Key, NO_OUTPUT, Pair, pair, parts, without_results};
use serde_json::{Value, json};
use std::collections::HashMap;

impl RepairCodec for Anthropic {
    /// Moves results to their place. The service wants those of all calls of a message at the beginning of the
    /// next one, and no others. It reads neighbouring messages of the user as one.
    fn repair_history(&self, history: Vec<Value>) -> Vec<Value> {
        let turns: Vec<Turn> = pair(&history, entries).into_iter().map(Turn::new).collect();
        let mut repaired = Vec::with_capacity(history.len());
        let mut messages = history.into_iter().zip(turns).peekable();
        while let Some((message, turn)) = messages.next() {
            let mut replies = Vec::new();
            match is_from(&message, "user") {
                true => replies.push(message),
                false => repaired.push(message),
            }
            while let Some((reply, _)) = messages.next_if(|(next, _)| is_from(next, "user")) {
                replies.push(reply);
            }
            match turn.is_answered(&replies) {
                true => repaired.extend(replies),
                false => repaired.extend(turn.answer(replies)),
            }
        }
        repaired
    }
}

/// The ids of a message's calls, and a result for each.
struct Turn {
    ids: Vec<String>,
    results: Vec<Value>,
}

impl Turn {
    fn new(pairs: Vec<Pair<'_>>) -> Self {
        let ids: Vec<String> = pairs.iter().map(|pair| text(pair.call, "id").to_owned()).collect();
        let results = pairs.iter().zip(&ids).map(|(pair, id)| match pair.result {
            Some((_, result)) => result.clone(),
            None => json!({"type": "tool_result", "tool_use_id": id, "content": NO_OUTPUT}),
        });
        Self { results: results.collect(), ids }
    }

    /// Returns whether the replies begin with exactly the results of the calls, in any order.
    fn is_answered(&self, replies: &[Value]) -> bool {
        let mut waiting: HashMap<&str, usize> = HashMap::new();
        for id in &self.ids {
            *waiting.entry(id).or_default() += 1;
        }
        let mut left = self.ids.len();
        for reply in replies {
            // A message without a list of blocks holds a text.
            if left > 0 && reply.get("content").is_some_and(|content| !content.is_array()) {
                return false;
            }
            for block in parts(reply, "content") {
                match (is_result(block), left) {
                    (false, 0) => {}
                    (false, _) => return false,
                    (true, _) => match waiting.get_mut(text(block, "tool_use_id")) {
                        Some(count @ 1..) => {
                            *count -= 1;
                            left -= 1;
                        }
                        _ => return false,
                    },
                }
            }
        }
        left == 0
    }

    /// Returns the replies with the results at their beginning and nowhere else.
    fn answer(self, replies: Vec<Value>) -> Vec<Value> {
        let without_results = |reply| without_results(reply, "content", is_result).0;
        let mut replies: Vec<Value> = replies.into_iter().filter_map(without_results).collect();
        match replies.first_mut() {
            _ if self.results.is_empty() => {}
            Some(first) => prepend(self.results, first),
            None => replies.push(json!({"role": "user", "content": self.results})),
        }
        replies
    }
}

fn prepend(mut blocks: Vec<Value>, message: &mut Value) {
    match message.get_mut("content").map(Value::take) {
        Some(Value::Array(rest)) => blocks.extend(rest),
        Some(Value::String(text)) if !is_blank(&text) => blocks.push(text_block(&text)),
        _ => {}
    }
    message["content"] = blocks.into();
}

fn is_from(message: &Value, role: &str) -> bool {
    message.get("role").is_some_and(|given| given == role)
}

fn is_result(block: &Value) -> bool {
    text(block, "type") == "tool_result"
}

fn by_id(id: &str) -> Key<'_> {
    Key { id: Some(id.into()), name: None }
}

/// Lists the calls and results of a message. A result that names no call answers none.
fn entries(message: &Value) -> Vec<Entry<'_>> {
    let (is_model, is_user) = (is_from(message, "assistant"), is_from(message, "user"));
    let entries = parts(message, "content").iter().filter_map(|block| match text(block, "type") {
        "tool_use" if is_model => Some(Entry::Call(by_id(block.get("id")?.as_str()?), block)),
        "tool_result" if is_user => Some(Entry::Result(by_id(text(block, "tool_use_id")), block)),
        _ => None,
    });
    entries.collect()
}
