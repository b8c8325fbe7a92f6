//! HTTP requests of all clients, and response bodies with limits on time and size.

use crate::auth::Auth;
use crate::connection::Connections;
use crate::fault;
use crate::settings::{HttpLimits, Service, Settings, after};
use crate::text::header;
use bytes::Bytes;
use futures_core::Stream;
use http::Request;
use http::header::{
    CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, PROXY_AUTHORIZATION, USER_AGENT,
};
use http_body::Body;
use hyper::body::Incoming;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until, timeout};
use toolkit_llm::model::{ModelError, ModelErrorKind};
use toolkit_llm::transport::without_secrets;

/// The value of the header `User-Agent`.
pub(super) const AGENT: &str = concat!("toolkit-agent/", env!("CARGO_PKG_VERSION"));

/// The maximum number of bytes read from the body of a failed response.
const READ_OF_FAILURES: usize = 64 << 10;

/// The maximum time for reading the body of a failed response. The status is already known.
const TIME_OF_FAILURES: Duration = Duration::from_secs(5);

/// The media type of server-sent events.
const SSE: &str = "text/event-stream";

/// The media types of streams: server-sent events, lines of JSON, and the event stream of Amazon Web
/// Services.
const STREAMS: [&str; 3] = [SSE, "application/x-ndjson", "application/vnd.amazon.eventstream"];

/// Media types that do not tell whether the body is a stream or one JSON document. The first byte of the body
/// decides.
const UNCLEAR: [&str; 3] = ["text/plain", "application/octet-stream", "binary/octet-stream"];

/// The byte-order mark of UTF-8, which some servers put before JSON.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Substrings that mark a header as secret if its name contains one of them.
const SECRET_NAMES: [&str; 5] = ["auth", "cookie", "key", "secret", "token"];

/// The minimum length, in bytes, of a secret to remove from a server's message. Shorter secrets stay in the
/// message, because they could be ordinary words.
pub(super) const SHORTEST_SECRET: usize = 6;

/// An HTTP client for one server, with the headers to send in every request.
#[derive(Debug, Clone)]
pub(super) struct Http {
    connections: Connections,
    headers: HeaderMap,
    pub(super) settings: Settings,
}

/// The form of the answer that a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    /// A complete JSON document.
    Json,
    /// A stream of events.
    Events,
}

/// A successful response: its body, and the secrets of its request.
pub(super) struct Received {
    pub(super) body: BoundedBody,
    /// Whether the body is one complete answer instead of a stream.
    pub(super) is_whole: bool,
    /// The secrets of the request, to remove from error messages.
    pub(super) secrets: Vec<String>,
}

impl Http {
    /// Creates a client. Each request contains the header with the API key, followed by the headers in
    /// `settings`.
    ///
    /// # Errors
    /// [`ModelError`] if a setting is missing or a header is illegal. Also if the base URL is the provider's
    /// own and the client has no authentication.
    pub(super) fn new(settings: &Settings) -> Result<Self, ModelError> {
        if let Some(missing) = settings.missing {
            return Err(ModelError::new(ModelErrorKind::InvalidRequest, missing));
        }
        let connections = Connections::new(&settings.base_url, &settings.limits)?;
        let mut headers = headers(settings)?;
        headers.extend(connections.proxy_authorization.clone().map(|value| (PROXY_AUTHORIZATION, value)));
        Ok(Self { connections, headers, settings: settings.clone() })
    }

    /// Sends a request and returns the body of a successful response.
    ///
    /// If the server refuses an access token that an earlier request has already used, sends the request
    /// again with a new token.
    pub(super) async fn send(
        &self,
        mut request: Request<Bytes>,
        expected: Expected,
    ) -> Result<Received, ModelError> {
        request.headers_mut().extend(self.headers.clone());
        let Settings { auth, limits, service, .. } = &self.settings;
        let limit = limits.idle.min(limits.total);
        let again = request.clone();
        let reused = auth.authorize(&mut request, service.name, limit).await?;
        let result = self.exchange(request, expected).await;
        let (Err(refused), Some(reused)) = (&result, reused) else { return result };
        if !auth.forget(reused, refused.status).await {
            return result;
        }
        request = again;
        auth.authorize(&mut request, service.name, limit).await?;
        self.exchange(request, expected).await
    }

    async fn exchange(&self, request: Request<Bytes>, expected: Expected) -> Result<Received, ModelError> {
        let HttpLimits { total, idle, .. } = self.settings.limits;
        let deadline = after(total);
        let patience = match expected {
            Expected::Json => total,
            Expected::Events => idle.min(total),
        };
        let secrets = secrets(request.headers());
        let response = match timeout(patience, self.connections.send(request)).await {
            Ok(response) => response?,
            Err(_) => return Err(fault::timed_out("has not answered", patience)),
        };
        let (head, body) = response.into_parts();
        let status = head.status;
        let headers = head.headers;
        let deadline = if status.is_success() { deadline } else { deadline.min(after(TIME_OF_FAILURES)) };
        let mut body = BoundedBody {
            body,
            limits: self.settings.limits.clone(),
            deadline,
            alarm: Box::pin(sleep_until(deadline.min(after(idle)))),
            received: 0,
            peeked: None,
        };
        let is_plain = |encoding: &&HeaderValue| {
            encoding.is_empty() || encoding.as_bytes().eq_ignore_ascii_case(b"identity")
        };
        let encoding = headers.get(CONTENT_ENCODING).filter(|encoding| !is_plain(encoding));
        if !status.is_success() {
            let head = match encoding {
                None => redacted(&body.head(READ_OF_FAILURES).await, &secrets),
                Some(_) => Vec::new(),
            };
            let mut error = fault::of_status(status, &headers, &head);
            // The address of a redirect is not in the body.
            error.message = without_secrets(&error.message, &secrets);
            return Err(error);
        }
        if let Some(encoding) = encoding {
            let text = format!(
                "the model's server has sent an answer with the content encoding {encoding:?}, which the request does \
                 not accept; turn compression off in the server, or in the proxy before it"
            );
            return Err(ModelError::new(ModelErrorKind::InvalidResponse, text).with_should_retry(false));
        }
        let mut is_whole = false;
        if expected == Expected::Events {
            is_whole = match media_type(&headers).as_deref() {
                Some(said) if STREAMS.contains(&said) => false,
                Some(said) if is_json(said) => true,
                // Only in a stream of server-sent events, a JSON document cannot be the first event.
                unclear if unclear.is_none_or(|unclear| UNCLEAR.contains(&unclear)) => {
                    self.settings.service.stream_type == SSE && body.begins_with_json().await?
                }
                other => {
                    let other = other.unwrap_or_default();
                    let head = redacted(&body.head(READ_OF_FAILURES).await, &secrets);
                    let text =
                        format!("the model's server has sent {other}, no stream: {}", fault::shown(&head));
                    return Err(ModelError::new(ModelErrorKind::InvalidResponse, text));
                }
            };
        }
        Ok(Received { body, is_whole, secrets })
    }
}

/// Returns the headers of every request: the header with the API key, followed by the headers in `settings`.
///
/// # Errors
/// [`ModelError`] if a header is illegal. Also if the base URL is the provider's own and the client has no
/// authentication.
pub(super) fn headers(settings: &Settings) -> Result<HeaderMap, ModelError> {
    let Service { name, key_header: (header_name, before), auth_setter, .. } = settings.service;
    let key = match &settings.auth {
        Auth::Key(key) => Some((*header_name, format!("{before}{key}"))),
        Auth::None if settings.service.needs_auth(&settings.base_url) => {
            let text = match settings.service.key_variables {
                [variable, ..] => {
                    format!("there is no key for {name}; set `{variable}` or use `{auth_setter}`")
                }
                [] => format!("there is no access token for {name}; use `{auth_setter}`"),
            };
            return Err(ModelError::new(ModelErrorKind::Unauthorized, text));
        }
        _ => None,
    };
    let mut headers = HeaderMap::new();
    headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    let key = key.iter().filter(|(name, _)| !name.is_empty()).map(|(name, key)| (*name, key));
    for (name, value) in key.chain(settings.headers.iter().map(|(name, value)| (name.as_str(), value))) {
        let (name, value) = header(name, value)?;
        headers.insert(name, value);
    }
    Ok(headers)
}

/// Returns the secrets in the headers of a request.
pub(super) fn secrets(headers: &HeaderMap) -> Vec<String> {
    let is_secret = |name: &HeaderName| SECRET_NAMES.iter().any(|part| name.as_str().contains(part));
    let values = headers.iter().filter(|(name, _)| is_secret(name)).filter_map(|(name, value)| {
        let value = value.to_str().ok()?;
        // The scheme is no secret: `Bearer`, for example.
        let scheme = value.split_once(' ').filter(|_| name.as_str().ends_with("authorization"));
        Some(scheme.map_or(value, |(_, secret)| secret).to_owned())
    });
    values.filter(|value| value.len() >= SHORTEST_SECRET).collect()
}

/// Returns the body of a failed response without the secrets of the request. Some servers repeat these
/// secrets: AWS shows the headers of a request whose signature is wrong.
pub(super) fn redacted(body: &[u8], secrets: &[String]) -> Vec<u8> {
    without_secrets(&String::from_utf8_lossy(body), secrets).into_bytes()
}

/// Returns a body without a byte-order mark.
fn without_mark(mut body: Vec<u8>) -> Vec<u8> {
    if body.starts_with(MARK) {
        body.drain(..MARK.len());
    }
    body
}

/// Returns the media type in the header `Content-Type`, in lowercase, if present.
fn media_type(headers: &HeaderMap) -> Option<String> {
    let said = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    said.split(';').next().map(|said| said.trim().to_lowercase()).filter(|said| !said.is_empty())
}

/// Returns whether a body with this media type is one JSON document.
fn is_json(media_type: &str) -> bool {
    media_type == "application/json" || media_type.ends_with("+json") || media_type == "text/json"
}

/// A response body with limits on time and size. Reading fails if the server is silent for too long or sends
/// too many bytes.
pub(super) struct BoundedBody {
    body: Incoming,
    limits: HttpLimits,
    /// The deadline for the complete answer.
    deadline: Instant,
    /// A timer for the earlier of the idle limit and the deadline.
    alarm: Pin<Box<Sleep>>,
    received: usize,
    /// Bytes that were read in advance to recognize the form of the answer. The next poll returns them.
    peeked: Option<Vec<u8>>,
}

impl Stream for BoundedBody {
    type Item = Result<Vec<u8>, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(bytes) = self.peeked.take() {
            return Poll::Ready(Some(Ok(bytes)));
        }
        loop {
            let Poll::Ready(next) = Pin::new(&mut self.body).poll_frame(context) else {
                ready!(self.alarm.as_mut().poll(context));
                return Poll::Ready(Some(Err(self.silence())));
            };
            let frame = match next {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(fault::broken(&error, false)))),
                Some(Ok(frame)) => frame,
            };
            // Skip trailers: they contain nothing of interest.
            let Ok(bytes) = frame.into_data() else { continue };
            self.received = self.received.saturating_add(bytes.len());
            if self.received > self.limits.max_bytes {
                return Poll::Ready(Some(Err(self.too_long())));
            }
            let next_alarm = self.deadline.min(after(self.limits.idle));
            self.alarm.as_mut().reset(next_alarm);
            return Poll::Ready(Some(Ok(bytes.into())));
        }
    }
}

impl BoundedBody {
    async fn next(&mut self) -> Option<Result<Vec<u8>, ModelError>> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// Puts back bytes that were read.
    pub(super) fn put_back(&mut self, bytes: Vec<u8>) {
        self.peeked = Some(bytes);
    }

    /// Reads the complete body.
    pub(super) async fn all(&mut self) -> Result<Vec<u8>, ModelError> {
        let mut all = Vec::new();
        while let Some(bytes) = self.next().await {
            all.extend_from_slice(&bytes?);
        }
        Ok(without_mark(all))
    }

    /// Returns whether the body begins with a JSON object or array, apart from white space. Later reads still
    /// return all bytes.
    async fn begins_with_json(&mut self) -> Result<bool, ModelError> {
        let mut head = Vec::new();
        let is_json = loop {
            let Some(bytes) = self.next().await else { break false };
            head.extend_from_slice(&bytes?);
            let text = head.strip_prefix(MARK).unwrap_or(&head);
            if let Some(first) = text.trim_ascii_start().first() {
                break matches!(first, b'{' | b'[');
            }
        };
        self.put_back(head);
        Ok(is_json)
    }

    /// Reads at most the first `most` bytes of the body. Returns fewer bytes if reading fails.
    async fn head(&mut self, most: usize) -> Vec<u8> {
        let mut head = Vec::new();
        while head.len() < most
            && let Some(Ok(bytes)) = self.next().await
        {
            head.extend_from_slice(&bytes);
        }
        head.truncate(most);
        without_mark(head)
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
        // Not retryable: the answer to a repeated request would be as long.
        ModelError::new(ModelErrorKind::Other, text)
    }
}
