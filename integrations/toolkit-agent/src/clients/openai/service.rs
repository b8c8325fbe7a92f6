//! The service below `async-openai`: it sends once, within limits, and keeps the reason of every failure.
//!
//! The client itself would try again on its own, read bodies of any length, and lose `Retry-After`, the status of
//! failures that are not JSON, and what breaks a stream.

use crate::clients::body::BoundedBody;
use crate::clients::fault;
use crate::clients::http::{Expected, Http};
use crate::model::{ModelError, ModelErrorKind};
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use bytes::Bytes;
use http_body::{Body, Frame};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tower_service::Service;

/// The observations of a response below the client.
#[derive(Debug, Clone, Default)]
pub(super) struct Watch(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    /// The error that broke the response.
    fault: Option<ModelError>,
    /// Whether the last byte came.
    ended: bool,
}

impl Watch {
    fn see<T>(&self, look: impl FnOnce(&mut Seen) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns whether the last byte of the body came.
    pub(super) fn has_ended(&self) -> bool {
        self.see(|seen| seen.ended)
    }

    /// Returns the reason why the client has failed.
    pub(super) fn explain(&self, error: OpenAIError) -> ModelError {
        if let Some(fault) = self.see(|seen| seen.fault.take()) {
            return fault;
        }
        match error {
            OpenAIError::JSONDeserialize(error, body) => fault::no_json(&error, body.as_bytes()),
            OpenAIError::Reqwest(error) => fault::of_client(&error),
            OpenAIError::InvalidArgument(text) => ModelError::new(ModelErrorKind::InvalidRequest, text),
            other => ModelError::new(ModelErrorKind::Other, other.to_string()),
        }
    }
}

/// The service below `async-openai`.
#[derive(Clone)]
pub(super) struct HttpService {
    http: Http,
    expected: Expected,
    watch: Watch,
}

impl HttpService {
    pub(super) fn new(http: Http, expected: Expected, watch: Watch) -> Self {
        Self { http, expected, watch }
    }

    async fn carry(self, factory: HttpRequestFactory) -> Result<reqwest::Response, OpenAIError> {
        let mut request = factory.build().await?;
        // The key, if there is one, is among our own headers.
        request.headers_mut().remove(reqwest::header::AUTHORIZATION);
        let body = self.http.send(request, self.expected).await.map_err(|error| {
            self.watch.see(|seen| seen.fault = Some(error.clone()));
            OpenAIError::Boxed(Box::new(error))
        })?;
        let body = reqwest::Body::wrap(WatchedBody { body, watch: self.watch });
        Ok(http::Response::new(body).into())
    }
}

impl Service<HttpRequestFactory> for HttpService {
    type Response = reqwest::Response;
    type Error = OpenAIError;
    type Future = Pin<Box<dyn Future<Output = Result<reqwest::Response, OpenAIError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), OpenAIError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, factory: HttpRequestFactory) -> Self::Future {
        Box::pin(self.clone().carry(factory))
    }
}

/// A body that notes its end.
struct WatchedBody {
    body: BoundedBody,
    watch: Watch,
}

impl Body for WatchedBody {
    type Data = Bytes;
    type Error = ModelError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ModelError>>> {
        let next = ready!(self.body.poll_bytes(context));
        match &next {
            None => self.watch.see(|seen| seen.ended = true),
            Some(Err(error)) => self.watch.see(|seen| seen.fault = Some(error.clone())),
            Some(Ok(_)) => {}
        }
        Poll::Ready(next.map(|bytes| bytes.map(Frame::data)))
    }
}
