//! A web service with an agent that needs approvals: one request starts a run, another request decides about its
//! pending call, and the run goes on. In between, the conversation is only in the store.
//!
//! `cargo run -p toolkit-agent --example approvals` sends the requests itself. With `-- --serve`, the service runs
//! until Ctrl+C.

#![allow(clippy::print_stdout, reason = "the program shows the responses")]

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, Sse};
use axum::routing::post;
use axum::{Json, Router};
use futures_util::{Stream, StreamExt};
use serde_json::{Value, json};
use std::error::Error;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use toolkit_agent::{Agent, AgentError, Decisions, Outcome, RunError, RunEvent, Sessions};
use toolkit_ai::ToolDefinition;
use toolkit_ai::middleware::{PermissionRule, Permissions};
use toolkit_ai::prelude::*;
use toolkit_llm::{Message, ModelRequest, ModelResponse, ScriptedModel};

/// Pay an invoice.
///
/// :param invoice: The number of the invoice
/// :param euros: The amount
#[tool]
fn pay(invoice: u32, euros: u32) -> String {
    format!("Invoice {invoice} is paid: {euros} €.")
}

/// Creates the agent. A model of a provider takes the place of the scripted one.
fn accountant() -> Result<Agent, Box<dyn Error>> {
    let model = ScriptedModel::new().fallback(|request: &ModelRequest| match request.messages.last() {
        Some(Message::Tool(results)) => {
            Ok(ModelResponse::text(format!("Done. {}", results.results[0].to_text())))
        }
        _ => Ok(ModelResponse::calls([ToolCall::new("call_1", "pay", r#"{"invoice": 7, "euros": 250}"#)])),
    });
    let large = |_: &ToolDefinition, arguments: &Value| arguments["euros"].as_u64() > Some(100);
    let permissions = Permissions::new()
        .rule(PermissionRule::ask("more than 100 €").for_tool("pay")?.when(large))
        .rule(PermissionRule::allow())
        .decide_later();
    let tools = ToolRegistry::from_tools(tools![pay])?;
    Ok(Agent::builder(model).tools(tools).middleware(permissions).build()?)
}

#[derive(Clone)]
struct Service {
    agent: Agent,
    sessions: Sessions,
}

/// Returns the answer, or the calls to decide about. Both come with the cost of the run so far.
fn reply(ended: Result<Outcome, RunError>) -> (StatusCode, Json<Value>) {
    let RunError { error, output, .. } = match ended {
        Ok(Outcome::Answered(output)) => {
            return (StatusCode::OK, Json(json!({"answer": output.text, "cost": output.cost})));
        }
        Ok(Outcome::Waiting(run)) => {
            return (StatusCode::ACCEPTED, Json(json!({"pending": run.pending, "cost": run.output.cost})));
        }
        Err(failed) => failed,
    };
    let (status, mut body) = match error {
        // Another request decided first.
        AgentError::Store(error) if error.is_conflict() => {
            (StatusCode::CONFLICT, json!({"error": error.to_string()}))
        }
        // The decision does not fit a pending call, or the run still works.
        AgentError::InvalidDecision(error) => (StatusCode::BAD_REQUEST, json!({"error": error})),
        error => (StatusCode::INTERNAL_SERVER_ERROR, json!({"error": error.to_string()})),
    };
    body["cost"] = output.cost.into();
    (status, Json(body))
}

async fn ask(
    State(service): State<Service>,
    Path(id): Path<String>,
    text: String,
) -> (StatusCode, Json<Value>) {
    reply(service.agent.run(text).on(service.sessions.user("ada").conversation(id)).outcome().await)
}

async fn decide(
    State(service): State<Service>,
    Path(id): Path<String>,
    Json(decisions): Json<Decisions>,
) -> (StatusCode, Json<Value>) {
    let place = service.sessions.user("ada").conversation(id);
    reply(service.agent.resume(place).decide(decisions).outcome().await)
}

/// Sends the events of a run as they arise.
async fn stream(
    State(service): State<Service>,
    Path(id): Path<String>,
    text: String,
) -> Sse<impl Stream<Item = Result<Event, axum::Error>>> {
    let events = service.agent.run(text).on(service.sessions.user("ada").conversation(id)).stream();
    Sse::new(events.map(|event| match event {
        Ok(event) => Event::default().json_data(event),
        Err(error) => Ok(Event::default().event("error").data(error.to_string().replace('\n', " "))),
    }))
}

fn app(service: Service) -> Router {
    Router::new()
        .route("/conversations/{id}/messages", post(ask))
        .route("/conversations/{id}/decisions", post(decide))
        .route("/conversations/{id}/stream", post(stream))
        .with_state(service)
}

/// Sends a request and returns the response as text.
async fn send(address: &str, path: &str, kind: &str, body: &str) -> Result<String, Box<dyn Error>> {
    let mut socket = TcpStream::connect(address).await?;
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: {kind}\r\n\
         content-length: {length}\r\n\r\n{body}"
    );
    socket.write_all(request.as_bytes()).await?;
    let mut response = String::new();
    socket.read_to_string(&mut response).await?;
    Ok(response)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let service = Service { agent: accountant()?, sessions: Sessions::default() };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    let serving = tokio::spawn(async move { axum::serve(listener, app(service)).await });
    if std::env::args().any(|argument| argument == "--serve") {
        println!("http://{address}");
        tokio::signal::ctrl_c().await?;
        return Ok(());
    }
    let asked = send(&address, "/conversations/1/messages", "text/plain", "Pay invoice 7.").await?;
    assert!(asked.starts_with("HTTP/1.1 202") && asked.contains("more than 100 €"), "{asked}");
    println!("{asked}\n");
    let decided =
        send(&address, "/conversations/1/decisions", "application/json", r#"{"1.1.0": "approve"}"#).await?;
    assert!(decided.starts_with("HTTP/1.1 200") && decided.contains("Invoice 7 is paid"), "{decided}");
    println!("{decided}\n");
    let streamed = send(&address, "/conversations/2/stream", "text/plain", "Pay invoice 7.").await?;
    // A client in Rust reads the events back.
    let read = |line: &str| serde_json::from_str(line.strip_prefix("data: ")?).ok();
    let events: Vec<RunEvent> = streamed.lines().filter_map(read).collect();
    assert!(matches!(events.last(), Some(RunEvent::Waiting { .. })), "{streamed}");
    println!("{streamed}");
    serving.abort();
    Ok(())
}
