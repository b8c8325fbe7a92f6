//! Servers behind a URL: streamable HTTP, with a token.

use super::endpoint::McpEndpoint;
use super::failure::{HttpFault, redacted_fault};
use super::handshake::{Attempt, Running};
use super::known_secrets::KnownSecrets;
#[cfg(feature = "auth")]
use super::login::{Login, LoginTokens};
use super::mcp_error::{McpError, McpErrorKind};
use super::token_source::{TokenChallenge, TokenSource};
use crate::http_client::http_client;
use crate::macros::debug;
use crate::request_span::NetworkPath;
use crate::unsent::Unsent;
use futures_util::stream::{self, BoxStream, StreamExt};
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpPostResponse,
    StreamableHttpResponseLimits,
};
use sse_stream::Sse;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::timeout;
use toolkit_core::CancellationToken;
use toolkit_http::client::url_secrets;
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;

/// The URL of a server with streamable HTTP.
///
/// Redirects are not followed, because they would carry the token to another host. The platform checks
/// certificates.
///
/// ```
/// use toolkit_ai::mcp::client::McpUrl;
///
/// let url = McpUrl::new("https://example.com/mcp").with_bearer_token("secret");
/// let url = url.with_header("x-tenant", "a");
/// assert!(!format!("{url:?}").contains("secret"));
/// ```
#[derive(Clone)]
#[must_use]
pub struct McpUrl {
    url: String,
    headers: BTreeMap<String, String>,
    token: Option<Arc<dyn TokenSource>>,
    /// The time for a login, in addition to the time for connecting.
    login_time: Duration,
}

impl McpUrl {
    /// Creates the URL of a server.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), headers: BTreeMap::new(), token: None, login_time: Duration::ZERO }
    }

    /// Adds a header to every request.
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    /// Sends a fixed bearer token with every request.
    pub fn with_bearer_token(self, token: impl Into<String>) -> Self {
        self.with_token_source(token.into())
    }

    /// Sends a token from `source` with every request.
    pub fn with_token_source(mut self, source: impl TokenSource) -> Self {
        self.token = Some(Arc::new(source));
        self
    }

    /// Logs in when the server requires it, and sends the tokens of the login to this URL only.
    #[cfg(feature = "auth")]
    pub fn with_login(mut self, login: Login) -> Self {
        if login.has_user() {
            self.login_time = login.timeout;
        }
        let tokens = LoginTokens::new(login, &self.url);
        self.with_token_source(tokens)
    }

    /// Returns the host of the URL, used as the name of the server.
    fn label(&self) -> String {
        let url = reqwest::Url::parse(&self.url).ok();
        url.as_ref().and_then(reqwest::Url::host_str).unwrap_or("mcp").to_owned()
    }

    fn path(&self) -> NetworkPath {
        let url = reqwest::Url::parse(&self.url).ok();
        let server = url.and_then(|url| Some((url.host_str()?.to_owned(), url.port_or_known_default()?)));
        NetworkPath { transport: Some("tcp"), server }
    }

    async fn connect(self, mut attempt: Attempt) -> Result<Running, McpError> {
        let invalid = |text: String| McpError::new(McpErrorKind::Config, text);
        let url = reqwest::Url::parse(&self.url)
            .map_err(|error| invalid(format!("the URL is invalid: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(invalid(format!(
                "the URL begins with `{}:`; it needs `https://`, or `http://`",
                url.scheme()
            )));
        }
        let mut headers = HashMap::new();
        for (name, value) in &self.headers {
            // The value may be a secret, so messages do not show it.
            let parsed = HeaderName::from_bytes(name.as_bytes()).ok().zip(HeaderValue::from_str(value).ok());
            let Some((name, mut value)) = parsed else {
                return Err(invalid(format!("the header `{name}` is illegal; use visible ASCII characters")));
            };
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let stream = Arc::new(ServerStream::default());
        let http =
            http_client(&url).map_err(|error| McpError::new(McpErrorKind::Connection, error.to_string()))?;
        let secrets = attempt.wire.secrets.clone();
        secrets.add(&toolkit_http::client::secrets(&headers.clone().into_iter().collect()));
        secrets.add(&url_secrets(&self.url));
        let unsent = attempt.wire.unsent.clone();
        let client = TokenClient { http, token: self.token, stream: stream.clone(), secrets, unsent };
        let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
        config.custom_headers = headers;
        config.max_sse_event_size = attempt.limit;
        config.max_json_response_size = attempt.limit;
        config.max_concurrent_requests = MAX_REQUESTS;
        // The SDK would open a new session without listing the tools again, and would report calls that may have
        // been executed as failed. Instead, the client opens a new connection.
        config.reinit_on_expired_session = false;
        // Over HTTP, a server that runs answers each request with a status.
        attempt.silence = Duration::MAX;
        let transport = StreamableHttpClientTransport::with_client(client, config);
        let running = attempt.serve(transport).await?;
        let has_sessions =
            running.peer().peer_info().is_some_and(|peer| peer.protocol_version.has_initialize());
        if has_sessions {
            stream.opened().await;
        }
        Ok(running)
    }
}

impl From<McpUrl> for McpEndpoint {
    fn from(url: McpUrl) -> Self {
        let login_time = url.login_time;
        let path = url.path();
        let mut endpoint = Self::new(url.label(), move |attempt| url.clone().connect(attempt));
        endpoint.login_time = login_time;
        endpoint.path = path;
        endpoint
    }
}

// The URL may contain secrets, so only its host is shown.
debug!(McpUrl, self, "host": self.label(), "headers": self.headers.keys());

/// The maximum number of requests still waiting for a response, for one connection. The server of this crate
/// executes as many calls at once.
const MAX_REQUESTS: usize = 1_000;

/// The maximum number of new tokens for one request.
const RENEWALS: usize = 2;

/// The time for a server to open the stream of a session.
const OPENING: Duration = Duration::from_secs(1);

/// The stream of a session on which the server sends its own requests and notifications.
#[derive(Default)]
struct ServerStream {
    /// Whether the server has opened a session.
    has_session: AtomicBool,
    /// Cancelled when the server has opened the stream, or has refused to open it.
    answered: CancellationToken,
}

impl ServerStream {
    /// Waits until the stream of a session is open. A server loses notifications of changed tools and questions to the
    /// user if it sends them before.
    async fn opened(&self) {
        if self.has_session.load(Ordering::Relaxed) {
            let _ = timeout(OPENING, self.answered.cancelled()).await;
        }
    }
}

/// An HTTP client that adds the current token to each request.
#[derive(Clone)]
struct TokenClient {
    http: reqwest::Client,
    token: Option<Arc<dyn TokenSource>>,
    stream: Arc<ServerStream>,
    secrets: KnownSecrets,
    /// The answers that the server has not read.
    unsent: Unsent,
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
        let unavailable = |reason: String| {
            HttpFault::Io(io::Error::new(io::ErrorKind::PermissionDenied, format!("no token: {reason}")))
        };
        let mut token = source.token(None).await.map_err(unavailable)?;
        let mut outcome = send(token.clone()).await;
        for _ in 0..RENEWALS {
            let Err(fault) = &outcome else { break };
            let Some(challenge) = TokenChallenge::of(fault, token.as_deref()) else { break };
            let new = source.token(Some(&challenge)).await.map_err(unavailable)?;
            if new == token {
                break;
            }
            token = new;
            outcome = send(token.clone()).await;
        }
        outcome
    }

    /// Returns a stream that is not read while the server leaves too many answers unread. The SDK reads on by itself.
    fn limited(&self, stream: SseStream) -> SseStream {
        stream::unfold((stream, self.unsent.clone()), async |(mut stream, unsent)| {
            unsent.has_room().await;
            let event = stream.next().await?;
            Some((event, (stream, unsent)))
        })
        .boxed()
    }
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
                self.http.post_message_with_response_limits(uri, message, session, token, headers, limits)
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
