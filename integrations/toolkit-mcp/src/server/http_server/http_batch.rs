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

/// Returns whether the client of a request may send batches: in a session of a version that has them.
pub(super) fn accepts_batches(headers: &HeaderMap) -> bool {
    let version = headers.get("mcp-protocol-version");
    headers.contains_key("mcp-session-id")
        && version.is_none_or(|version| version == ProtocolVersion::V_2025_03_26.as_str())
}

/// Answers the messages of a batch at the same time, each with `answer`. The responses are events of one stream.
pub(super) async fn answer_batch(
    parts: Parts,
    batch: &[u8],
    answer: impl Fn(Parts, HttpBody) -> HttpAnswer,
) -> Response<HttpBody> {
    let is_message = |text: &&RawValue| serde_json::from_str::<ClientJsonRpcMessage>(text.get()).is_ok();
    let messages = messages_of(batch).filter(|messages| messages.iter().all(is_message));
    let Some(messages) = messages else {
        let message = format!("a batch must be a JSON array of 1 to {MAX_BATCH} messages");
        return refusal(StatusCode::BAD_REQUEST, message);
    };
    let answer = |text: &RawValue| {
        let mut parts = parts.clone();
        parts.extensions.insert(RequestBody::of_message(text.get()));
        answer(parts, HttpBody::from(text.get().to_owned()))
    };
    let answers = join_all(messages.into_iter().map(answer)).await;
    let is_refused = |answer: &Response<HttpBody>| !answer.status().is_success();
    let has_events = |answer: &Response<HttpBody>| answer.status() == StatusCode::OK;
    match answers.iter().position(is_refused) {
        Some(first) => answers.into_iter().nth(first).unwrap_or_default(),
        None if answers.iter().any(has_events) => {
            let events = answers.into_iter().filter(has_events);
            event_stream(select_all(events.map(|answer| answer.into_body().into_stream().boxed())))
        }
        None => refusal(StatusCode::ACCEPTED, HttpBody::default()),
    }
}
