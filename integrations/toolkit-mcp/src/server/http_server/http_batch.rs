//! Batches of messages, which clients with protocol version 2025-03-26 send.

use crate::line_transport::{MAX_BATCH, batch as messages_of};
use crate::server::http_answers::{HttpAnswer, event_stream, refusal};
use crate::server::request_body::RequestBody;
use futures_util::future::join_all;
use futures_util::stream::{StreamExt, select_all};
use http::header::HeaderMap;
use http::request::Parts;
use http::{Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ProtocolVersion};
use serde_json::value::RawValue;
use toolkit_http::server::HttpBody;

/// Accepts batches in a session of a version that has them.
pub(super) fn accepts_batches(headers: &HeaderMap) -> bool {
    let version = headers.get("mcp-protocol-version");
    headers.contains_key("mcp-session-id")
        && version.is_none_or(|version| version == ProtocolVersion::V_2025_03_26.as_str())
}

/// Answers the messages of a batch at the same time, each with `answer`. The responses are events of one
/// stream.
pub(super) async fn answer_batch(
    parts: Parts,
    batch: &[u8],
    answer: impl Fn(Parts, HttpBody) -> HttpAnswer,
) -> Response<HttpBody> {
    let messages = messages_of(batch).unwrap_or_default();
    if messages.is_empty() || !messages.iter().all(|text| is_message(text)) {
        let message = format!("a batch must be a JSON array of 1 to {MAX_BATCH} messages");
        return refusal(StatusCode::BAD_REQUEST, message);
    }
    let mut pending = Vec::new();
    for text in messages {
        let mut own_parts = parts.clone();
        own_parts.extensions.insert(RequestBody::of_message(text.get()));
        pending.push(answer(own_parts, HttpBody::from(text.get().to_owned())));
    }
    let mut events = Vec::new();
    for answered in join_all(pending).await {
        if !answered.status().is_success() {
            return answered;
        }
        if answered.status() == StatusCode::OK {
            events.push(answered.into_body().into_stream().boxed());
        }
    }
    if events.is_empty() {
        return refusal(StatusCode::ACCEPTED, HttpBody::default());
    }
    event_stream(select_all(events))
}

fn is_message(text: &RawValue) -> bool {
    serde_json::from_str::<ClientJsonRpcMessage>(text.get()).is_ok()
}
