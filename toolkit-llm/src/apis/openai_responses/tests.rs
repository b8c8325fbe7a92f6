//! Tests of calls, results, histories and streams. The modules of definitions and choices have their own tests.

mod calls;
mod history;
mod properties;
mod results;
mod stream;

use serde_json::{Value, json};

/// Returns a response body with the items `output`.
fn body(output: Value) -> Value {
    json!({"id": "resp_1", "object": "response", "status": "completed", "error": null, "output": output})
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({
        "type": "function_call", "id": format!("fc_{id}"), "call_id": id,
        "name": name, "arguments": arguments, "status": "completed",
    })
}

fn said(text: &str) -> Value {
    json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [
        {"type": "output_text", "text": text, "annotations": []},
    ]})
}

fn thought() -> Value {
    json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"})
}
