//! Streams of events, each of a limited size.

use bytes::Bytes;
use futures_util::stream::{BoxStream, StreamExt};
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::Sse;
use std::error::Error;
use std::io;
use toolkit_http::client::{BoundedBody, HttpError};

pub(super) type SseStream = BoxStream<'static, Result<Sse, SseError>>;

/// Returns the events of an answer. One of more than `limit` bytes is an error, which ends the stream.
pub(crate) fn events(body: BoundedBody, limit: usize) -> SseStream {
    let mut size = EventSize::default();
    let bytes = body.map(move |chunk| size.checked(chunk, limit));
    sse_stream::SseStream::from_bytes_stream(bytes).boxed()
}

pub(super) fn is_too_large(error: &SseError) -> bool {
    let SseError::Body(error) = error else { return false };
    let mut cause: Option<&(dyn Error + 'static)> = Some(&**error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return error.kind() == io::ErrorKind::FileTooLarge;
        }
        cause = error.source();
    }
    false
}

/// The size of the arriving event, which ends with an empty line.
#[derive(Default)]
struct EventSize {
    bytes: usize,
    /// Whether the arriving line has bytes.
    has_line: bool,
}

impl EventSize {
    fn checked(&mut self, chunk: Result<Vec<u8>, HttpError>, limit: usize) -> io::Result<Bytes> {
        let chunk = chunk.map_err(io::Error::other)?;
        if self.after(&chunk) > limit {
            let text = format!("an event exceeded the maximum size of {limit} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
        }
        Ok(Bytes::from(chunk))
    }

    /// Returns the largest size of an event after these bytes.
    fn after(&mut self, chunk: &[u8]) -> usize {
        // Most pieces of a large event are parts of one line, which are not looked at byte by byte.
        if !chunk.contains(&b'\n') {
            self.bytes += chunk.len();
            self.has_line |= chunk.iter().any(|byte| *byte != b'\r');
            return self.bytes;
        }
        let mut largest = 0;
        for line in chunk.split_inclusive(|byte| *byte == b'\n') {
            self.bytes += line.len();
            largest = largest.max(self.bytes);
            self.has_line |= !matches!(line, b"\n" | b"\r\n" | b"\r");
            if line.ends_with(b"\n") {
                if !self.has_line {
                    self.bytes = 0;
                }
                self.has_line = false;
            }
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::EventSize;

    #[test]
    fn the_size_of_an_event_does_not_depend_on_the_pieces() {
        let text = b": c\n\ndata: 123456\r\n\r\ndata: 1\ndata: 2\n\ndata: 12345678901\n\n";
        for length in 1..text.len() {
            let mut size = EventSize::default();
            let largest = text.chunks(length).map(|piece| size.after(piece)).max();
            // The last event, with its empty line.
            assert_eq!(largest, Some(19), "pieces of {length} bytes");
        }
    }
}
