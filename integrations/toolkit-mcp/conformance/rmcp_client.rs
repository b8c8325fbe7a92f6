//! A client on the official SDK of Rust for the matrix of clients: connects to a server as a child process, lists the
//! tools, and makes the calls of `matrix/stacks.py`. Compiled with the current and with an earlier version.

use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use serde_json::{Map, Value, json};
use std::process::Stdio;
use tokio::process::Command;

/// Each step with the name of a tool and a value for its parameter `region`, if any.
const CALLS: [(&str, &str, Option<&str>); 4] = [
    ("right", "test_custom_header", Some("north")),
    ("wrong", "test_custom_header", None),
    ("image", "test_image_content", None),
    ("error", "test_error_handling", None),
];

/// Returns whether a call failed, its text and its kinds of content.
fn outcome(result: &Value) -> Value {
    let contents = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<&str> = contents.iter().filter_map(|content| content["text"].as_str()).collect();
    let kinds: Vec<&str> = contents.iter().filter_map(|content| content["type"].as_str()).collect();
    json!({"failed": result["isError"] == true, "text": texts.join(" "), "kinds": kinds.join(" ")})
}

/// Runs the client with the server's command, and prints the outcomes.
pub(crate) async fn run(command: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let (program, arguments) = command.split_first().ok_or("the command is empty")?;
    let mut child =
        Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let streams = child.stdout.take().zip(child.stdin.take()).ok_or("the streams are missing")?;
    let client = ().serve(streams).await?;
    let tools = client.list_all_tools().await?;
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    let protocol = client.peer_info().map(|server| server.protocol_version.to_string());
    let mut document = json!({"protocol": protocol, "tools": names});
    for (step, name, region) in CALLS {
        let arguments: Map<String, Value> =
            region.map(|region| ("region".to_owned(), region.into())).into_iter().collect();
        let call = CallToolRequestParams::new(name).with_arguments(arguments);
        document[step] = match client.call_tool(call).await {
            Ok(result) => outcome(&serde_json::to_value(result)?),
            Err(error) => json!({"failed": true, "text": error.to_string(), "kinds": ""}),
        };
    }
    println!("DOCUMENT {document}");
    client.cancel().await?;
    child.kill().await?;
    Ok(())
}
