//! The client for a matrix of servers. It connects to a server, encodes its tools for each API, checks arguments and
//! calls tools, and prints everything as one JSON document.
//!
//! `conformance_matrix FILE` reads the job: `{"command": […], "environment": {…}, "checks": {TOOL: [ARGUMENTS…]}, "calls":
//! {TOOL: [ARGUMENTS…]}}`.

#![allow(clippy::print_stdout)]

use futures_util::stream::{self, StreamExt};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use toolkit_ai::llm::ApiFormat;
use toolkit_ai::{ToolError, ToolProvider, ToolRegistry};
use toolkit_mcp::client::{ElicitationAnswer, ElicitationRequest, McpClient, McpCommand};

/// The number of calls at the same time.
const CALLS: usize = 8;

/// Arguments by the name of the tool.
type Arguments = BTreeMap<String, Vec<Value>>;

#[derive(serde::Deserialize)]
struct Job {
    command: Vec<String>,
    environment: BTreeMap<String, String>,
    folder: PathBuf,
    checks: Arguments,
    calls: Arguments,
    /// The limit for one call, in seconds.
    seconds: u64,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Some(file) = std::env::args().nth(1) else {
        println!("usage: conformance_matrix FILE");
        return Ok(());
    };
    let job: Job = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let (program, arguments) = job.command.split_first().ok_or("the command is empty")?;
    let mut command = McpCommand::new(program).args(arguments).current_dir(&job.folder);
    for (name, value) in &job.environment {
        command = command.env(name, value);
    }
    let client = McpClient::builder(command)
        .call_timeout(Duration::from_secs(job.seconds))
        .elicitation(|_: ElicitationRequest| async { ElicitationAnswer::Decline })
        .connect()
        .await?;
    let mut registry = ToolRegistry::new();
    registry.register_provider(client.clone())?;
    let formats: Map<String, Value> =
        ApiFormat::ALL.iter().map(|format| (format.name().to_owned(), encoded(&registry, *format))).collect();
    let server = client.server_info();
    let document = json!({
        "server": {"name": server.name, "version": server.version, "protocol": server.protocol},
        "tools": client.tools().iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(),
        "issues": client.issues().iter().map(ToString::to_string).collect::<Vec<_>>(),
        "formats": formats,
        "refused": refused(&registry, &job.checks),
        "calls": called(&registry, &job.calls).await,
    });
    println!("{document}");
    client.close().await;
    Ok(())
}

/// Returns the definitions for one API and their report.
fn encoded(registry: &ToolRegistry, format: ApiFormat) -> Value {
    let definitions = registry.definitions(format);
    let report = definitions.report();
    let losses = report.losses.iter().map(|loss| {
        json!({"tool": loss.tool, "path": loss.loss.path, "keyword": loss.loss.keyword, "reason": loss.loss.reason})
    });
    let renamed = report.renamed.iter().map(
        |parameter| json!({"tool": parameter.tool, "name": parameter.name, "spelling": parameter.spelling}),
    );
    json!({
        "definitions": definitions.value(),
        "losses": losses.collect::<Vec<_>>(),
        "renamed": renamed.collect::<Vec<_>>(),
        "limits": report.limits.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn failed(error: &ToolError) -> Value {
    json!({"kind": error.kind().as_str(), "message": error.message()})
}

/// Returns the valid arguments that are refused before a call.
fn refused(registry: &ToolRegistry, checks: &Arguments) -> Vec<Value> {
    let calls = checks.iter().flat_map(|(tool, values)| values.iter().map(move |value| (tool, value)));
    let refused = calls.filter_map(|(tool, value)| {
        let error = registry.validate(tool, &value.to_string()).err()?;
        Some(json!({"tool": tool, "arguments": value, "error": failed(&error)}))
    });
    refused.collect()
}

/// Calls the tools, and returns the result of each call, in the order of the calls.
async fn called(registry: &ToolRegistry, calls: &Arguments) -> Vec<Value> {
    let calls = calls.iter().flat_map(|(tool, values)| values.iter().map(move |value| (tool, value)));
    let results = calls.map(|(tool, arguments)| async move {
        let result = match registry.call(tool, &arguments.to_string()).await {
            Ok(output) => json!({"text": output.to_text()}),
            Err(error) => json!({"error": failed(&error)}),
        };
        json!({"tool": tool, "arguments": arguments, "result": result})
    });
    stream::iter(results).buffered(CALLS).collect().await
}
