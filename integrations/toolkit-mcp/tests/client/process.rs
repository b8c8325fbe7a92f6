//! Servers as child processes, which run this test program again.

use super::bare::Bare;
use super::{call, event, within};
use rmcp::service::serve_server;
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use toolkit_ai::ToolProvider;
use toolkit_mcp::McpErrorKind;
use toolkit_mcp::client::{McpBackoff, McpClient, McpCommand, McpEvent};

const MODE: &str = "TOOLKIT_MCP_TEST_SERVER";

/// Serves MCP over standard input and output, if started by a test.
#[tokio::test]
#[ignore = "the server of other tests"]
async fn serve() {
    let Ok(mode) = std::env::var(MODE) else { return };
    eprintln!("starting in mode {mode}");
    match mode.as_str() {
        "crash" => std::process::exit(3),
        "once" => {
            let running = serve_server(Bare::new(), (tokio::io::stdin(), tokio::io::stdout())).await.unwrap();
            tokio::time::sleep(Duration::from_millis(300)).await;
            drop(running);
            std::process::exit(4);
        }
        // A background process outlives the server.
        "parent" => {
            let background = std::process::Command::new("sleep")
                .arg("300")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn();
            eprintln!("background {}", background.unwrap().id());
            let running = serve_server(Bare::new(), (tokio::io::stdin(), tokio::io::stdout())).await.unwrap();
            let _ = running.waiting().await;
        }
        "silent" => std::future::pending::<()>().await,
        // The server ends at each first request except `initialize`.
        "old" => old(),
        // The server ignores the end of its input.
        "stubborn" => {
            let running = serve_server(Bare::new(), (tokio::io::stdin(), tokio::io::stdout())).await.unwrap();
            let _ = running.waiting().await;
            std::future::pending::<()>().await;
        }
        _ => {
            let running = serve_server(Bare::new(), (tokio::io::stdin(), tokio::io::stdout())).await.unwrap();
            let _ = running.waiting().await;
        }
    }
    // The test runner would write to the closed output.
    std::process::exit(0);
}

/// Serves an earlier version by hand.
fn old() {
    let mut is_initialized = false;
    for line in std::io::stdin().lines() {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
        is_initialized |= message["method"] == "initialize";
        if !is_initialized {
            eprintln!("Error: ExpectedInitializeRequest");
            std::process::exit(1);
        }
        let result = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "tools": [],
            "serverInfo": {"name": "old", "version": "1"}});
        if !message["id"].is_null() {
            let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
            std::io::stdout().write_all(format!("{answer}\n").as_bytes()).unwrap();
        }
    }
}

/// Returns the server's program, its arguments, and its mode's variable. The test runner's own output is
/// garbage for the client.
pub(super) fn command_line() -> (PathBuf, [&'static str; 4], &'static str) {
    let arguments = ["--exact", "client::process::serve", "--ignored", "--nocapture"];
    (std::env::current_exe().unwrap(), arguments, MODE)
}

pub(super) fn server(mode: &str) -> McpCommand {
    let (program, arguments, variable) = command_line();
    McpCommand::new(program).args(arguments).env(variable, mode)
}

#[tokio::test]
async fn a_command_is_started_called_and_ended() {
    let builder = McpClient::builder(server("good")).namespace("child");
    let mut events = builder.events();
    let client = within(builder.connect()).await.unwrap();
    assert_eq!(client.tools().len(), 7);
    assert_eq!(
        call(&client, "child-add", &json!({"a": 2, "b": 3}).to_string()).await.unwrap().to_text(),
        "5"
    );
    let line = |event: &McpEvent| match event {
        McpEvent::Stderr { line, .. } => Some(line.clone()),
        _ => None,
    };
    assert_eq!(event(&mut events, line).await, "starting in mode good");
    within(client.close()).await;
}

#[tokio::test]
async fn a_process_that_ends_at_once_is_an_error_with_its_last_words() {
    let error = within(McpClient::builder(server("crash")).name("shop").connect()).await.unwrap_err();
    assert_eq!(error.kind(), McpErrorKind::Connection, "{error}");
    assert!(error.to_string().contains("starting in mode crash"), "{error}");
}

#[tokio::test]
async fn a_program_that_does_not_exist_is_an_error() {
    let command = McpCommand::new("no-such-program-anywhere");
    let error = within(McpClient::builder(command).connect()).await.unwrap_err();
    assert_eq!(error.kind(), McpErrorKind::Start);
    let start = "MCP server `no-such-program-anywhere`: `no-such-program-anywhere` could not be started: ";
    assert!(error.to_string().starts_with(start), "{error}");
}

#[tokio::test]
async fn a_process_that_dies_in_a_call_is_started_again() {
    let backoff = McpBackoff::default().with_first(Duration::from_millis(20));
    let client = within(McpClient::builder(server("once")).backoff(backoff).connect()).await.unwrap();
    let mut events = client.events();
    let error = call(&client, "wait", "{}").await.unwrap_err();
    assert!(error.message().contains("was lost during the call"), "{error}");
    let reason = |event: &McpEvent| match event {
        McpEvent::Disconnected { reason, .. } => Some(reason.clone()),
        _ => None,
    };
    let reason = event(&mut events, reason).await;
    assert_eq!(reason, "the process ended (exit status: 4); its last output: starting in mode once");
    event(&mut events, |event| matches!(event, McpEvent::Reconnected { .. }).then_some(())).await;
    within(client.close()).await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_process_that_does_not_end_is_terminated() {
    let client = within(McpClient::builder(server("stubborn")).connect()).await.unwrap();
    within(client.close()).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_processes_of_a_server_end_with_it() {
    for is_closed in [true, false] {
        let builder = McpClient::builder(server("parent"));
        let mut events = builder.events();
        let client = within(builder.connect()).await.unwrap();
        let background = |event: &McpEvent| match event {
            McpEvent::Stderr { line, .. } => line.strip_prefix("background ").map(str::to_owned),
            _ => None,
        };
        let status = format!("/proc/{}/status", event(&mut events, background).await);
        assert!(std::fs::read_to_string(&status).unwrap().contains("sleep"));
        if is_closed {
            within(client.close()).await;
        }
        drop(client);
        // An orphan stays a zombie if the system's first process does not wait for it.
        let is_running =
            || std::fs::read_to_string(&status).is_ok_and(|status| !status.contains("State:\tZ"));
        within(async {
            while is_running() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
    }
}
