//! Responses that are streams of server-sent events.

use axum::body::Body;
use axum::http::Response;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use futures_core::Stream;
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use std::fmt::Write;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// The time without a message after which a comment is sent, so that the connection stays open.
const QUIET: Duration = Duration::from_secs(15);

/// An event-stream comment without text, sent to keep the connection open.
const COMMENT: &str = ":\n\n";

const HEADERS: [(HeaderName, HeaderValue); 3] = [
    (CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
    (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    // Tells proxies to pass on events at once.
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
];

/// Returns a response with a stream of messages. The stream also ends when the server has stopped. The SDK's HTTP
/// service answers in the same form.
pub(super) fn event_stream<S>(messages: S, stopped: CancellationToken) -> Response<Body>
where
    S: Stream<Item = ServerSseMessage> + Send + Unpin + 'static,
{
    let stopped = Box::pin(stopped.cancelled_owned());
    let quiet = Box::pin(sleep(QUIET));
    let mut response = Response::new(Body::from_stream(Events { messages, stopped, quiet }));
    response.headers_mut().extend(HEADERS);
    response
}

struct Events<S> {
    messages: S,
    stopped: Pin<Box<WaitForCancellationFutureOwned>>,
    /// A timer that expires when no message was sent for the time `QUIET`.
    quiet: Pin<Box<Sleep>>,
}

impl<S: Stream<Item = ServerSseMessage> + Unpin> Stream for Events<S> {
    type Item = serde_json::Result<String>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.stopped.as_mut().poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        let event = match Pin::new(&mut self.messages).poll_next(cx) {
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Ready(Some(message)) => written(&message),
            Poll::Pending => {
                ready!(self.quiet.as_mut().poll(cx));
                Ok(COMMENT.to_owned())
            }
        };
        self.quiet.as_mut().reset(Instant::now() + QUIET);
        Poll::Ready(Some(event))
    }
}

/// Formats a message as an event. A message without content only has an id or a time for the next attempt to connect.
fn written(message: &ServerSseMessage) -> serde_json::Result<String> {
    let mut event = "data: ".to_owned();
    if let Some(message) = &message.message {
        event.push_str(&serde_json::to_string(&**message)?);
    }
    event.push('\n');
    if let Some(id) = &message.event_id {
        let _ = writeln!(event, "id: {id}");
    }
    if let Some(retry) = message.retry {
        let _ = writeln!(event, "retry: {}", retry.as_millis());
    }
    event.push('\n');
    Ok(event)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;
    use std::future::Future;
    use std::pin::pin;
    use std::task::Waker;

    /// A stream with one message that never ends.
    struct Once(Option<ServerSseMessage>);

    impl Stream for Once {
        type Item = ServerSseMessage;

        fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
            self.0.take().map_or(Poll::Pending, |message| Poll::Ready(Some(message)))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_quiet_stream_sends_comments_until_the_server_stops() {
        let stopped = CancellationToken::new();
        let messages = Once(Some(ServerSseMessage::priming("0/1", Duration::from_secs(3))));
        let body = event_stream(messages, stopped.clone()).into_body();
        let mut all = pin!(to_bytes(body, 1_000));
        let _ = all.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let stop = async {
            sleep(Duration::from_secs(40)).await;
            stopped.cancel();
            std::future::pending::<()>().await;
        };
        let bytes = tokio::select! {
            bytes = all => bytes.expect("all events"),
            () = stop => Vec::new().into(),
        };
        assert_eq!(String::from_utf8_lossy(&bytes), "data: \nid: 0/1\nretry: 3000\n\n:\n\n:\n\n");
    }
}
