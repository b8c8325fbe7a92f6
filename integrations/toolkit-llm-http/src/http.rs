//! HTTP requests of all clients, and response bodies with limits on time and size.

use crate::auth::Auth;
use crate::fault;
use crate::settings::{Service, Settings};
use bytes::Bytes;
use futures_core::Stream;
use http::Request;
use http::header::{HeaderMap, HeaderValue, USER_AGENT};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use toolkit_core::redaction::{Redacted, Redactor, Unread};
use toolkit_http::client::{
    BoundedBody, HttpClient, HttpResponse, header, is_json, media_type, parse_url, redacted_headers, shown,
};
use toolkit_llm::{ModelError, ModelErrorKind};

pub(super) const AGENT: &str = concat!("toolkit-agent/", env!("CARGO_PKG_VERSION"));

/// The maximum number of bytes to read of a failed response.
const READ_OF_FAILURES: usize = 64 << 10;

/// The maximum time for reading a failed response.
const TIME_OF_FAILURES: Duration = Duration::from_secs(5);

const SSE: &str = "text/event-stream";

/// The media types of server-sent events, lines of JSON, and the event stream of Amazon Web Services.
const STREAMS: [&str; 3] = [SSE, "application/x-ndjson", "application/vnd.amazon.eventstream"];

/// Media types of streams or JSON documents. The first byte of the body decides.
const UNCLEAR: [&str; 3] = ["text/plain", "application/octet-stream", "binary/octet-stream"];

/// The byte-order mark of UTF-8, which some servers send.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A client for one server, with headers for every request.
#[derive(Debug, Clone)]
pub(super) struct Http {
    client: HttpClient,
    headers: HeaderMap,
    pub(super) settings: Settings,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    Json,
    Events,
}

pub(super) struct Received {
    pub(super) body: BoundedBody,
    /// Whether the body is a complete answer instead of a stream.
    pub(super) is_whole: bool,
    /// The secrets to remove from error messages.
    pub(super) secrets: Redactor,
}

impl Http {
    /// Creates a client with the headers of every request.
    ///
    /// # Errors
    /// [`ModelError`] if a setting is missing, a header is illegal, or the authentication for the provider's
    /// own server is missing.
    pub(super) fn new(settings: &Settings) -> Result<Self, ModelError> {
        if let Some(missing) = settings.missing {
            return Err(ModelError::new(ModelErrorKind::InvalidRequest, missing));
        }
        parse_url(&settings.base_url).map_err(fault::of_http)?;
        let headers = headers(settings)?;
        let client = HttpClient::new(settings.limits.clone()).with_server_name(fault::SERVER);
        Ok(Self { client, headers, settings: settings.clone() })
    }

    /// Sends a request and returns the body of a successful response.
    ///
    /// If the server refuses an access token used before, the request is repeated with a new one.
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
        if !auth.forget(reused, refused.status()).await {
            return result;
        }
        request = again;
        auth.authorize(&mut request, service.name, limit).await?;
        self.exchange(request, expected).await
    }

    async fn exchange(&self, request: Request<Bytes>, expected: Expected) -> Result<Received, ModelError> {
        let limits = self.client.limits();
        let patience = match expected {
            Expected::Json => limits.total,
            Expected::Events => limits.idle,
        };
        let response = self.client.send(request, patience).await.map_err(fault::of_http)?;
        let encoding = response.check_encoding();
        let HttpResponse { status, headers, mut body, secrets, .. } = response;
        if !status.is_success() {
            // Some servers repeat secrets: AWS shows the headers if the signature is wrong.
            let head = match encoding {
                Ok(()) => read_failure(&mut body, &secrets).await,
                Err(_) => Redacted::default(),
            };
            return Err(fault::of_status(status, &redacted_headers(&headers, &secrets), &head));
        }
        encoding.map_err(fault::of_http)?;
        let mut is_whole = false;
        if expected == Expected::Events {
            is_whole = match media_type(&headers).as_deref() {
                Some(stream) if STREAMS.contains(&stream) => false,
                Some(json) if is_json(json) => true,
                // Only among server-sent events, a JSON document cannot be the first event.
                unclear if unclear.is_none_or(|unclear| UNCLEAR.contains(&unclear)) => {
                    self.settings.service.stream_type == SSE && begins_with_json(&mut body).await?
                }
                other => {
                    let other = secrets.redact(other.unwrap_or_default());
                    let head = shown(&read_failure(&mut body, &secrets).await);
                    let text = format!("the model's server has sent {other}, no stream: {head}");
                    return Err(ModelError::new(ModelErrorKind::InvalidResponse, text));
                }
            };
        }
        Ok(Received { body, is_whole, secrets })
    }
}

/// Returns the headers of every request: the API key, then the headers in `settings`.
///
/// # Errors
/// [`ModelError`] if a header is illegal, or the authentication for the provider's own server is missing.
pub(super) fn headers(settings: &Settings) -> Result<HeaderMap, ModelError> {
    let Service { name, key_header: (header_name, before), auth_setter, .. } = settings.service;
    let mut headers = HeaderMap::new();
    headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    match &settings.auth {
        Auth::Key(key) if !header_name.is_empty() => {
            insert(&mut headers, header_name, &format!("{before}{key}"))?;
        }
        Auth::None if settings.service.needs_auth(&settings.base_url) => {
            let text = match settings.service.key_variables {
                [variable, ..] => {
                    format!("there is no key for {name}; set `{variable}` or use `{auth_setter}`")
                }
                [] => format!("there is no access token for {name}; use `{auth_setter}`"),
            };
            return Err(ModelError::new(ModelErrorKind::Unauthorized, text));
        }
        _ => {}
    }
    for (name, value) in &settings.headers {
        insert(&mut headers, name, value)?;
    }
    Ok(headers)
}

fn insert(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), ModelError> {
    let (name, value) = header(name, value).map_err(fault::of_http)?;
    headers.insert(name, value);
    Ok(())
}

async fn read_failure(body: &mut BoundedBody, secrets: &Redactor) -> Redacted {
    Unread::cut(body.head(READ_OF_FAILURES, TIME_OF_FAILURES).await).text(secrets)
}

/// A body with the errors of models.
pub(super) struct ModelBody(pub(super) BoundedBody);

impl Stream for ModelBody {
    type Item = Result<Vec<u8>, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.0).poll_next(context).map_err(fault::of_http)
    }
}

/// Returns whether a body begins with a JSON object or array after white space. Later reads return all bytes.
async fn begins_with_json(body: &mut BoundedBody) -> Result<bool, ModelError> {
    let mut head = Vec::new();
    let is_json = loop {
        let Some(bytes) = body.chunk().await else { break false };
        head.extend_from_slice(&bytes.map_err(fault::of_http)?);
        let text = head.strip_prefix(MARK).unwrap_or(&head);
        if let Some(first) = text.trim_ascii_start().first() {
            break matches!(first, b'{' | b'[');
        }
    };
    body.put_back(head);
    Ok(is_json)
}
