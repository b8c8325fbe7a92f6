//! HTTP for all clients: requests, and bodies of responses within limits.

use super::fault;
use super::settings::{HttpLimits, Settings, after};
use crate::helpers::lock;
use crate::model::{ModelError, ModelErrorKind};
use bytes::Bytes;
use http_body::{Body, Frame};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use tokio::time::{Instant, Sleep, sleep_until, timeout};

/// How much of the body of a failure is read.
const READ_OF_FAILURES: usize = 64 << 10;

pub(super) const EVENTS: &str = "text/event-stream";

/// The HTTP client of one server.
#[derive(Debug, Clone)]
pub(super) struct Http {
    pub(super) client: reqwest::Client,
    pub(super) headers: HeaderMap,
    pub(super) limits: HttpLimits,
}

/// How an answer comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    /// Whole.
    Json,
    /// Piece by piece.
    Events,
}

impl Http {
    /// Creates a client with the header of the key before those of the settings.
    pub(super) fn new(settings: &Settings, key: Option<(&str, String)>) -> Result<Self, ModelError> {
        let mut headers = HeaderMap::new();
        let key = key.iter().map(|(name, key)| (*name, key));
        for (name, value) in key.chain(settings.headers.iter().map(|(name, value)| (name.as_str(), value))) {
            let (name, value) = header(name, value)?;
            headers.insert(name, value);
        }
        Ok(Self { client: client(settings)?, headers, limits: settings.limits.clone() })
    }

    /// Sends a request, and gives back the body of a response that reports no failure.
    pub(super) async fn send(
        &self,
        mut request: reqwest::Request,
        expected: Expected,
        watch: &Watch,
    ) -> Result<BoundedBody, ModelError> {
        request.headers_mut().extend(self.headers.clone());
        let HttpLimits { total, idle, .. } = self.limits;
        let deadline = after(total);
        let patience = match expected {
            Expected::Json => total,
            Expected::Events => idle.min(total),
        };
        let response = match timeout(patience, self.client.execute(request)).await {
            Ok(response) => response.map_err(|error| fault::of_client(&error))?,
            Err(_) => return Err(fault::timed_out("has not answered", patience)),
        };
        let (status, headers) = (response.status(), response.headers().clone());
        let mut body = BoundedBody {
            body: response.into(),
            limits: self.limits.clone(),
            deadline,
            alarm: Box::pin(sleep_until(deadline.min(after(idle)))),
            received: 0,
            watch: watch.clone(),
        };
        if !status.is_success() {
            return Err(fault::of_status(status, &headers, &body.head(READ_OF_FAILURES).await));
        }
        if expected == Expected::Events
            && let Some(other) = media_type(&headers).filter(|said| *said != EVENTS)
        {
            let head = body.head(READ_OF_FAILURES).await;
            let text = format!("the model's server has sent {other}, no stream: {}", fault::shown(&head));
            return Err(ModelError::new(ModelErrorKind::InvalidResponse, text));
        }
        Ok(body)
    }
}

/// Returns the media type of a body, if it is said.
fn media_type(headers: &HeaderMap) -> Option<&str> {
    let said = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    said.split(';').next().map(str::trim).filter(|said| !said.is_empty())
}

/// Returns a header. Its value is never shown, because it may be a key.
fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), ModelError> {
    let illegal = |text: String| ModelError::new(ModelErrorKind::InvalidRequest, text);
    let parsed = HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| illegal(format!("`{name}` is no name of a header")))?;
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| illegal(format!("the value of the header `{name}` must be visible ASCII characters")))?;
    value.set_sensitive(true);
    Ok((parsed, value))
}

/// Returns the number of idle connections to keep. Without encryption a new one costs next to nothing, and small
/// servers close theirs when they like: a request that crosses with the end of its connection is lost.
fn kept(base_url: &str) -> usize {
    if base_url.starts_with("http://") { 0 } else { usize::MAX }
}

fn client(settings: &Settings) -> Result<reqwest::Client, ModelError> {
    let builder = reqwest::Client::builder()
        .tls_backend_preconfigured(tls(&settings.base_url)?)
        .connect_timeout(settings.limits.connect)
        .pool_max_idle_per_host(kept(&settings.base_url))
        .redirect(Policy::none())
        .user_agent(concat!("toolkit-agent/", env!("CARGO_PKG_VERSION")));
    builder.build().map_err(|error| fault::of_client(&error))
}

/// Configures the platform's TLS; its certificates are not needed where nothing is encrypted.
fn tls(base_url: &str) -> Result<ClientConfig, ModelError> {
    let failed = |error: rustls::Error| {
        ModelError::new(ModelErrorKind::Connection, format!("no encrypted connections: {error}"))
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(failed)?;
    let builder = match base_url.starts_with("http://") {
        true => builder.with_root_certificates(RootCertStore::empty()),
        false => builder.with_platform_verifier().map_err(failed)?,
    };
    Ok(builder.with_no_client_auth())
}

/// The body of a response. A server that is silent for too long, or says too much, ends it with an error.
pub(super) struct BoundedBody {
    body: reqwest::Body,
    limits: HttpLimits,
    /// When the whole answer has to be there.
    deadline: Instant,
    /// The end of the silence, or the deadline.
    alarm: Pin<Box<Sleep>>,
    received: usize,
    watch: Watch,
}

/// The observations of a body, for a reader behind another client.
#[derive(Debug, Clone, Default)]
pub(super) struct Watch(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The error that broke the response.
    pub(super) fault: Option<ModelError>,
    /// Whether the last byte came.
    pub(super) ended: bool,
}

impl Watch {
    pub(super) fn see<T>(&self, look: impl FnOnce(&mut Seen) -> T) -> T {
        look(&mut lock(&self.0))
    }
}

impl BoundedBody {
    /// Returns the next bytes; `None` after the last.
    pub(super) fn poll_bytes(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, ModelError>>> {
        loop {
            let Poll::Ready(next) = Pin::new(&mut self.body).poll_frame(context) else {
                ready!(self.alarm.as_mut().poll(context));
                return Poll::Ready(Some(Err(self.silence())));
            };
            let frame = match next {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(fault::of_client(&error)))),
                Some(Ok(frame)) => frame,
            };
            // Trailers say nothing that matters here.
            let Ok(bytes) = frame.into_data() else { continue };
            self.received = self.received.saturating_add(bytes.len());
            if self.received > self.limits.max_bytes {
                return Poll::Ready(Some(Err(self.too_long())));
            }
            self.alarm.as_mut().reset(self.deadline.min(after(self.limits.idle)));
            return Poll::Ready(Some(Ok(bytes)));
        }
    }

    /// Reads all bytes.
    pub(super) async fn all(&mut self) -> Result<Vec<u8>, ModelError> {
        let mut all = Vec::new();
        while let Some(bytes) = poll_fn(|context| self.poll_bytes(context)).await {
            all.extend_from_slice(&bytes?);
        }
        Ok(all)
    }

    /// Returns the first bytes, as many as are there before something goes wrong.
    async fn head(&mut self, most: usize) -> Vec<u8> {
        let mut head = Vec::new();
        while head.len() < most
            && let Some(Ok(bytes)) = poll_fn(|context| self.poll_bytes(context)).await
        {
            head.extend_from_slice(&bytes);
        }
        head.truncate(most);
        head
    }

    fn silence(&self) -> ModelError {
        if Instant::now() >= self.deadline {
            fault::timed_out("has not said all", self.limits.total)
        } else {
            fault::timed_out("has said nothing more", self.limits.idle)
        }
    }

    fn too_long(&self) -> ModelError {
        let text = format!("the response is longer than {} bytes", self.limits.max_bytes);
        // It would be as long the next time.
        ModelError::new(ModelErrorKind::Other, text)
    }
}

impl Body for BoundedBody {
    type Data = Bytes;
    type Error = ModelError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ModelError>>> {
        let next = ready!(self.poll_bytes(context));
        match &next {
            None => self.watch.see(|seen| seen.ended = true),
            Some(Err(error)) => self.watch.see(|seen| seen.fault = Some(error.clone())),
            Some(Ok(_)) => {}
        }
        Poll::Ready(next.map(|bytes| bytes.map(Frame::data)))
    }
}
