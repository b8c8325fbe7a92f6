//! A message as a body of server-sent events.

use super::UiChunk;
use super::ui_encoder::UiEncoder;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::{FutureExt, stream};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use std::fmt;
use std::time::Duration;
use tokio::time::sleep;
use toolkit_agent::RunEvent;
use toolkit_agent::runs::{RunUpdate, RunUpdates};

/// The time without a chunk after which a comment keeps the connection open.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The message of a run, from its updates.
pub(super) struct UiStream {
    encoder: UiEncoder,
    updates: RunUpdates,
    /// An update that was read ahead.
    next: Option<RunUpdate>,
    /// How many times the run waits before the page hears of it.
    waits: usize,
    /// The chunks that are sent first.
    head: Vec<UiChunk>,
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

impl UiStream {
    /// Creates the stream of a run's message. The events until the run has waited `waits` times are left out.
    pub(super) fn new(run: &str, updates: RunUpdates, waits: usize) -> Self {
        let encoder = UiEncoder::new(run);
        let head = vec![encoder.start()];
        Self { encoder, updates, next: None, waits, head, is_over: false }
    }

    /// Adds a chunk that is sent first.
    pub(super) fn push(&mut self, chunk: UiChunk) {
        self.head.push(chunk);
    }

    pub(super) fn into_response(self) -> Response {
        event_response(Body::from_stream(stream::unfold(Some(self), Self::part)))
    }

    async fn part(this: Option<Self>) -> Option<(Result<Bytes, BrokenOff>, Option<Self>)> {
        let mut this = this?;
        if this.is_over {
            return None;
        }
        let mut text = String::new();
        write(&mut text, std::mem::take(&mut this.head));
        while text.is_empty() {
            let update = tokio::select! {
                biased;
                update = this.read() => update,
                () = sleep(KEEP_ALIVE) => return Some((Ok(":\n\n".into()), Some(this))),
            };
            let Some(update) = update else {
                this.finish(&mut text);
                break;
            };
            let Some(chunks) = this.encoder.update(&update) else { return Some((Err(BrokenOff), None)) };
            if this.waits > 0 {
                this.waits -= usize::from(this.is_wait(&update));
                continue;
            }
            write(&mut text, chunks);
            if this.encoder.has_ended() && !this.goes_on() {
                this.finish(&mut text);
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

    /// Returns whether more of the run has already happened.
    fn goes_on(&mut self) -> bool {
        self.next = self.updates.next().now_or_never().flatten();
        match &self.next {
            Some(RunUpdate::Event { run, .. }) => **run == *self.encoder.run(),
            Some(RunUpdate::Back { .. }) => true,
            _ => false,
        }
    }

    fn finish(&mut self, text: &mut String) {
        write(text, self.encoder.finish());
        text.push_str("data: [DONE]\n\n");
        self.is_over = true;
    }
}

/// Returns a message that is over, because no call waits for what the page has sent.
pub(super) fn nothing(run: &str) -> Response {
    let mut encoder = UiEncoder::new(run);
    let mut text = encoder.start().to_event();
    write(&mut text, encoder.finish());
    text.push_str("data: [DONE]\n\n");
    event_response(text.into())
}

fn write(text: &mut String, chunks: Vec<UiChunk>) {
    for chunk in chunks {
        text.push_str(&chunk.to_event());
    }
}

fn event_response(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    // Proxies neither compress nor collect the events.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    headers.insert(HeaderName::from_static("x-vercel-ai-ui-message-stream"), HeaderValue::from_static("v1"));
    response
}
