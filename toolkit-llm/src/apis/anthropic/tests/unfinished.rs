//! Properties of histories with calls of the program's and the service's tools, by the service's error texts.

use crate::facts::ApiFormat::Anthropic;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use toolkit_schema::SchemaLoss;

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn search(id: &str) -> Value {
    json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "rust"}})
}

fn found(id: &str) -> Value {
    json!({"type": "web_search_tool_result", "tool_use_id": id, "content": []})
}

fn code(id: &str) -> Value {
    json!({"type": "server_tool_use", "id": id, "name": "code_execution", "input": {"code": "look()"}})
}

fn ran(id: &str) -> Value {
    json!({"type": "code_execution_tool_result", "tool_use_id": id, "content": {"type": "code_execution_result"}})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "look", "input": {}})
}

fn call_of(id: &str, code: &str) -> Value {
    let caller = json!({"type": "code_execution_20260120", "tool_id": code});
    json!({"type": "tool_use", "id": id, "name": "look", "input": {}, "caller": caller})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "a cat"})
}

fn repaired_in(container: &Value, history: &[Value]) -> (Vec<Value>, Vec<SchemaLoss>) {
    let fields = [("messages".to_owned(), json!(history)), ("container".to_owned(), container.clone())];
    let mut body = Map::from_iter(fields);
    let losses = Anthropic.repair_request(&mut body);
    assert_eq!((body.len(), &body["container"]), (2, container));
    (body["messages"].as_array().cloned().unwrap(), losses)
}

/// Joins adjacent user messages, as the service does.
fn joined(history: &[Value]) -> Vec<Value> {
    let mut messages: Vec<Value> = Vec::new();
    for message in history {
        match messages.last_mut().filter(|last| last["role"] == "user" && message["role"] == "user") {
            Some(last) => {
                let more = message["content"].as_array().cloned().unwrap();
                last["content"].as_array_mut().unwrap().extend(more);
            }
            None => messages.push(message.clone()),
        }
    }
    messages
}

/// Returns whether all messages from `index` on continue an unfinished turn.
///
/// Such a message contains results of the program's tools, calls or results of the service's own tools, or
/// calls made by the service's code.
fn goes_on(history: &[Value], index: usize) -> bool {
    let blocks = |message: &Value| message["content"].as_array().cloned().unwrap_or_default();
    (index..history.len()).all(|at| {
        let earlier: Vec<Value> = history[..at].iter().flat_map(&blocks).collect();
        let is_pending = |id: &Value| {
            id.is_string()
                && earlier.iter().any(|block| block["type"] == "server_tool_use" && block["id"] == *id)
                && !earlier.iter().any(|block| block["type"] != "tool_result" && block["tool_use_id"] == *id)
        };
        match history[at]["role"].as_str() {
            Some("assistant") => blocks(&history[at]).iter().any(|block| {
                block["type"] == "server_tool_use"
                    || is_pending(&block["tool_use_id"])
                    || is_pending(&block["caller"]["tool_id"])
            }),
            _ => blocks(&history[at]).iter().all(|block| block["type"] == "tool_result"),
        }
    })
}

/// Returns the reason why the service would refuse a history.
fn refusal(history: &[Value], has_container: bool) -> Option<String> {
    let history = joined(history);
    let role = |message: &Value| message["role"].as_str().unwrap_or_default().to_owned();
    let blocks = |message: &Value| message["content"].as_array().cloned().unwrap_or_default();
    let kind = |block: &Value| block["type"].as_str().unwrap_or_default().to_owned();
    let id = |block: &Value, name: &str| block[name].as_str().unwrap_or_default().to_owned();
    let callers: HashSet<String> = history
        .iter()
        .flat_map(&blocks)
        .map(|block| block["caller"]["tool_id"].as_str().unwrap_or_default().to_owned())
        .collect();
    let mut known = HashSet::new();
    for (index, message) in history.iter().enumerate() {
        let next =
            history.get(index + 1).filter(|next| role(next) == "user").map(&blocks).unwrap_or_default();
        let goes_on = goes_on(&history, index + 1);
        let calls: Vec<String> = blocks(message)
            .iter()
            .filter(|block| kind(block) == "tool_use")
            .map(|block| id(block, "id"))
            .collect();
        for block in blocks(message) {
            let caller = block["caller"]["tool_id"].as_str().unwrap_or_default();
            if !caller.is_empty() && !known.contains(caller) {
                return Some(format!("unknown caller {caller}"));
            }
            match kind(&block).as_str() {
                "tool_use" => {
                    let firsts = next.iter().take(calls.len());
                    if !firsts.into_iter().any(|result| result["tool_use_id"] == block["id"]) {
                        return Some(format!("no tool_result for {}", block["id"]));
                    }
                }
                "server_tool_use" => {
                    let is_finished = history[index..]
                        .iter()
                        .flat_map(&blocks)
                        .any(|later| kind(&later) != "tool_result" && later["tool_use_id"] == block["id"]);
                    let is_code = block["name"] == "code_execution"
                        || block["caller"]["tool_id"].is_string()
                        || callers.contains(block["id"].as_str().unwrap_or_default());
                    if !is_finished && (!goes_on || is_code && !has_container) {
                        return Some(format!("no result for {}", block["id"]));
                    }
                    known.insert(id(&block, "id"));
                }
                "tool_result" | "text" => {}
                _ if !known.contains(&id(&block, "tool_use_id")) => {
                    return Some(format!("no use for {block}"));
                }
                _ => {}
            }
        }
        if blocks(message).is_empty() {
            return Some("an empty message".to_owned());
        }
        if role(message) == "user" {
            let asked = index.checked_sub(1).map(|before| blocks(&history[before])).unwrap_or_default();
            let asked: HashSet<String> =
                asked.iter().filter(|block| kind(block) == "tool_use").map(|block| id(block, "id")).collect();
            let replies = blocks(message);
            let count = replies.iter().take_while(|reply| kind(reply) == "tool_result").count();
            let answered: HashSet<String> = replies
                .iter()
                .filter(|reply| kind(reply) == "tool_result")
                .map(|reply| id(reply, "tool_use_id"))
                .collect();
            if answered != asked || count != asked.len() {
                return Some(format!("the results {answered:?} of {asked:?}"));
            }
        }
    }
    None
}

/// Generates histories of short messages with few ids, so that calls and results often match.
fn messages() -> impl Strategy<Value = Vec<Value>> {
    let id = || prop::sample::select(vec!["1", "2", "3"]);
    let block = prop_oneof![
        2 => Just(text("Hello.")),
        2 => id().prop_map(|id| search(&format!("s{id}"))),
        2 => id().prop_map(|id| found(&format!("s{id}"))),
        2 => id().prop_map(|id| code(&format!("c{id}"))),
        2 => id().prop_map(|id| ran(&format!("c{id}"))),
        1 => (id(), id()).prop_map(|(id, code)| {
            let caller = json!({"type": "code_execution_20260120", "tool_id": format!("c{code}")});
            let mut search = search(&format!("s{id}"));
            search["caller"] = caller;
            search
        }),
        1 => id().prop_map(|id| call(&format!("t{id}"))),
        3 => (id(), id()).prop_map(|(id, code)| call_of(&format!("t{id}"), &format!("c{code}"))),
    ];
    let reply = prop_oneof![
        1 => Just(text("More.")),
        2 => id().prop_map(|id| result(&format!("t{id}"))),
    ];
    let message = prop_oneof![
        3 => prop::collection::vec(block, 1..5).prop_map(|content| json!({"role": "assistant", "content": content})),
        2 => prop::collection::vec(reply, 1..4).prop_map(|content| json!({"role": "user", "content": content})),
    ];
    prop::collection::vec(message, 1..7).prop_map(unique)
}

/// Drops every block that repeats the id of an earlier block, which the service never does.
fn unique(mut history: Vec<Value>) -> Vec<Value> {
    let mut seen = HashSet::new();
    for message in &mut history {
        let content = message["content"].as_array_mut().unwrap();
        content.retain(|block| {
            let key = (block["id"].clone().to_string(), block["tool_use_id"].clone().to_string());
            block["type"] == "text" || seen.insert(key)
        });
    }
    history.retain(|message| !message["content"].as_array().unwrap().is_empty());
    history
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Repaired histories are legal, and legal histories unchanged.
    ///
    /// Texts and calls of the program's tools stay.
    #[test]
    fn repaired_histories_are_legal(history in messages(), has_container in any::<bool>()) {
        let container = if has_container { json!("container_1") } else { Value::Null };
        let repaired = |history: &[Value]| repaired_in(&container, history);
        let is_kept = |block: &Value| matches!(block["type"].as_str(), Some("text" | "tool_use"));
        let kept = |history: &[Value]| -> Vec<Value> {
            let blocks = history.iter().flat_map(|message| message["content"].as_array().unwrap());
            blocks.filter(|block| is_kept(block)).map(|block| json!([block["id"], block["text"]])).collect()
        };
        let (messages, losses) = repaired(&history);
        prop_assert_eq!(refusal(&messages, has_container), None, "{}", json!(messages));
        prop_assert_eq!(kept(&messages), kept(&history));
        prop_assert_eq!(repaired(&messages), (messages.clone(), Vec::new()));
        if refusal(&history, has_container).is_none() {
            prop_assert_eq!(&messages, &history);
            prop_assert_eq!(losses, Vec::new());
        }
    }
}
