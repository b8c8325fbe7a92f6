//! Tools known only at run time: their schemas come from text, as from a server or a file.
//!
//! Run `cargo run --example dynamic --features jsonschema`, without network or key.

#![allow(clippy::print_stdout)]

use toolkit_ai::prelude::*;
use toolkit_ai::serde_json::{self, Value};
use toolkit_ai::{ClosureTool, DynamicTool};

const LISTED: &str = r#"[
    {"name": "weather.forecast", "description": "The weather of the next days.", "schema": {
        "type": "object", "required": ["city"], "additionalProperties": false, "properties": {
            "city": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "maximum": 7}, "unit": {"enum": ["celsius", "fahrenheit"]}}}},
    {"name": "sum", "description": "Sums numbers.", "schema": {"type": "array", "items": {"type": "number"}}}
]"#;

/// The arguments of a closure tool.
#[derive(ToolParams)]
struct Add {
    a: i64,
    b: i64,
}

const CALLS: [(&str, &str); 6] = [
    ("weather.forecast", r#"{"city": "Oslo", "days": 3}"#),
    ("weather.forecast", r#"{"town": "Oslo", "days": 9, "unit": "kelvin"}"#),
    ("sum", "[1, 2, 3.5]"),
    ("sum", r#"[1, "2"]"#),
    ("add", r#"{"a": 1, "b": "2"}"#),
    ("add", r#"{"a": "one", "c": 2}"#),
];

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut registry = ToolRegistry::new();
    for mut tool in serde_json::from_str::<Vec<Value>>(LISTED)? {
        let name = tool["name"].as_str().unwrap_or_default().to_owned();
        let description = tool["description"].as_str().unwrap_or_default().to_owned();
        let called = name.clone();
        let schema = tool["schema"].take();
        let answer = move |args: Value| format!("{called} was called with {args}");
        registry.register(DynamicTool::new(&name, description, schema, answer)?)?;
    }
    registry.register(ClosureTool::new("add", "Adds.", |Add { a, b }: Add| async move { a + b })?)?;

    let calls = CALLS.iter().map(|(name, arguments)| ToolCall::new("call", *name, *arguments));
    for (result, (_, arguments)) in Dispatcher::new(registry)?.dispatch(calls).await.iter().zip(CALLS) {
        println!("{} {arguments}", result.name);
        match &result.outcome {
            Ok(output) => println!("  ✓ {}\n", output.to_text()),
            Err(error) => println!("  ✗ {}\n", error.message().replace('\n', "\n    ")),
        }
    }
    let wrong = serde_json::json!({"type": "object", "properties": {"city": {"type": "text"}}});
    if let Err(error) = DynamicTool::new("wrong", "", wrong, |_: Value| ()) {
        println!("{error}");
    }
    Ok(())
}
