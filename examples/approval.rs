//! Permissions: rules allow or deny calls, and a human approves the rest.
//!
//! Run `cargo run --example approval`.

#![allow(clippy::print_stdout)]

use std::time::Duration;
use toolkit_ai::ToolTag;
use toolkit_ai::middleware::{Approval, ApprovalRequest, PermissionRule, Permissions};
use toolkit_ai::prelude::*;
use toolkit_ai::serde_json::json;

/// List the files of a folder.
#[tool(namespace = "fs", read_only)]
fn list(folder: String) -> Vec<String> {
    vec![format!("{folder}/notes.txt")]
}

/// Delete a file.
#[tool(namespace = "fs", destructive, lane = "path")]
fn delete(path: String) -> String {
    format!("{path} is gone")
}

/// Decides, where a desktop program would show a dialogue.
async fn ask_the_user(question: ApprovalRequest) -> Approval {
    println!("? {} with {}: {}", question.request.definition().name, question.arguments, question.reason);
    match question.arguments["path"].as_str() {
        Some("/home/ada/notes.txt") => Approval::Approve,
        Some("/home/ada") => Approval::Change(json!({"path": "/home/ada/notes.txt"})),
        _ => Approval::Deny("the user said no; ask the user for the right file".to_owned()),
    }
}

#[tokio::main]
async fn main() -> Result<(), BuildError> {
    let outside = "only files in /home/ada may be deleted";
    let unanswered = Approval::Deny("the user did not answer in time".to_owned());
    let permissions = Permissions::new()
        .rule(PermissionRule::deny(outside).for_tool("fs-delete")?.when(|_, arguments| {
            !arguments["path"].as_str().is_some_and(|path| path.starts_with("/home/ada"))
        }))
        .rule(PermissionRule::allow().for_tag(ToolTag::ReadOnly))
        .rule(PermissionRule::ask("it cannot be undone").for_tag(ToolTag::Destructive))
        .with_handler(ask_the_user)
        .with_patience(Duration::from_secs(60), unanswered);
    let registry = ToolRegistry::from_tools(tools![list, delete])?;
    let dispatcher = Dispatcher::new(registry)?.with_middleware(permissions);
    let paths = ["/home/ada/notes.txt", "/home/ada", "/home/ada/other", "/etc/passwd"];
    let mut calls = vec![ToolCall::new("call_0", "fs-list", r#"{"folder": "/home/ada"}"#)];
    calls.extend(paths.map(|path| ToolCall::new(path, "fs-delete", json!({ "path": path }).to_string())));
    for result in dispatcher.dispatch(calls).await {
        println!("{}: {}", result.call_id, result.to_text());
    }
    Ok(())
}
