//! The events of a run as a body of server-sent events, in any protocol.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::future::{BoxFuture, ready};
use futures_util::{FutureExt, stream};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use serde::Serialize;
use std::fmt;
use std::mem;
use std::slice;
use std::time::Duration;
use tokio::time::sleep;
use toolkit_agent::RunEvent;
use toolkit_agent::runs::{RunUpdate, RunUpdates};

/// The time without a chunk after which a comment keeps the connection open.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Writes the events of one run in a protocol.
pub(crate) trait PageEncoder: Send + 'static {
    /// Returns the run.
    fn run(&self) -> &str;

    /// Returns what a page reads of an update. Updates of other runs have nothing.
    fn write(&mut self, update: &RunUpdate) -> Written;

    /// Returns whether the latest event has ended the run, or lets it wait.
    fn has_ended(&self) -> bool;

    /// Returns what a page reads last.
    fn end(&mut self) -> String;

    /// Reads the conversation again, as an event of the protocol. `None` breaks the connection off instead, so that the
    /// client attaches again.
    fn read_again(&self) -> BoxFuture<'static, Option<String>> {
        ready(None).boxed()
    }

    /// Reads what a page needs before the end, when all is saved.
    fn read_before_end(&self) -> BoxFuture<'static, Option<String>> {
        ready(None).boxed()
    }
}

/// What a page reads of an update.
pub(crate) enum Written {
    Events(String),
    /// After the first, the page forgets what it has, and reads the conversation again. The second follows then.
    Again(String, String),
}

/// What a page hears of a run.
pub(crate) struct RunStream<E> {
    encoder: E,
    updates: RunUpdates,
    /// An update that was read ahead.
    next: Option<RunUpdate>,
    /// How many times the run waits before the page hears of it.
    waits: usize,
    /// What is sent first.
    head: String,
    /// The calls that this request has decided. A run that waits for one of them goes on at once.
    decided: Vec<String>,
    is_over: bool,
}

/// The connection is broken on purpose, so that the client reads the message again.
#[derive(Debug)]
struct BrokenOff;

impl fmt::Display for BrokenOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the message has to be read again")
    }
}

impl std::error::Error for BrokenOff {}

impl<E: PageEncoder> RunStream<E> {
    /// Creates the stream of a run, which begins with `head`. The events until the run has waited `waits` times are left out.
    pub(crate) fn new(encoder: E, updates: RunUpdates, waits: usize, head: String) -> Self {
        Self { encoder, updates, next: None, waits, head, decided: Vec::new(), is_over: false }
    }

    /// Sets the calls that were decided, so that the stream does not end where the run waits for them.
    pub(crate) fn with_decided(self, decided: Vec<String>) -> Self {
        Self { decided, ..self }
    }

    pub(crate) fn into_response(self) -> Response {
        event_response(Body::from_stream(stream::unfold(Some(self), Self::part)))
    }

    async fn part(this: Option<Self>) -> Option<(Result<Bytes, BrokenOff>, Option<Self>)> {
        let mut this = this?;
        if this.is_over {
            return None;
        }
        let mut text = mem::take(&mut this.head);
        while text.is_empty() {
            let update = tokio::select! {
                biased;
                update = this.read() => update,
                () = sleep(KEEP_ALIVE) => return Some((Ok(":\n\n".into()), Some(this))),
            };
            let Some(update) = update else {
                this.finish(&mut text).await;
                break;
            };
            if matches!(update, RunUpdate::CutOff) {
                return Some((Err(BrokenOff), None));
            }
            let written = match this.encoder.write(&update) {
                Written::Events(events) => events,
                Written::Again(before, after) => match this.encoder.read_again().await {
                    Some(again) => before + &again + &after,
                    None => return Some((Err(BrokenOff), None)),
                },
            };
            if this.waits > 0 {
                this.waits -= usize::from(this.is_wait(&update));
                continue;
            }
            text.push_str(&written);
            if this.encoder.has_ended() && !this.is_decided(&update) && !this.goes_on() {
                this.finish(&mut text).await;
            }
        }
        Some((Ok(text.into()), Some(this)))
    }

    async fn read(&mut self) -> Option<RunUpdate> {
        match self.next.take() {
            Some(update) => Some(update),
            None => self.updates.next().await,
        }
    }

    fn is_wait(&self, update: &RunUpdate) -> bool {
        let RunUpdate::Event { run, event, .. } = update else { return false };
        **run == *self.encoder.run() && matches!(**event, RunEvent::Waiting { .. })
    }

    fn is_decided(&self, update: &RunUpdate) -> bool {
        let Some(RunEvent::Waiting { pending, .. }) = update.event() else { return false };
        pending.iter().any(|call| self.decided.contains(&call.id))
    }

    /// Returns whether more of the run has already happened.
    fn goes_on(&mut self) -> bool {
        self.next = self.updates.next().now_or_never().flatten();
        match &self.next {
            Some(RunUpdate::Event { run, .. }) => **run == *self.encoder.run(),
            Some(RunUpdate::Back { .. }) => true,
            _ => false,
        }
    }

    async fn finish(&mut self, text: &mut String) {
        text.push_str(&self.encoder.read_before_end().await.unwrap_or_default());
        text.push_str(&self.encoder.end());
        self.is_over = true;
    }
}

/// Writes an event of a protocol as a server-sent event.
pub(crate) fn event_text(event: &impl Serialize) -> String {
    events_text(slice::from_ref(event))
}

/// Writes events of a protocol as server-sent events.
pub(crate) fn events_text(events: &[impl Serialize]) -> String {
    let mut text = String::new();
    for event in events {
        text.push_str("data: ");
        // The events have only JSON values, and texts as keys, which can always be written.
        text.push_str(&serde_json::to_string(event).unwrap_or_default());
        text.push_str("\n\n");
    }
    text
}

/// Returns a response whose body is sent as it comes.
pub(crate) fn event_response(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    // Proxies neither compress nor collect the events.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}
