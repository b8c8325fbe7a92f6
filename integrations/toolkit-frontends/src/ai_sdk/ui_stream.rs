//! A message as a body of server-sent events.

use super::UiChunk;
use super::ui_encoder::UiEncoder;
use crate::page_runs::Decided;
use crate::run_stream::{PageEncoder, RunStream, Written, event_response, event_text, events_text};
use axum::response::Response;
use http::header::{HeaderName, HeaderValue};
use serde_json::json;
use toolkit_agent::runs::{RunUpdate, RunUpdates};

impl PageEncoder for UiEncoder {
    fn run(&self) -> &str {
        self.run()
    }

    fn write(&mut self, update: &RunUpdate) -> Written {
        match self.update(update) {
            Some(chunks) => Written::Events(events_text(chunks.as_slice())),
            None => Written::Again(String::new(), String::new()),
        }
    }

    fn has_ended(&self) -> bool {
        self.has_ended()
    }

    fn end(&mut self) -> String {
        events_text(&self.finish()) + "data: [DONE]\n\n"
    }
}

/// Returns a run's message from its start.
pub(super) fn message(run: &str, updates: RunUpdates) -> Response {
    after_decisions(run, updates, 0, Decided::default())
}

/// Returns what follows in a run's message after it has waited `waits` times.
pub(super) fn after_decisions(run: &str, updates: RunUpdates, waits: usize, decided: Decided) -> Response {
    let encoder = UiEncoder::new(run);
    let mut head = event_text(&encoder.start());
    for (call, by) in decided.earlier {
        let data = json!({"toolCallId": call, "by": by});
        head.push_str(&event_text(&UiChunk::DataDecided { id: call.into(), data, transient: true }));
    }
    let stream = RunStream::new(encoder, updates, waits, head).with_decided(decided.calls);
    marked(stream.into_response())
}

/// Returns a message that is over, because no call waits for what the page has sent.
pub(super) fn nothing(run: &str) -> Response {
    let mut encoder = UiEncoder::new(run);
    let text = event_text(&encoder.start()) + &encoder.end();
    marked(event_response(text.into()))
}

fn marked(mut response: Response) -> Response {
    let name = HeaderName::from_static("x-vercel-ai-ui-message-stream");
    response.headers_mut().insert(name, HeaderValue::from_static("v1"));
    response
}
