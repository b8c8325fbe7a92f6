//! HTTP responses of the server: refusals, event streams, and answers that take long.

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Response, StatusCode};
use std::error::Error;
use std::pin::Pin;
use std::time::Duration;
use tokio::time::{Instant, Interval, interval_at};
use toolkit_http::server::HttpBody;

/// The time between two comments on an event stream: proxies and clients close silent connections.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

pub(super) type HttpAnswer = Pin<Box<dyn Future<Output = Response<HttpBody>> + Send>>;

type Piece = Result<Bytes, Box<dyn Error + Send + Sync>>;

pub(super) fn refusal(status: StatusCode, message: impl Into<HttpBody>) -> Response<HttpBody> {
    let mut response = Response::new(message.into());
    *response.status_mut() = status;
    response
}

/// Returns an event stream with comments until the answer is known, and then with the answer.
pub(super) fn event_stream_of(answer: HttpAnswer) -> Response<HttpBody> {
    let comments = interval_at(Instant::now() + KEEP_ALIVE, KEEP_ALIVE);
    event_stream(stream::unfold(Some((answer, comments)), next).flatten())
}

pub(super) fn event_stream(pieces: impl stream::Stream<Item = Piece> + Send + 'static) -> Response<HttpBody> {
    let mut response = Response::new(HttpBody::from_stream(pieces));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, EVENTS);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Proxies such as nginx then do not collect the events.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// Waits for the answer or the time of the next comment. The result of a stream is the last.
async fn next(
    waiting: Option<(HttpAnswer, Interval)>,
) -> Option<(BoxStream<'static, Piece>, Option<(HttpAnswer, Interval)>)> {
    let (mut answer, mut comments) = waiting?;
    tokio::select! {
        biased;
        response = &mut answer => Some((events(response), None)),
        _ = comments.tick() => Some((piece(b":\n\n"), Some((answer, comments)))),
    }
}

/// Returns the events of a response, or its JSON as one event.
fn events(response: Response<HttpBody>) -> BoxStream<'static, Piece> {
    let media_type = response.headers().get(CONTENT_TYPE);
    let is_stream = media_type == Some(&EVENTS);
    let is_json = media_type.is_some_and(|media_type| media_type == "application/json");
    let body = response.into_body().into_stream();
    if is_stream {
        body.boxed()
    } else if is_json {
        piece(b"data: ").chain(body).chain(piece(b"\n\n")).boxed()
    } else {
        stream::empty().boxed()
    }
}

fn piece(bytes: &'static [u8]) -> BoxStream<'static, Piece> {
    stream::once(async move { Ok(Bytes::from_static(bytes)) }).boxed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::sleep;

    async fn pieces(answer: Response<HttpBody>, after: u64) -> Vec<(u64, String)> {
        let start = Instant::now();
        let answer = Box::pin(async move {
            sleep(Duration::from_secs(after)).await;
            answer
        });
        let pieces = event_stream_of(answer).into_body().into_stream();
        let text = |piece: Piece| String::from_utf8(piece.expect("a piece").to_vec()).expect("text");
        pieces.map(|piece| (start.elapsed().as_secs(), text(piece))).collect().await
    }

    #[tokio::test(start_paused = true)]
    async fn comments_are_sent_until_the_answer_is_known() {
        for (media_type, body, sent) in [
            ("application/json", "{}", vec!["data: ", "{}", "\n\n"]),
            ("text/event-stream", "data: {}\n\n", vec!["data: {}\n\n"]),
            ("text/plain", "the server stops", vec![]),
        ] {
            let mut answer = Response::new(HttpBody::from(body));
            answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
            let comments = [15, 30].map(|second| (second, ":\n\n".to_owned()));
            let sent = sent.into_iter().map(|piece| (40, piece.to_owned()));
            let expected: Vec<_> = comments.into_iter().chain(sent).collect();
            assert_eq!(pieces(answer, 40).await, expected, "{media_type}");
        }
    }
}
