//! Readable definitions, calls, results and messages.

#![allow(clippy::print_stdout)]

use std::fs;
use std::path::Path;
use toolkit_ai::llm::Definitions;
use toolkit_ai::serde_json::{self, Value};
use toolkit_ai::{ToolCall, ToolResult};

pub(crate) fn recorded_responses() -> Result<Vec<(String, Value)>, Box<dyn std::error::Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data");
    let mut files = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    files.sort_by_key(fs::DirEntry::path);
    let mut responses = Vec::new();
    for file in files {
        let title = file.path().file_stem().unwrap_or_default().to_string_lossy().replace('_', " ");
        responses.push((title, serde_json::from_str(&fs::read_to_string(file.path())?)?));
    }
    Ok(responses)
}

pub(crate) fn heading(title: &str) {
    println!("\n━━ response: {title} {}", "━".repeat(66_usize.saturating_sub(title.len())));
}

pub(crate) fn definitions(definitions: &Definitions) {
    let tools = definitions.to_value();
    let tools = tools.as_array().map(Vec::as_slice).unwrap_or_default();
    println!("Definitions sent to the model ({} tools, {} bytes):", tools.len(), definitions.as_json().len());
    for tool in tools {
        let function = &tool["function"];
        println!("\n  {} — {}", text(&function["name"]), text(&function["description"]));
        members(&function["parameters"], 3);
    }
    println!("\nOne of them as JSON:\n  {}", tools.first().unwrap_or(&Value::Null));
}

/// Prints an object's members, nested ones indented.
fn members(schema: &Value, depth: usize) {
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let presence = match (required.iter().any(|required| required == name), property.get("default")) {
            (true, _) => ", required".to_owned(),
            (false, Some(default)) => format!(", default {default}"),
            (false, None) => String::new(),
        };
        let kind = match property["enum"].as_array() {
            Some(values) => values.iter().map(Value::to_string).collect::<Vec<_>>().join(" | "),
            None => text(&property["type"]).to_owned(),
        };
        let note = property["description"].as_str().map(|note| format!(" — {note}")).unwrap_or_default();
        println!("{:indent$}{name}: {kind}{presence}{note}", "", indent = depth * 2);
        members(property, depth + 1);
        members(&property["items"], depth + 1);
    }
}

pub(crate) fn calls(calls: &[ToolCall]) {
    println!("  The model asks for:");
    for call in calls {
        println!("    {} {}", call.name, one_line(call.arguments.as_str()));
    }
}

pub(crate) fn results(results: &[ToolResult]) {
    println!("  Results:");
    for result in results {
        let (mark, text) = match &result.outcome {
            Ok(output) => ("✓", output.to_text().into_owned()),
            Err(error) => ("✗", error.message().to_owned()),
        };
        let milliseconds = result.duration.as_secs_f64() * 1_000.0;
        println!("    {mark} {:<12} {milliseconds:>8.2} ms  {}", result.name, text.replace('\n', "\n      "));
    }
}

pub(crate) fn messages(messages: &[Value]) {
    println!("  Messages to send back:");
    for message in messages {
        println!("    {}", shortened(&message.to_string()));
    }
}

fn shortened(line: &str) -> String {
    let short: String = line.chars().take(150).collect();
    if short.len() < line.len() { short + "…" } else { short }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
