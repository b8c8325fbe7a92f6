//! What documents become: `document_tools [--lines FILE] [--issues] DOCUMENT…` prints a line of JSON for each document, with
//! the numbers of tools, issues and losses, the time and the memory. `--lines` also writes a line for each tool, as
//! `examples/wire_dump` reads them; `--issues` prints the issues.

#![allow(clippy::print_stdout)]

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::time::Instant;
use std::{env, fs};
use toolkit_ai::ToolRegistry;
use toolkit_ai::llm::ApiFormat;
use toolkit_openapi::client::OpenApiTools;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1).peekable();
    let mut lines = None;
    let mut has_issues = false;
    while let Some(option) = arguments.next_if(|argument| argument.starts_with("--")) {
        match option.as_str() {
            "--lines" => lines = Some(fs::File::create(arguments.next().ok_or("`--lines` needs a file")?)?),
            "--issues" => has_issues = true,
            other => return Err(format!("unknown option `{other}`").into()),
        }
    }
    for path in arguments {
        let start = Instant::now();
        let toolset = OpenApiTools::from_file(&path)?;
        let read = start.elapsed();
        let registry = toolset.registry()?;
        let memory = peak_memory();
        let issues: Vec<String> = toolset.issues().iter().map(ToString::to_string).collect();
        let document = json!({
            "document": path, "tools": toolset.len(), "issues": issues.len(), "seconds": read.as_secs_f64(),
            "seconds_with_registry": start.elapsed().as_secs_f64(), "peak_mib": memory,
            "losses": losses(&registry),
        });
        println!("{document}");
        if has_issues {
            issues.iter().for_each(|issue| println!("    {issue}"));
        }
        for tool in registry.iter() {
            let definition = tool.definition();
            let entry = json!({
                "name": definition.name.as_str(), "description": definition.description,
                "parameters": definition.parameters,
            });
            if let Some(lines) = &mut lines {
                writeln!(lines, "{}", json!({"tools": [entry], "calls": []}))?;
            }
        }
    }
    Ok(())
}

/// Returns the number of lost keywords in each API form.
fn losses(registry: &ToolRegistry) -> Value {
    let mut registry = registry.clone();
    registry.disable_tool_search();
    let mut found: BTreeMap<&str, BTreeMap<String, usize>> = BTreeMap::new();
    for &format in ApiFormat::ALL {
        for loss in &registry.definitions(format).report().losses {
            *found.entry(format.name()).or_default().entry(loss.loss.keyword.clone()).or_default() += 1;
        }
    }
    json!(found)
}

/// Returns the largest amount of memory that the process has used, in MiB; 0 where the system does not tell.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|peak| peak.trim().split(' ').next()?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() / 1024
}
