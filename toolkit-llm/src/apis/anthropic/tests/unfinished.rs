//! Tests of the service's own tools whose calls have no results, and of the program's tools called by the service's
//! code.

mod properties;

use crate::ApiFormat::Anthropic;
use serde_json::{Map, Value, json};
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

/// Repairs the messages `history` of a request that names `container`.
fn repaired_in(container: &Value, history: &[Value]) -> (Vec<Value>, Vec<SchemaLoss>) {
    let fields = [("messages".to_owned(), json!(history)), ("container".to_owned(), container.clone())];
    let mut body = Map::from_iter(fields);
    let losses = Anthropic.repair_request(&mut body);
    assert_eq!((body.len(), &body["container"]), (2, container));
    (body["messages"].as_array().cloned().unwrap(), losses)
}
