//! A chat page over the AI SDK's UI message stream: streaming, a table of calls, approvals, stop and reload. A smaller page
//! speaks AG-UI. Both run without a build step.
//!
//! `cargo run -p toolkit-frontends --all-features --example chat_page` asks the agent once. With `-- --serve`, the page
//! is served until Ctrl+C. With `-- --serve FOLDER`, conversations are files in this folder.

#![allow(clippy::print_stdout, reason = "the program shows what a page hears")]

#[path = "chat_page/scenes.rs"]
mod scenes;

use axum::Router;
use axum::response::Html;
use axum::routing::get;
use std::error::Error;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use toolkit_agent::Sessions;
use toolkit_agent::runs::LocalRuns;
use toolkit_agent_stores::FileStore;
use toolkit_frontends::{PageAccess, PageUser, ag_ui, ai_sdk};

const PAGE: &str = include_str!("chat_page/page.html");
const AG_UI_PAGE: &str = include_str!("chat_page/ag_ui.html");

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let serves = std::env::args().any(|argument| argument == "--serve");
    let sessions = match std::env::args().nth(2) {
        Some(folder) => Sessions::new(FileStore::new(folder)),
        None => Sessions::default(),
    };
    let pause = Duration::from_millis(if serves { 15 } else { 40 });
    let runs = LocalRuns::new(scenes::agent(pause)?, sessions);
    if std::env::args().nth(3).is_none() {
        runs.take_over().await?; // what a process that has died left, unless another one works on the folder
    }
    // A program takes the user from its login.
    let access = PageAccess::new(|_| Some(PageUser::new("ada"))).with_readable_values(["color"]);
    let access = access.with_writable_values(["color"]);
    let app = Router::new()
        .route("/", get(async || Html(PAGE)))
        .route("/ag-ui", get(async || Html(AG_UI_PAGE)))
        .nest("/chat", ai_sdk::router(runs.clone(), access.clone()))
        .nest("/agent", ag_ui::router(runs, access)); // the same conversations, for clients of AG-UI
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    let serving = tokio::spawn(async move { axum::serve(listener, app).await });
    if serves {
        println!("http://{address}");
        tokio::signal::ctrl_c().await?;
        return Ok(());
    }
    let message =
        r#"{"messages": [{"id": "m1", "role": "user", "parts": [{"type": "text", "text": "weather"}]}]}"#;
    let stream = send(&address, "POST /chat/1", message).await?;
    for line in stream.lines().filter_map(|line| line.strip_prefix("data: ")) {
        println!("{line}");
    }
    let messages = send(&address, "GET /chat/1/messages", "").await?;
    assert!(messages.contains("Rome: clear"), "{messages}");
    serving.abort();
    Ok(())
}

/// Sends a request of HTTP 1.0, whose response ends with the connection.
async fn send(address: &str, request: &str, body: &str) -> Result<String, Box<dyn Error>> {
    let mut socket = TcpStream::connect(address).await?;
    let length = body.len();
    let head = format!("{request} HTTP/1.0\r\nhost: {address}\r\ncontent-length: {length}\r\n\r\n");
    socket.write_all(format!("{head}{body}").as_bytes()).await?;
    let mut response = String::new();
    socket.read_to_string(&mut response).await?;
    Ok(response)
}
