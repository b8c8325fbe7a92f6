//! Printing for people: the definitions, the calls, the results, the messages.

#![allow(clippy::print_stdout)]

use std::fs;
use std::path::Path;
use toolkit::serde_json::{self, Value};
use toolkit::{Definitions, ToolCall, ToolResult};

/// The recorded responses in the order of their names, each with a title.
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
        let description = function["description"].as_str().unwrap_or_default();
        println!("\n  {} — {}", text(&function["name"]), description.lines().next().unwrap_or_default());
        let required = function["parameters"]["required"].as_array();
        for (name, property) in function["parameters"]["properties"].as_object().into_iter().flatten() {
            let is_required =
                required.is_some_and(|required| required.iter().any(|required| required == name));
            let mark = if is_required { "" } else { "?" };
            println!("      {name}{mark}: {property}");
        }
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
        println!("    {message}");
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
