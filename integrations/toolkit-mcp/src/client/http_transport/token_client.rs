//! The HTTP client of a server behind a URL.

use super::event_stream::{SseStream, events, is_too_large};
use super::http_answer::{Posted, has_media_type, media_type, refusal, status_error};
use super::token_source::{DynTokenSource, McpToken, TokenChallenge, TokenRequest};
use crate::client::failures::{HttpFault, redacted_fault};
use crate::client::tools::{RawLists, cut_deep_values};
use crate::client::transport::KnownSecrets;
use crate::unsent::Unsent;
use crate::user_agent::USER_AGENT_VALUE;
use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use http::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT,
};
use http::{Method, Request, StatusCode, Uri};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::common::http_header::{EVENT_STREAM_MIME_TYPE, HEADER_SESSION_ID, JSON_MIME_TYPE};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use serde_json::to_vec;
use sse_stream::Sse;
use std::collections::HashMap;
use std::fmt::Display;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::timeout;
use toolkit_core::CancellationToken;
use toolkit_http::client::{HttpClient, HttpError, HttpResponse, parse_url};
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;

/// The maximum number of new tokens for one request.
const RENEWALS: usize = 2;

const OPENING: Duration = Duration::from_secs(1);

/// Some servers require both.
const ACCEPTED: HeaderValue = HeaderValue::from_static("text/event-stream, application/json");

/// The stream of a session with the server's own requests and notifications.
#[derive(Default)]
pub(crate) struct ServerStream {
    has_session: AtomicBool,
    /// Cancelled when the server has opened the stream or refused.
    answered: CancellationToken,
}

impl ServerStream {
    /// Waits until the stream of a session is open. A server loses the notifications and questions that it
    /// sends before.
    pub(crate) async fn opened(&self) {
        if self.has_session.load(Ordering::Relaxed) {
            let _ = timeout(OPENING, self.answered.cancelled()).await;
        }
    }
}

#[derive(Clone)]
pub(crate) struct TokenClient {
    pub(crate) http: HttpClient,
    pub(crate) token: Option<Arc<dyn DynTokenSource>>,
    pub(crate) stream: Arc<ServerStream>,
    pub(crate) secrets: KnownSecrets,
    /// The answers that the server has not read.
    pub(crate) unsent: Unsent,
    pub(crate) lists: RawLists,
}

type Headers = HashMap<HeaderName, HeaderValue>;

/// A request without its token.
struct HttpRequest {
    method: Method,
    url: Arc<str>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
}

impl HttpRequest {
    fn new(
        method: Method,
        url: Arc<str>,
        session: Option<Arc<str>>,
        headers: Headers,
    ) -> Result<Self, HttpFault> {
        let uri = parse_url(&url).map_err(HttpFault::Client)?;
        let mut headers: HeaderMap = headers.into_iter().collect();
        headers.insert(ACCEPT, ACCEPTED);
        // Answers are not decompressed.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        headers.entry(USER_AGENT).or_insert(USER_AGENT_VALUE);
        if let Some(session) = session {
            headers.insert(HeaderName::from_static("mcp-session-id"), value_of(&session)?);
        }
        Ok(Self { method, url, uri, headers, body: Bytes::new() })
    }

    async fn token(
        &self,
        source: &dyn DynTokenSource,
        challenge: Option<&TokenChallenge>,
    ) -> Result<Option<McpToken>, HttpFault> {
        let Self { method, url, headers, body, .. } = self;
        let request = TokenRequest { method: method.as_str(), url, headers, body, challenge };
        source.token_boxed(&request).await.map_err(unavailable)
    }
}

fn secret(value: &str) -> Result<HeaderValue, HttpFault> {
    let mut value = HeaderValue::from_str(value).map_err(|_| no_header())?;
    value.set_sensitive(true);
    Ok(value)
}

fn no_header() -> HttpFault {
    unavailable("it is no value of a header")
}

fn unavailable(reason: impl Display) -> HttpFault {
    HttpFault::Io(io::Error::new(io::ErrorKind::PermissionDenied, format!("no token: {reason}")))
}

/// Returns a header value with a text of the server.
fn value_of(text: &str) -> Result<HeaderValue, HttpFault> {
    match HeaderValue::from_str(text) {
        Ok(value) => Ok(value),
        Err(_) => Err(HttpFault::UnexpectedServerResponse("an id is no value of a header".into())),
    }
}

/// Checks the status of an answer to a request without a call.
fn check_success(status: StatusCode) -> Result<(), HttpFault> {
    if status.is_success() { Ok(()) } else { Err(io::Error::other(format!("HTTP {status}")).into()) }
}

fn check_encoding(response: &HttpResponse) -> Result<(), HttpFault> {
    response.check_encoding().map_err(|error| HttpFault::UnexpectedServerResponse(error.to_string().into()))
}

impl TokenClient {
    /// Sends a request with the current token, and again with a new one if the server refuses it: the first
    /// new token may lack a scope.
    async fn send(&self, request: &HttpRequest) -> Result<HttpResponse, HttpFault> {
        let Some(source) = &self.token else { return self.send_with(request, None).await };
        let mut token = request.token(&**source, None).await?;
        let mut response = self.send_with(request, token.as_ref()).await?;
        for _ in 0..RENEWALS {
            let Some(challenge) = TokenChallenge::of(&response, token.as_ref()) else { break };
            let new = request.token(&**source, Some(&challenge)).await?;
            if new == token {
                break;
            }
            token = new;
            response = self.send_with(request, token.as_ref()).await?;
        }
        Ok(response)
    }

    async fn send_with(
        &self,
        request: &HttpRequest,
        token: Option<&McpToken>,
    ) -> Result<HttpResponse, HttpFault> {
        let mut sent = Request::new(request.body.clone());
        *sent.method_mut() = request.method.clone();
        *sent.uri_mut() = request.uri.clone();
        let headers = sent.headers_mut();
        headers.clone_from(&request.headers);
        if let Some(token) = token {
            self.secrets.add_token(token.as_str());
            headers.insert(AUTHORIZATION, secret(&format!("{} {}", token.scheme, token.as_str()))?);
            for (name, value) in &token.headers {
                let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| no_header())?;
                headers.insert(name, secret(value)?);
            }
        }
        self.http.send(sent, Duration::MAX).await.map_err(HttpFault::Client)
    }

    async fn post(
        &self,
        request: HttpRequest,
        posted: Posted,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, HttpFault> {
        let response = self.send(&request).await?;
        let session_id = response.headers.get(HEADER_SESSION_ID).and_then(|id| id.to_str().ok());
        let session = session_id.map(str::to_owned);
        if session.is_some() && response.status.is_success() {
            self.stream.has_session.store(true, Ordering::Relaxed);
        }
        if !response.status.is_success() {
            let answer = posted.refusal(response, limits).await?;
            return Ok(StreamableHttpPostResponse::Json(answer, session));
        }
        if matches!(response.status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        check_encoding(&response)?;
        if has_media_type(&response, EVENT_STREAM_MIME_TYPE) {
            let stream = self.answer_events(events(response.body, limits.max_sse_event_size), posted);
            return Ok(StreamableHttpPostResponse::Sse(stream, session));
        }
        Ok(match posted.answer(response, limits).await? {
            Some(answer) => StreamableHttpPostResponse::Json(answer, session),
            None => StreamableHttpPostResponse::Accepted,
        })
    }

    /// Returns the events with the answer to a message, in the form that the SDK reads.
    fn answer_events(&self, stream: SseStream, posted: Posted) -> SseStream {
        stream::unfold((stream, self.unsent.clone(), posted), next_answer).boxed()
    }

    /// Opens a stream of events. The SDK drops lists of tools that it cannot read, so these are cut.
    async fn get(&self, request: HttpRequest, limit: usize) -> Result<SseStream, HttpFault> {
        let response = self.send(&request).await?;
        if response.status == StatusCode::METHOD_NOT_ALLOWED {
            return Err(HttpFault::ServerDoesNotSupportSse);
        }
        if let Some(refused) = refusal(&response).or_else(|| status_error(&response)) {
            return Err(refused);
        }
        check_success(response.status)?;
        check_encoding(&response)?;
        if ![EVENT_STREAM_MIME_TYPE, JSON_MIME_TYPE].iter().any(|kind| has_media_type(&response, kind)) {
            return Err(HttpFault::UnexpectedContentType(Some(media_type(&response).to_owned())));
        }
        let stream = events(response.body, limit);
        Ok(stream::unfold((stream, self.unsent.clone()), next_event).boxed())
    }

    /// Runs a request without logs of the HTTP client, and without secrets in its error.
    async fn quietly<T>(&self, request: impl Future<Output = Result<T, HttpFault>>) -> Result<T, HttpFault> {
        let outcome = request.with_subscriber(NoSubscriber::default()).await;
        outcome.map_err(|fault| redacted_fault(fault, &self.secrets.redactor()))
    }
}

type AnswerEvents = (SseStream, Unsent, Posted);

/// Returns the next event with the answer to a message, and the later events.
async fn next_answer(
    (mut stream, unsent, posted): AnswerEvents,
) -> Option<(Result<Sse, SseError>, AnswerEvents)> {
    unsent.has_room().await;
    let mut event = stream.next().await?;
    match &mut event {
        Ok(Sse { data: Some(data), .. }) => {
            if let Some(answer) = posted.event(data) {
                *data = answer;
            }
        }
        Err(error) if is_too_large(error) => {
            if let Some(answer) = posted.too_large() {
                event = Ok(Sse::default().data(answer));
            }
        }
        _ => {}
    }
    Some((event, (stream, unsent, posted)))
}

async fn next_event(
    (mut stream, unsent): (SseStream, Unsent),
) -> Option<(Result<Sse, SseError>, (SseStream, Unsent))> {
    unsent.has_room().await;
    let mut event = stream.next().await?;
    if let Ok(Sse { data: Some(data), .. }) = &mut event
        && let Some(list) = cut_deep_values(data)
    {
        *data = list;
    }
    Some((event, (stream, unsent)))
}

impl StreamableHttpClient for TokenClient {
    type Error = HttpError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpFault> {
        let limits = StreamableHttpResponseLimits::default();
        self.post_message_with_response_limits(uri, message, session, token, headers, limits).await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, HttpFault> {
        let mut posted = Posted::new(&message, self.lists.clone());
        (posted.has_session, posted.has_token) = (session.is_some(), self.token.is_some());
        let mut request = HttpRequest::new(Method::POST, uri, session, headers)?;
        request.headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON_MIME_TYPE));
        request.body = to_vec(&message)?.into();
        drop(message);
        self.quietly(self.post(request, posted, limits)).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<(), HttpFault> {
        let request = HttpRequest::new(Method::DELETE, uri, Some(session), headers)?;
        let deleted = async {
            let response = self.send(&request).await?;
            match response.status {
                // The server does not let clients end sessions.
                StatusCode::METHOD_NOT_ALLOWED => Ok(()),
                status => check_success(status),
            }
        };
        self.quietly(deleted).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<SseStream, HttpFault> {
        let limit = StreamableHttpResponseLimits::default().max_sse_event_size;
        self.get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, limit).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _: Option<String>,
        headers: Headers,
        limit: usize,
    ) -> Result<SseStream, HttpFault> {
        let mut request = HttpRequest::new(Method::GET, uri, session, headers)?;
        if let Some(last_event) = last_event {
            request.headers.insert(HeaderName::from_static("last-event-id"), value_of(&last_event)?);
        }
        let stream = self.quietly(self.get(request, limit)).await;
        self.stream.answered.cancel();
        stream
    }
}
