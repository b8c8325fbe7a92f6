//! Histories in which the content after one with calls answers all of them, in their order.

use super::Gemini;
use super::call::read as read_call;
use super::results::WireResult;
use super::spelling::Fields;
use crate::call::text;
use crate::codec::RepairCodec;
use crate::pairing::{Entry, Key, NO_OUTPUT, Pair, pair, parts, user_message, without_results};
use serde_json::{Value, json};

impl RepairCodec for Gemini {
    /// Moves results to the content after their calls, adds missing ones, and removes those without a call.
    fn repair_history(&self, history: Vec<Value>) -> Vec<Value> {
        let turns: Vec<Turn> = pair(&history, entries).into_iter().map(Turn::new).collect();
        let mut repaired = Vec::with_capacity(history.len());
        let mut contents = history.into_iter().zip(turns).peekable();
        while let Some((content, turn)) = contents.next() {
            let mut replies = Vec::new();
            match is_models(&content) {
                true if turn.0.is_empty() => repaired.extend(without_results(content, "parts", is_result).0),
                true => repaired.push(content),
                false => replies.push(content),
            }
            while let Some((reply, _)) = contents.next_if(|(next, _)| !is_models(next)) {
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

/// The results of a content's calls, in their order.
struct Turn(Vec<Value>);

impl Turn {
    fn new(pairs: Vec<Pair<'_>>) -> Self {
        let results = pairs.into_iter().map(|pair| match pair.result {
            Some((_, result)) => result.clone(),
            None => no_output(&pair.key),
        });
        Self(results.collect())
    }

    fn is_answered(&self, replies: &[Value]) -> bool {
        let results = |content| parts(content, "parts").iter().filter(|part| is_result(part));
        match replies.split_first() {
            None => self.0.is_empty(),
            Some((first, later)) => {
                results(first).eq(&self.0) && later.iter().all(|content| results(content).next().is_none())
            }
        }
    }

    /// Returns the replies with the results at their beginning and nowhere else. Other parts beside them stay
    /// beside them.
    fn answer(mut self, replies: Vec<Value>) -> Vec<Value> {
        let mut rest = Vec::with_capacity(replies.len());
        for (index, content) in replies.into_iter().enumerate() {
            match without_results(content, "parts", is_result) {
                (Some(mut content), true) if index == 0 && !self.0.is_empty() => {
                    if let Some(Value::Array(parts)) = content.get_mut("parts") {
                        self.0.append(parts);
                    }
                }
                (content, _) => rest.extend(content),
            }
        }
        user_message("parts", self.0).into_iter().chain(rest).collect()
    }
}

fn no_output(call: &Key<'_>) -> Value {
    let mut result = Fields::new();
    if let Some(id) = &call.id {
        result.insert("id".to_owned(), id.as_ref().into());
    }
    result.insert("name".to_owned(), call.name.into());
    result.insert("response".to_owned(), json!({"output": NO_OUTPUT}));
    json!({"functionResponse": result})
}

fn is_models(content: &Value) -> bool {
    text(content, "role") == "model"
}

fn is_result(part: &Value) -> bool {
    WireResult::of(part).is_some()
}

fn entries(content: &Value) -> Vec<Entry<'_>> {
    let is_models = is_models(content);
    let calls = parts(content, "parts").iter().filter(|_| is_models).filter_map(|part| {
        let call = read_call(part, false)?;
        Some(Entry::Call(Key { id: call.id, name: Some(call.name) }, part))
    });
    let results = parts(content, "parts")
        .iter()
        .filter(|_| !is_models)
        .filter_map(|part| Some(Entry::Result(WireResult::of(part)?.key(), part)));
    calls.chain(results).collect()
}
