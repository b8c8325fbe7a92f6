//! A page in another process, which is reloaded again and again while a run writes.

use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, Sse};
use axum::routing::get;
use futures_util::{Stream, StreamExt, stream};
use std::env;
use std::fs;
use std::process::Command;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use toolkit_agent::runs::{Cursor, LocalRuns, RunInput, RunUpdate, Runs as _};
use toolkit_agent::session::ConversationKey;
use toolkit_agent::{Agent, RunEvent, Sessions};
use toolkit_llm::{ChatModel, ModelError, ModelRequest, ModelResponse, ModelStream, StreamEvent};

const KEY: ConversationKey<'static> = ConversationKey { user: "ada", id: "1" };
const RELOADS: usize = 200;
const WORDS: usize = 3_000;
/// The address of the service, for the process of the page.
const ADDRESS: &str = "TOOLKIT_PAGE_ADDRESS";
/// The file for what the page shows at last.
const SHOWN: &str = "TOOLKIT_PAGE_SHOWN";

fn text() -> String {
    let words: Vec<String> = (0..WORDS).map(|number| number.to_string()).collect();
    words.join(" ")
}

/// Writes a word a millisecond.
struct Writer;

impl ChatModel for Writer {
    fn name(&self) -> &str {
        "writer"
    }

    async fn respond(&self, _: ModelRequest) -> Result<ModelResponse, ModelError> {
        Ok(ModelResponse::text(text()))
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let response = self.respond(request).await?;
        let mut pieces: Vec<StreamEvent> = Vec::new();
        for word in response.message.text.split_inclusive(' ') {
            pieces.push(StreamEvent::Text(word.to_owned()));
        }
        pieces.push(StreamEvent::Done(Box::new(response)));
        Ok(ModelStream::new(stream::unfold(pieces.into_iter(), |mut left| async {
            let piece = left.next()?;
            sleep(Duration::from_millis(1)).await;
            Some((Ok(piece), left))
        })))
    }
}

async fn events(
    State(runs): State<LocalRuns>,
    headers: HeaderMap,
) -> Sse<impl Stream<Item = Result<Event, axum::Error>>> {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let after = last.map(|id| id.parse().unwrap());
    let updates = runs.attach(KEY, after).await.unwrap();
    Sse::new(updates.map(sent).chain(stream::iter([Ok(Event::default().event("end").data("end"))])))
}

fn sent(update: RunUpdate) -> Result<Event, axum::Error> {
    let id = update.cursor().map(Cursor::to_string).unwrap_or_default();
    match update {
        RunUpdate::Event { event, .. } => Event::default().id(id).json_data(&*event),
        RunUpdate::Back { .. } => Ok(Event::default().id(id).event("back").data("back")),
        other => panic!("{other:?}"),
    }
}

/// The page: what it shows, with the place of each event.
#[derive(Default)]
struct Page {
    shown: Vec<(Cursor, RunEvent)>,
    last: String,
}

impl Page {
    /// Reads at most `most` events, and leaves. Returns whether the run may go on.
    async fn load(&mut self, address: &str, most: usize) -> bool {
        let mut socket = TcpStream::connect(address).await.unwrap();
        let header = match self.last.as_str() {
            "" => String::new(),
            last => format!("last-event-id: {last}\r\n"),
        };
        let request = format!("GET / HTTP/1.0\r\nhost: {address}\r\n{header}\r\n");
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut lines = BufReader::new(socket).lines();
        let (mut name, mut id) = (String::new(), String::new());
        let mut heard = 0;
        while heard < most
            && let Some(line) = lines.next_line().await.unwrap()
        {
            match line.split_once(": ") {
                Some(("id", text)) => id = text.to_owned(),
                Some(("event", text)) => name = text.to_owned(),
                Some(("data", _)) if name == "end" => return false,
                Some(("data", json)) => {
                    self.hear(&id, (name != "back").then_some(json));
                    name.clear();
                    heard += 1;
                }
                _ => {}
            }
        }
        true
    }

    fn hear(&mut self, id: &str, json: Option<&str>) {
        let cursor: Cursor = id.parse().unwrap();
        id.clone_into(&mut self.last);
        match json {
            Some(json) => self.shown.push((cursor, serde_json::from_str(json).unwrap())),
            None => self.shown.retain(|(place, _)| !place.is_after(&cursor)),
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (_, event) in &self.shown {
            if let RunEvent::Text { text: piece, .. } = event {
                text.push_str(piece);
            }
        }
        text
    }
}

#[tokio::test]
#[ignore = "the process of the page, started by another test"]
async fn page() {
    let address = env::var(ADDRESS).unwrap();
    let mut page = Page::default();
    for reload in 0..RELOADS {
        let most = 1 + reload * 7 % 9;
        assert!(page.load(&address, most).await, "the run writes during reload {reload}");
    }
    page.load(&address, usize::MAX).await;
    fs::write(env::var(SHOWN).unwrap(), page.text()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_in_another_process_shows_each_piece_once() {
    let agent = Agent::builder(Writer).build().unwrap();
    let runs = LocalRuns::new(agent, Sessions::default());
    runs.submit(KEY, RunInput::new("Count.")).await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let router = Router::new().route("/", get(events)).with_state(runs);
    tokio::spawn(async move { axum::serve(listener, router).await });
    let folder = tempfile::tempdir().unwrap();
    let shown = folder.path().join("shown");
    let mut page = Command::new(env::current_exe().unwrap());
    page.args(["--ignored", "--exact", "runs::reloads::page"]);
    page.env(ADDRESS, address).env(SHOWN, &shown);
    let ended = tokio::task::spawn_blocking(move || page.status().unwrap());
    let status = timeout(Duration::from_secs(100), ended).await.expect("the page ends").unwrap();
    assert!(status.success());
    assert_eq!(fs::read_to_string(shown).unwrap(), text());
}
