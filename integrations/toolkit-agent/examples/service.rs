//! A web service whose runs go on without a listener: inputs, decisions and cancellations arrive as requests, and a page
//! reads on after a reload.
//!
//! `cargo run -p toolkit-agent --example service` sends the requests itself. With `-- --serve`, the service runs until
//! Ctrl+C.

#![allow(clippy::print_stdout, reason = "the program shows what a page hears")]

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Html;
use axum::response::sse::{Event, Sse};
use axum::routing::{get, post, put};
use futures_util::{Stream, StreamExt, stream};
use std::error::Error;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use toolkit_agent::runs::{LocalRuns, RunInput, RunUpdate, Runs, RunsError};
use toolkit_agent::session::{ConversationKey, RunStatus};
use toolkit_agent::{Agent, Decision, RunEvent, Sessions};
use toolkit_ai::ToolTag;
use toolkit_ai::middleware::{PermissionRule, Permissions};
use toolkit_ai::prelude::*;
use toolkit_llm::ScriptedModel;

/// Pay an invoice.
///
/// :param invoice: The number of the invoice
#[tool(destructive)]
fn pay(invoice: u32) -> String {
    format!("Invoice {invoice} is paid.")
}

/// Creates the agent. A model of a provider takes the place of the scripted one.
fn accountant() -> Result<Agent, Box<dyn Error>> {
    let model = ScriptedModel::new().call("pay", r#"{"invoice": 7}"#).text("It is paid.");
    let permissions = Permissions::new()
        .rule(PermissionRule::ask("it costs money").for_tag(ToolTag::Destructive))
        .rule(PermissionRule::allow())
        .decide_later();
    Ok(Agent::builder(model).tools(tools![pay]).middleware(permissions).build()?)
}

type Reply = Result<String, (StatusCode, String)>;

/// The user. A service takes it from its login.
const USER: &str = "ada";

fn key(id: &str) -> ConversationKey<'_> {
    ConversationKey { user: USER, id }
}

fn failed(error: RunsError) -> (StatusCode, String) {
    let status = match error {
        RunsError::Refused(_) | RunsError::AlreadyDecided { .. } => StatusCode::CONFLICT,
        RunsError::NotPending(_) => StatusCode::NOT_FOUND,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    (status, error.to_string())
}

/// Submits an input. The page chooses the id of the run, so it may send the request again.
async fn submit(
    State(runs): State<LocalRuns>,
    Path((id, run)): Path<(String, String)>,
    text: String,
) -> Reply {
    let submitted = runs.submit(key(&id), RunInput::new(text).with_run(run)).await.map_err(failed)?;
    Ok(submitted.run)
}

async fn cancel(State(runs): State<LocalRuns>, Path((id, run)): Path<(String, String)>) -> Reply {
    Ok(runs.cancel(key(&id), &run).await.map_err(failed)?.to_string())
}

async fn decide(
    State(runs): State<LocalRuns>,
    Path((id, call)): Path<(String, String)>,
    json: String,
) -> Reply {
    let decision: Decision =
        serde_json::from_str(&json).map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))?;
    runs.decide(key(&id), &call, decision, USER).await.map_err(failed)?;
    Ok(String::new())
}

/// Lists the calls that wait, one a line.
async fn waiting(State(runs): State<LocalRuns>) -> Reply {
    let mut text = String::new();
    for info in runs.waiting(Some(USER)).await.map_err(failed)? {
        let RunStatus::Waiting { calls, .. } = info.summary.status else { continue };
        for call in calls {
            let arguments = call.call.arguments.as_str();
            text += &format!("{} {}: {} {arguments} {}\n", info.id, call.id, call.call.name, call.reason);
        }
    }
    Ok(text)
}

/// Sends what a page has not heard yet. A browser that connects again sends the id of the last event.
async fn events(
    State(runs): State<LocalRuns>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, axum::Error>>>, (StatusCode, String)> {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let after = last.and_then(|id| id.parse().ok());
    let updates = runs.attach(key(&id), after).await.map_err(failed)?;
    let end = stream::iter([Ok(Event::default().event("end").data("end"))]);
    Ok(Sse::new(updates.map(sent).chain(end)))
}

fn sent(update: RunUpdate) -> Result<Event, axum::Error> {
    match update {
        RunUpdate::Event { cursor, event, .. } => Event::default().id(cursor.to_string()).json_data(&*event),
        // What the page shows is not what is saved: it reads the conversation again.
        _ => Ok(Event::default().event("again").data("again")),
    }
}

const PAGE: &str = r#"<!doctype html>
<title>Accountant</title>
<form><input autofocus> <button>Send</button></form>
<pre></pre>
<script>
const shown = document.querySelector("pre");
let source;
function follow() {
  source?.close();
  shown.replaceChildren();
  source = new EventSource("/conversations/1/events");
  source.onmessage = message => show(JSON.parse(message.data));
  source.addEventListener("again", follow);
  source.addEventListener("end", () => source.close());
}
function show(event) {
  if (event.type === "text") shown.append(event.text);
  if (event.type === "finished" || event.type === "stopped") shown.append("\n");
  if (event.type !== "waiting") return;
  for (const { id, call } of event.pending) {
    const button = document.createElement("button");
    button.textContent = `Approve ${call.name}`;
    button.onclick = () => send("POST", `decisions/${id}`, '"approve"');
    shown.append(button);
  }
}
async function send(method, path, body) {
  const response = await fetch(`/conversations/1/${path}`, { method, body });
  if (!response.ok) alert(await response.text());
  follow();
}
document.forms[0].onsubmit = event => {
  event.preventDefault();
  send("PUT", `runs/${crypto.randomUUID()}`, document.querySelector("input").value);
};
follow();
</script>
"#;

fn app(runs: LocalRuns) -> Router {
    Router::new()
        .route("/", get(async || Html(PAGE)))
        .route("/waiting", get(waiting))
        .route("/conversations/{id}/runs/{run}", put(submit).delete(cancel))
        .route("/conversations/{id}/decisions/{*call}", post(decide))
        .route("/conversations/{id}/events", get(events))
        .with_state(runs)
}

/// Sends a request of HTTP 1.0, whose response ends with the connection.
async fn connect(
    address: &str,
    request: &str,
    header: &str,
    body: &str,
) -> Result<BufReader<TcpStream>, Box<dyn Error>> {
    let mut socket = TcpStream::connect(address).await?;
    let length = body.len();
    let request =
        format!("{request} HTTP/1.0\r\nhost: {address}\r\n{header}content-length: {length}\r\n\r\n{body}");
    socket.write_all(request.as_bytes()).await?;
    Ok(BufReader::new(socket))
}

/// Returns the status and the body of a response.
async fn send(address: &str, request: &str, body: &str) -> Result<String, Box<dyn Error>> {
    let mut response = String::new();
    connect(address, request, "", body).await?.read_to_string(&mut response).await?;
    let (head, body) = response.split_once("\r\n\r\n").ok_or("the response has no end of its head")?;
    let status = head.split(' ').nth(1).ok_or("the response has no status")?;
    Ok(format!("{status} {body}"))
}

/// Reads the events after `last`, at most `most` of them, and goes away. Returns them with the id of the last one.
async fn listen(address: &str, last: &str, most: usize) -> Result<(Vec<RunEvent>, String), Box<dyn Error>> {
    let header = if last.is_empty() { String::new() } else { format!("last-event-id: {last}\r\n") };
    let mut lines = connect(address, "GET /conversations/1/events", &header, "").await?.lines();
    let mut events = Vec::new();
    let mut id = last.to_owned();
    while events.len() < most
        && let Some(line) = lines.next_line().await?
    {
        if let Some(text) = line.strip_prefix("id: ") {
            id = text.to_owned();
        }
        if let Some(json) = line.strip_prefix("data: {") {
            events.push(serde_json::from_str(&format!("{{{json}"))?);
        }
    }
    Ok((events, id))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let runs = LocalRuns::new(accountant()?, Sessions::default()); // a store of `toolkit-agent-stores` is kept
    runs.take_over().await?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    let serving = tokio::spawn(async move { axum::serve(listener, app(runs)).await });
    if std::env::args().any(|argument| argument == "--serve") {
        println!("http://{address}");
        tokio::signal::ctrl_c().await?;
        return Ok(());
    }
    println!("submit: {}", send(&address, "PUT /conversations/1/runs/first", "Pay invoice 7.").await?);
    // A page that leaves after its first event does not end the run.
    listen(&address, "", 1).await?;
    let (heard, last) = listen(&address, "", usize::MAX).await?;
    assert!(matches!(heard.last(), Some(RunEvent::Waiting { .. })), "{heard:?}");
    print!("waiting: {}", send(&address, "GET /waiting", "").await?);

    let call = "POST /conversations/1/decisions/1.1.0";
    println!("approve: {}", send(&address, call, r#""approve""#).await?);
    println!("deny: {}", send(&address, call, r#"{"deny": "too expensive"}"#).await?);
    // The page hears only what it has not heard before.
    let (heard, _) = listen(&address, &last, usize::MAX).await?;
    assert!(!heard.iter().any(|event| matches!(event, RunEvent::Waiting { .. })), "{heard:?}");
    for event in heard {
        match event {
            RunEvent::Result { result, .. } => println!("result: {}", result.to_text()),
            RunEvent::Text { text, .. } => println!("text: {text}"),
            RunEvent::Finished { .. } => println!("finished"),
            _ => {}
        }
    }
    serving.abort();
    Ok(())
}
