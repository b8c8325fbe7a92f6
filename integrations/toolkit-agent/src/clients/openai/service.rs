//! The HTTP service of `async-openai`. It sends each request once, within limits, and keeps the cause of
//! every failure.
//!
//! Without this service, `async-openai` would retry by itself and read bodies of any length. It would also
//! lose the header `Retry-After`, the status of failures without JSON, and the cause of a broken stream.

use crate::clients::fault;
use crate::clients::http::{Expected, Http, Watch};
use crate::helpers::BoxFuture;
use crate::model::{ModelError, ModelErrorKind};
use crate::wire::Fragment;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use futures_core::Stream;
use serde_json::Value;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use toolkit_wire::ApiFormat;
use tower_service::Service;

/// Converts an error of `async-openai`. An error observed by `watch` takes precedence.
pub(super) fn explain(watch: &Watch, error: OpenAIError) -> ModelError {
    if let Some(fault) = watch.see(|seen| seen.fault.take()) {
        return fault;
    }
    match error {
        OpenAIError::JSONDeserialize(error, body) => fault::no_json(&error, body.as_bytes()),
        OpenAIError::Reqwest(error) => fault::of_client(&error),
        OpenAIError::InvalidArgument(text) => ModelError::new(ModelErrorKind::InvalidRequest, text),
        other => ModelError::new(ModelErrorKind::Other, other.to_string()),
    }
}

/// The HTTP service of `async-openai` for one request.
#[derive(Clone)]
pub(super) struct HttpService {
    pub(super) http: Http,
    pub(super) expected: Expected,
    pub(super) watch: Watch,
}

impl HttpService {
    async fn carry(self, factory: HttpRequestFactory) -> Result<reqwest::Response, OpenAIError> {
        let mut request = factory.build().await?;
        // `Http::send` adds its own header with the API key.
        request.headers_mut().remove(reqwest::header::AUTHORIZATION);
        let body = self.http.send(request, self.expected, &self.watch).await.map_err(|error| {
            self.watch.see(|seen| seen.fault = Some(error.clone()));
            OpenAIError::Boxed(Box::new(error))
        })?;
        Ok(http::Response::new(reqwest::Body::wrap(body)).into())
    }
}

impl Service<HttpRequestFactory> for HttpService {
    type Response = reqwest::Response;
    type Error = OpenAIError;
    type Future = BoxFuture<'static, Result<reqwest::Response, OpenAIError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), OpenAIError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, factory: HttpRequestFactory) -> Self::Future {
        Box::pin(self.clone().carry(factory))
    }
}

/// The pieces of a stream from `async-openai`.
pub(super) struct Events {
    pub(super) format: ApiFormat,
    pub(super) events: Pin<Box<dyn Stream<Item = Result<Value, OpenAIError>> + Send>>,
    pub(super) watch: Watch,
    pub(super) is_over: bool,
}

impl Stream for Events {
    type Item = Result<Fragment, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let next = ready!(self.events.as_mut().poll_next(context));
        Poll::Ready(match next {
            Some(Ok(event)) => Some(Ok(Fragment::Event(event))),
            Some(Err(error)) => Some(Err(explain(&self.watch, error))),
            None => {
                self.is_over = true;
                // `async-openai` stops reading at the line `[DONE]` and does not return it. If the body was
                // not read to the end, the line was received.
                let was_said = self.format == ApiFormat::OpenAiChat && !self.watch.see(|seen| seen.ended);
                was_said.then(|| Ok(Fragment::Event("[DONE]".into())))
            }
        })
    }
}
