//! The JSON for each provider, to check against the providers' own types.
//!
//! `cargo run --features translate --example wire_dump` prints definitions, choice and history of some tools
//! in all formats, and with `--hosted` the providers' own tools. `wire_dump [--strict] [--json-schema]
//! [--standard] FILE.jsonl FOLDER` reads lines `{"tools": [{name, description, parameters}], "calls": [{name,
//! arguments}]}`, and writes such documents into the folder. `wire_dump --replay FILE.jsonl [CUTS]` prints
//! what codecs make of recorded exchanges.

#![allow(clippy::print_stdout)]

mod conversation;
mod hosted;
mod own;
mod replay;
mod round_trip;

use conversation::{Conversation, Turn};
use std::collections::HashSet;
use std::error::Error;
use std::path::Path;
use std::{env, fs};
use toolkit_ai::llm::DefinitionOptions;
use toolkit_ai::llm::StrictTools;
use toolkit_ai::serde_json::{self, Value};
use toolkit_ai::{ToolCall, ToolDefinition, ToolName, ToolOutput, ToolResult};

/// The most tools in a document; providers accept 128.
const MOST_TOOLS: usize = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let mut options = DefinitionOptions::default();
    let mut paths = Vec::new();
    let mut hosted = false;
    let mut recorded = false;
    for argument in env::args().skip(1) {
        match argument.as_str() {
            "--strict" => options = options.with_strict(StrictTools::All),
            "--hosted" => hosted = true,
            "--replay" => recorded = true,
            "--standard" => options = options.with_standard_fields(true),
            "--json-schema" => options = options.with_json_schema(true),
            _ => paths.push(argument),
        }
    }
    match paths.as_slice() {
        [file] if recorded => replay::print(file, 0)?,
        [file, cuts] if recorded => replay::print(file, cuts.parse()?)?,
        [] if hosted => println!("{}", hosted::conversation()?.to_json(&options)),
        [] => println!("{}", own::conversation().to_json(&options)),
        [file, folder] => dump(Path::new(file), Path::new(folder), &options)?,
        _ => {
            return Err(
                "usage: wire_dump [--strict] [--json-schema] [--standard] [FILE.jsonl FOLDER], or wire_dump \
                --replay FILE.jsonl [CUTS]"
                    .into(),
            );
        }
    }
    Ok(())
}

/// Writes documents for consecutive lines with distinct tool names.
fn dump(file: &Path, folder: &Path, options: &DefinitionOptions) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let mut conversations = vec![Conversation::default()];
    let mut skipped = 0;
    for (number, line) in fs::read_to_string(file)?.lines().enumerate() {
        let Some((tools, turn)) = read(number, &serde_json::from_str(line)?) else {
            skipped += 1;
            continue;
        };
        if !conversations.last().is_some_and(|conversation| has_room(conversation, &tools)) {
            conversations.push(Conversation::default());
        }
        if let Some(conversation) = conversations.last_mut() {
            conversation.tools.extend(tools);
            conversation.turns.push(turn);
        }
    }
    for (number, conversation) in conversations.iter().enumerate() {
        let path = folder.join(format!("{stem}_{number:03}.json"));
        fs::write(path, conversation.to_json(options).to_string())?;
    }
    println!("{stem}: {} documents, {skipped} lines without a legal tool name skipped", conversations.len());
    Ok(())
}

fn has_room(conversation: &Conversation, tools: &[ToolDefinition]) -> bool {
    let names: HashSet<&str> = conversation.tools.iter().map(|tool| tool.name.as_str()).collect();
    names.len() + tools.len() <= MOST_TOOLS && !tools.iter().any(|tool| names.contains(tool.name.as_str()))
}

/// Returns a line's tools and calls, if all names are legal.
fn read(number: usize, line: &Value) -> Option<(Vec<ToolDefinition>, Turn)> {
    let list = |name: &str| line[name].as_array().into_iter().flatten();
    let tools = list("tools").map(|tool| {
        let name = ToolName::new(tool["name"].as_str()?).ok()?;
        let description = tool["description"].as_str().unwrap_or_default();
        let parameters = tool.get("parameters").filter(|parameters| parameters.is_object())?;
        Some(ToolDefinition::new(name, description, parameters.clone()))
    });
    let calls: Vec<ToolCall> = list("calls")
        .enumerate()
        .map(|(index, call)| {
            let name = call["name"].as_str().unwrap_or_default();
            ToolCall::new(format!("call_{number}_{index}"), name, call["arguments"].to_string())
        })
        .collect();
    let results = calls.iter().map(|call| ToolResult::of(call, Ok(ToolOutput::text("done")))).collect();
    let asks = line["question"].as_str().unwrap_or("Please.").to_owned();
    Some((tools.collect::<Option<_>>()?, Turn { asks, calls, results }))
}
