//! The bodies of requests and responses of a server.

use bytes::{Buf, Bytes};
use futures_core::Stream;
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty, Full};
use pin_project_lite::pin_project;
use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The body of a request or a response, in place of the body types of HTTP libraries.
///
/// Its parts are passed on as they come: a stream of events is not collected.
///
/// ```
/// use http_body::Body;
/// use toolkit_http::server::HttpBody;
///
/// assert_eq!(HttpBody::from("hello").size_hint().exact(), Some(5));
/// assert!(HttpBody::default().is_end_stream());
/// ```
#[derive(Debug)]
pub struct HttpBody(UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>);

impl HttpBody {
    /// Boxes a body.
    ///
    /// ```
    /// use http::Request;
    /// use http_body_util::Full;
    /// use toolkit_http::server::HttpBody;
    ///
    /// let request = Request::new(Full::new(&b"hello"[..])).map(HttpBody::new);
    /// ```
    pub fn new<B>(body: B) -> Self
    where
        B: Body + Send + 'static,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        Self(InBytes { body }.boxed_unsync())
    }

    /// Creates a body with the parts of a stream.
    pub fn from_stream<S, E>(parts: S) -> Self
    where
        S: Stream<Item = Result<Bytes, E>> + Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        Self::new(Parts(Box::pin(parts)))
    }

    /// Returns the parts without the trailers.
    #[must_use]
    pub fn into_stream(
        self,
    ) -> impl Stream<Item = Result<Bytes, Box<dyn Error + Send + Sync>>> + Send + use<> {
        self.0.into_data_stream()
    }
}

impl Body for HttpBody {
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(&mut self.0).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

impl Default for HttpBody {
    fn default() -> Self {
        Self::new(Empty::<Bytes>::new())
    }
}

impl From<Bytes> for HttpBody {
    fn from(bytes: Bytes) -> Self {
        Self::new(Full::new(bytes))
    }
}

impl From<Vec<u8>> for HttpBody {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

impl From<String> for HttpBody {
    fn from(text: String) -> Self {
        Bytes::from(text).into()
    }
}

impl From<&'static str> for HttpBody {
    fn from(text: &'static str) -> Self {
        Bytes::from(text).into()
    }
}

pin_project! {
    struct InBytes<B> {
        #[pin]
        body: B,
    }
}

impl<B> Body for InBytes<B>
where
    B: Body,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let polled = self.project().body.poll_frame(context);
        polled.map_ok(|frame| frame.map_data(all_bytes)).map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn all_bytes(mut data: impl Buf) -> Bytes {
    data.copy_to_bytes(data.remaining())
}

struct Parts<S>(Pin<Box<S>>);

impl<S: Stream<Item = Result<Bytes, E>>, E> Body for Parts<S> {
    type Data = Bytes;
    type Error = E;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, E>>> {
        self.0.as_mut().poll_next(context).map_ok(Frame::data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// A body whose data is in pieces.
    struct InPieces;

    impl Body for InPieces {
        type Data = VecDeque<u8>;
        type Error = &'static str;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<VecDeque<u8>>, &'static str>>> {
            let mut data = VecDeque::from(*b"cd");
            data.push_front(b'b');
            Poll::Ready(Some(Ok(Frame::data(data))))
        }

        fn size_hint(&self) -> SizeHint {
            SizeHint::with_exact(3)
        }
    }

    #[tokio::test]
    async fn the_data_of_any_body_becomes_bytes_of_the_same_length() {
        let mut body = HttpBody::new(InPieces);
        assert_eq!(body.size_hint().exact(), Some(3));
        let part = body.frame().await.expect("a frame").expect("no error");
        assert_eq!(part.into_data().expect("data"), "bcd");
    }
}
