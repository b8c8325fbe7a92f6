//! A page without a browser.

use crate::scenes::agent;
use axum::Router;
use axum::body::{Body, Bytes};
use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{sleep, timeout};
use toolkit_agent::runs::LocalRuns;
use toolkit_agent::{Agent, Sessions};
use toolkit_frontends::ai_sdk::{self, UiChunk, UiMessage};
use toolkit_frontends::{PageAccess, PageUser, ag_ui};
use tower::ServiceExt as _;

/// The time that no step of a test needs.
const PATIENCE: Duration = Duration::from_secs(20);

/// The names of session values that the program lets pages read.
const READABLE: [&str; 4] = ["color", "seen", "user:name", "temp:draft"];

/// A page with one conversation, which keeps its messages as the AI SDK does.
pub(crate) struct Page {
    app: Router,
    pub(crate) messages: Vec<Value>,
}

pub(crate) fn access() -> PageAccess {
    PageAccess::new(|request| {
        let name = request.headers.get("user")?.to_str().ok()?;
        let user = PageUser::new(name.trim_end_matches('!').trim_end_matches('?'));
        Some(match name.chars().last() {
            Some('!') => user.read_only(),
            Some('?') => user.without_decisions(),
            _ => user,
        })
    })
}

/// As [`access`], with session values for pages. Those with a prefix are left out.
fn with_values() -> PageAccess {
    access().with_readable_values(READABLE).with_writable_values(["color", "user:name"])
}

fn local(agent: Agent) -> LocalRuns {
    LocalRuns::new(agent, Sessions::default()).with_poll(Duration::from_millis(5))
}

/// Returns the router of a conversation's pages by AG-UI.
pub(crate) fn ag_router(agent: Agent) -> Router {
    ag_ui::router(local(agent), access())
}

/// As [`ag_router`], with session values for pages.
pub(crate) fn ag_router_with_values(agent: Agent) -> Router {
    ag_ui::router(local(agent), with_values())
}

impl Page {
    pub(crate) fn new() -> Self {
        Self::of(agent(Duration::from_millis(1)).unwrap())
    }

    pub(crate) fn of(agent: Agent) -> Self {
        Self { app: ai_sdk::router(local(agent), access()), messages: Vec::new() }
    }

    pub(crate) fn with_values(agent: Agent) -> Self {
        Self { app: ai_sdk::router(local(agent), with_values()), messages: Vec::new() }
    }

    /// Returns another page with the same conversation, which was just loaded.
    pub(crate) async fn reloaded(&self) -> Self {
        Self { app: self.app.clone(), messages: self.saved().await }
    }

    pub(crate) async fn request(
        &self,
        user: &str,
        method: &str,
        path: &str,
        body: &Value,
    ) -> http::Response<Body> {
        let request = Request::builder().method(method).uri(path).header("host", "localhost");
        let request = match user {
            "" => request,
            name => request.header("user", name),
        };
        let body = if body.is_null() { Body::empty() } else { body.to_string().into() };
        timeout(PATIENCE, self.app.clone().oneshot(request.body(body).unwrap())).await.unwrap().unwrap()
    }

    /// Returns the status of the answer to a request without a body.
    pub(crate) async fn status_of(&self, request: http::request::Builder) -> u16 {
        let response = self.app.clone().oneshot(request.body(Body::empty()).unwrap());
        timeout(PATIENCE, response).await.unwrap().unwrap().status().as_u16()
    }

    /// Returns the messages of the first load.
    pub(crate) async fn saved(&self) -> Vec<Value> {
        let response = self.request("ada", "GET", "/1/messages", &Value::Null).await;
        if response.status() == StatusCode::NOT_FOUND {
            return Vec::new();
        }
        serde_json::from_slice(&all(response).await).unwrap()
    }

    pub(crate) fn write(&mut self, id: &str, text: &str) {
        let parts = json!([{"type": "text", "text": text}]);
        self.messages.push(json!({"id": id, "role": "user", "parts": parts}));
    }

    /// Sends the messages, and begins to read the answer.
    pub(crate) async fn post(&self) -> Answer {
        let body = json!({"id": "1", "messages": self.messages, "trigger": "submit-message"});
        let response = self.request("ada", "POST", "/1", &body).await;
        assert_eq!(response.status(), StatusCode::OK);
        Answer::new(response)
    }

    /// Sends the messages before the one with this id, and what the AI SDK sends to have it written again.
    pub(crate) async fn regenerate(&mut self, id: &str) -> Vec<Value> {
        let index = self.messages.iter().position(|message| message["id"] == id).unwrap();
        self.messages.truncate(index);
        self.send_as(json!({"trigger": "regenerate-message", "messageId": id})).await
    }

    /// Changes a message of the user, and sends it.
    pub(crate) async fn edit(&mut self, id: &str, text: &str) -> Vec<Value> {
        let index = self.messages.iter().position(|message| message["id"] == id).unwrap();
        self.messages.truncate(index);
        self.write(id, text);
        self.send_as(json!({"trigger": "submit-message", "messageId": id})).await
    }

    /// Sends the messages with other fields, and reads the answer. All messages are then those of the log.
    pub(crate) async fn send_as(&mut self, mut body: Value) -> Vec<Value> {
        body["messages"] = json!(self.messages);
        let response = self.request("ada", "POST", "/1", &body).await;
        assert_eq!(response.status(), StatusCode::OK);
        let mut answer = Answer::new(response);
        answer.read_all().await;
        self.messages.push(folded(UiMessage::assistant(""), &answer.chunks));
        assert_eq!(self.saved().await, self.messages, "{:#?}", answer.chunks);
        answer.chunks
    }

    /// Begins to read the message that is being written.
    pub(crate) async fn attach(&self) -> Option<Answer> {
        let response = self.request("ada", "GET", "/1/stream", &Value::Null).await;
        (response.status() == StatusCode::OK).then(|| Answer::new(response))
    }

    /// Writes a message, and reads its answer to the end.
    pub(crate) async fn ask(&mut self, id: &str, text: &str) -> Vec<Value> {
        self.write(id, text);
        self.send().await
    }

    /// Sends the messages, reads the answer to the end, and compares it with the log.
    pub(crate) async fn send(&mut self) -> Vec<Value> {
        let mut answer = self.post().await;
        answer.read_all().await;
        let chunks = answer.chunks;
        let last = self.messages.last().unwrap().clone();
        let mut message = UiMessage::assistant("");
        if last["role"] == "assistant" {
            message.parts.clone_from(last["parts"].as_array().unwrap());
            self.messages.pop();
        }
        self.messages.push(folded(message, &chunks));
        assert_eq!(self.saved().await.last(), self.messages.last(), "{chunks:#?}");
        chunks
    }

    /// Returns the parts of the last message.
    pub(crate) fn parts(&self) -> &Vec<Value> {
        self.messages.last().unwrap()["parts"].as_array().unwrap()
    }

    /// Changes the parts of calls in the last message, as the page's user does.
    pub(crate) fn decide(&mut self, tool: &str, change: impl Fn(&mut Value)) {
        let message = self.messages.last_mut().unwrap();
        for part in message["parts"].as_array_mut().unwrap() {
            if part["type"] == format!("tool-{tool}") {
                change(part);
            }
        }
    }
}

/// Folds chunks as the AI SDK does.
pub(crate) fn folded(mut message: UiMessage, chunks: &[Value]) -> Value {
    for chunk in chunks {
        if chunk["type"] == "start" {
            message.id = chunk["messageId"].as_str().unwrap().to_owned();
        }
        message.apply(&serde_json::from_value::<UiChunk>(chunk.clone()).unwrap());
    }
    serde_json::to_value(message).unwrap()
}

pub(crate) async fn all(response: http::Response<Body>) -> Bytes {
    timeout(PATIENCE, response.into_body().collect()).await.unwrap().unwrap().to_bytes()
}

/// An answer that is being read.
pub(crate) struct Answer {
    body: Body,
    text: String,
    pub(crate) chunks: Vec<Value>,
    is_over: bool,
}

impl Answer {
    fn new(response: http::Response<Body>) -> Self {
        assert_eq!(response.headers()["x-vercel-ai-ui-message-stream"], "v1");
        Self { body: response.into_body(), text: String::new(), chunks: Vec::new(), is_over: false }
    }

    /// Reads until there is a chunk of this type. Returns whether there is one.
    pub(crate) async fn read_until(&mut self, kind: &str) -> bool {
        while !self.chunks.iter().any(|chunk| chunk["type"] == kind) {
            let Some(frame) = timeout(PATIENCE, self.body.frame()).await.unwrap() else { return false };
            self.text.push_str(std::str::from_utf8(&frame.unwrap().into_data().unwrap()).unwrap());
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                match event.strip_prefix("data: ") {
                    Some("[DONE]") => self.is_over = true,
                    Some(json) => self.chunks.push(serde_json::from_str(json).unwrap()),
                    None => assert_eq!(event, ":"),
                }
                self.text = rest.to_owned();
            }
        }
        true
    }

    pub(crate) async fn read_all(&mut self) {
        assert!(!self.read_until("there is no such chunk").await);
        assert!(self.is_over, "{:#?}", self.chunks);
    }
}

/// Returns the types of chunks, each once in a row.
pub(crate) fn types(chunks: &[Value]) -> Vec<&str> {
    let mut types: Vec<&str> = chunks.iter().map(|chunk| chunk["type"].as_str().unwrap()).collect();
    types.dedup();
    types
}

/// Waits until the store has noted what a stream has just shown.
pub(crate) async fn settled() {
    sleep(Duration::from_millis(50)).await;
}
