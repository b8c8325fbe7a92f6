//! Tests of calls, results, histories and streams. The modules of definitions and choices have their own tests.

mod properties;

use serde_json::{Value, json};

/// Returns a response body with the items `output`.
fn body(output: Value) -> Value {
    json!({"id": "resp_1", "object": "response", "status": "completed", "error": null, "output": output})
}
