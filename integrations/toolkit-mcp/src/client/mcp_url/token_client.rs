//! The HTTP client of a server behind a URL.

use crate::client::deep_lists::cut;
use crate::client::failure::{HttpFault, redacted_fault};
use crate::client::known_secrets::KnownSecrets;
use crate::client::token_source::{DynTokenSource, TokenChallenge};
use crate::unsent::Unsent;
use futures_util::stream::{self, BoxStream, StreamExt};
use reqwest::RequestBuilder;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ServerJsonRpcMessage};
use rmcp::transport::common::http_header::{HEADER_SESSION_ID, JSON_MIME_TYPE};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use serde_json::{from_str, to_vec};
use sse_stream::Sse;
use std::collections::HashMap;
use std::error::Error;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::timeout;
use toolkit_core::CancellationToken;
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;

/// The maximum number of new tokens for one request.
const RENEWALS: usize = 2;

/// The time for a server to open the stream of a session.
const OPENING: Duration = Duration::from_secs(1);

/// The stream of a session on which the server sends its own requests and notifications.
#[derive(Default)]
pub(super) struct ServerStream {
    /// Whether the server has opened a session.
    has_session: AtomicBool,
    /// Cancelled when the server has opened the stream, or has refused to open it.
    answered: CancellationToken,
}

impl ServerStream {
    /// Waits until the stream of a session is open. A server loses notifications of changed tools and questions to the
    /// user if it sends them before.
    pub(super) async fn opened(&self) {
        if self.has_session.load(Ordering::Relaxed) {
            let _ = timeout(OPENING, self.answered.cancelled()).await;
        }
    }
}

/// An HTTP client that adds the current token to each request.
#[derive(Clone)]
pub(super) struct TokenClient {
    pub(super) http: reqwest::Client,
    pub(super) token: Option<Arc<dyn DynTokenSource>>,
    pub(super) stream: Arc<ServerStream>,
    pub(super) secrets: KnownSecrets,
    /// The answers that the server has not read.
    pub(super) unsent: Unsent,
}

type Headers = HashMap<HeaderName, HeaderValue>;
type SseStream = BoxStream<'static, Result<Sse, SseError>>;

impl TokenClient {
    /// Sends a request with the current token. If the server refuses this token, sends the request again with a new
    /// token: the first new token may lack a scope.
    async fn with_token<T, F>(&self, send: impl Fn(Option<String>) -> F) -> Result<T, HttpFault>
    where
        F: Future<Output = Result<T, HttpFault>>,
    {
        let send = async |token: Option<String>| {
            if let Some(token) = &token {
                self.secrets.add_token(token);
            }
            // The SDK and its HTTP client log what the server has answered.
            let sent = send(token).with_subscriber(NoSubscriber::default()).await;
            sent.map_err(|fault| redacted_fault(fault, &self.secrets.redactor()))
        };
        let Some(source) = &self.token else { return send(None).await };
        let unavailable = |reason: Box<dyn Error + Send + Sync>| {
            HttpFault::Io(io::Error::new(io::ErrorKind::PermissionDenied, format!("no token: {reason}")))
        };
        let mut token = source.token_boxed(None).await.map_err(unavailable)?;
        let mut outcome = send(token.clone()).await;
        for _ in 0..RENEWALS {
            let Err(fault) = &outcome else { break };
            let Some(challenge) = TokenChallenge::of(fault, token.as_deref()) else { break };
            let new = source.token_boxed(Some(&challenge)).await.map_err(unavailable)?;
            if new == token {
                break;
            }
            token = new;
            outcome = send(token.clone()).await;
        }
        outcome
    }

    /// Sends a message. A list of tools that the SDK cannot read, because a tool of it is nested too deep, is requested once
    /// more, because the SDK does not return the body.
    async fn post(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, HttpFault> {
        let again = self.list_request(&uri, &message, session.as_deref(), token.as_deref(), &headers);
        let posted =
            self.http.post_message_with_response_limits(uri, message, session, token, headers, limits).await;
        // The SDK keeps only the text of the parser's error.
        let is_deep = matches!(&posted, Err(HttpFault::UnexpectedServerResponse(text))
            if text.contains("recursion limit exceeded"));
        let Some(again) = again.filter(|_| is_deep) else { return posted };
        match deep_list(again, limits.max_json_response_size).await {
            Some(list) => Ok(StreamableHttpPostResponse::Json(list, None)),
            None => posted,
        }
    }

    /// Returns the request of a list of tools; `None` for another message.
    fn list_request(
        &self,
        uri: &str,
        message: &ClientJsonRpcMessage,
        session: Option<&str>,
        token: Option<&str>,
        headers: &Headers,
    ) -> Option<RequestBuilder> {
        let ClientJsonRpcMessage::Request(request) = message else { return None };
        if !matches!(request.request, ClientRequest::ListToolsRequest(_)) {
            return None;
        }
        let mut headers: HeaderMap = headers.clone().into_iter().collect();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON_MIME_TYPE));
        // The SDK accepts both, and some servers require it.
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
        let mut request = self.http.post(uri).headers(headers).body(to_vec(message).ok()?);
        if let Some(session) = session {
            request = request.header(HEADER_SESSION_ID, session);
        }
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        Some(request)
    }

    /// Returns a stream that is not read while the server leaves too many answers unread. The SDK reads on by itself, and
    /// drops the lists of tools that it cannot read, so these are cut.
    fn limited(&self, stream: SseStream) -> SseStream {
        stream::unfold((stream, self.unsent.clone()), async |(mut stream, unsent)| {
            unsent.has_room().await;
            let mut event = stream.next().await?;
            if let Ok(Sse { data: Some(data), .. }) = &mut event
                && let Some(list) = cut(data)
            {
                *data = list;
            }
            Some((event, (stream, unsent)))
        })
        .boxed()
    }
}

/// Requests a list of tools of which a tool is nested too deep. Returns `None` unless the answer is such a list, in a JSON
/// body of at most `limit` bytes.
async fn deep_list(request: RequestBuilder, limit: usize) -> Option<ServerJsonRpcMessage> {
    let mut response = request.send().await.ok()?.error_for_status().ok()?;
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        body.extend_from_slice(&chunk);
        if body.len() > limit {
            return None;
        }
    }
    from_str(&cut(str::from_utf8(&body).ok()?)?).ok()
}

impl StreamableHttpClient for TokenClient {
    type Error = reqwest::Error;

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
        let response = self
            .with_token(|token| {
                let uri = uri.clone();
                let message = message.clone();
                let session = session.clone();
                let headers = headers.clone();
                self.post(uri, message, session, token, headers, limits)
            })
            .await;
        if let Ok(
            StreamableHttpPostResponse::Json(_, Some(_)) | StreamableHttpPostResponse::Sse(_, Some(_)),
        ) = &response
        {
            self.stream.has_session.store(true, Ordering::Relaxed);
        }
        match response? {
            StreamableHttpPostResponse::Sse(stream, session) => {
                Ok(StreamableHttpPostResponse::Sse(self.limited(stream), session))
            }
            response => Ok(response),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<(), HttpFault> {
        self.with_token(|token| {
            self.http.delete_session(uri.clone(), session.clone(), token, headers.clone())
        })
        .await
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
        let stream = self
            .with_token(|token| {
                let uri = uri.clone();
                let session = session.clone();
                let last_event = last_event.clone();
                let headers = headers.clone();
                self.http.get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, limit)
            })
            .await;
        self.stream.answered.cancel();
        Ok(self.limited(stream?))
    }
}
