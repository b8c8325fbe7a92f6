//! Servers behind a URL: streamable HTTP, with a token.

use super::endpoint::McpEndpoint;
use super::handshake::{Attempt, Running};
use super::server_url::ServerUrl;
use crate::client::http_transport::{DynTokenSource, ServerStream, TokenClient, TokenSource};
#[cfg(feature = "auth")]
use crate::client::login::{Login, LoginTokens};
use crate::macros::debug;
use crate::mcp_error::{McpError, McpErrorKind};
use crate::request_span::NetworkPath;
use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;
use toolkit_http::client::{HttpClient, HttpLimits, url_secrets};

/// The maximum number of pending requests for one connection. The server of this crate executes as many calls
/// at once.
const MAX_REQUESTS: usize = 1_000;

const PROTOCOL_HEADERS: [&str; 3] = ["accept", "mcp-session-id", "last-event-id"];

/// The URL of a server with streamable HTTP.
///
/// Redirects are not followed: they would carry the token to another host. The platform checks certificates.
/// Connections go through the proxy in `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, if it begins
/// with `http://`. A user name and a password in the URL are sent as `Authorization`. The host is written in
/// ASCII.
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
    token: Option<Arc<dyn DynTokenSource>>,
    /// What is wrong with the token.
    fault: Option<&'static str>,
    /// The time for a login, added to that for connecting.
    login_time: Duration,
}

impl McpUrl {
    /// Creates the URL of a server.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            headers: BTreeMap::new(),
            token: None,
            fault: None,
            login_time: Duration::ZERO,
        }
    }

    /// Adds a header to every request.
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    /// Sends a fixed bearer token with every request.
    ///
    /// White space around the token is ignored. Give it without the word `Bearer`; otherwise, connecting
    /// fails.
    pub fn with_bearer_token(self, token: impl Into<String>) -> Self {
        let given = token.into();
        let token = given.trim();
        Self { fault: bearer_fault(token), ..self.with_token_source(token.to_owned()) }
    }

    /// Sends a token from `source` with every request.
    pub fn with_token_source(mut self, source: impl TokenSource) -> Self {
        self.token = Some(Arc::new(source));
        self.fault = None;
        self
    }

    /// Logs in when the server requires it. The tokens are sent to this URL only.
    #[cfg(feature = "auth")]
    pub fn with_login(mut self, login: Login) -> Self {
        if login.has_user() {
            self.login_time = login.timeout;
        }
        let tokens = LoginTokens::new(login, &self.url);
        self.with_token_source(tokens)
    }

    fn label(&self) -> String {
        match ServerUrl::parse(&self.url) {
            Ok(url) => url.host(),
            Err(_) => "mcp".to_owned(),
        }
    }

    fn path(&self) -> NetworkPath {
        let server = ServerUrl::parse(&self.url).ok().map(|url| (url.host(), url.port()));
        NetworkPath { transport: Some("tcp"), server }
    }

    async fn connect(self, mut attempt: Attempt) -> Result<Running, McpError> {
        let invalid = |text: String| McpError::new(McpErrorKind::Config, text);
        let url = ServerUrl::parse(&self.url).map_err(invalid)?;
        if let Some(fault) = self.fault {
            return Err(invalid(fault.to_owned()));
        }
        let mut headers = HashMap::new();
        for (name, value) in &self.headers {
            // The value may be a secret.
            let parsed = HeaderName::from_bytes(name.as_bytes()).ok().zip(HeaderValue::from_str(value).ok());
            let Some((name, mut value)) = parsed else {
                return Err(invalid(format!("the header `{name}` is illegal; use visible ASCII characters")));
            };
            if PROTOCOL_HEADERS.contains(&name.as_str()) {
                return Err(invalid(format!("the protocol sets the header `{name}`; leave it out")));
            }
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        if let Some(authorization) = url.authorization {
            headers.entry(AUTHORIZATION).or_insert(authorization);
        }
        let stream = Arc::new(ServerStream::default());
        let http = http_client();
        let secrets = attempt.wire.secrets.clone();
        secrets.add(&toolkit_http::client::secrets(&headers.clone().into_iter().collect()));
        secrets.add(&url_secrets(&self.url));
        let unsent = attempt.wire.unsent.clone();
        let lists = attempt.wire.lists.clone();
        let client = TokenClient { http, token: self.token, stream: stream.clone(), secrets, unsent, lists };
        let mut config = StreamableHttpClientTransportConfig::with_uri(url.uri.to_string());
        config.custom_headers = headers;
        config.max_sse_event_size = attempt.limit;
        config.max_json_response_size = attempt.limit;
        config.max_concurrent_requests = MAX_REQUESTS;
        // The SDK would open a new session without listing the tools again, and would report calls that may
        // have been executed as failed. The client opens a new connection instead.
        config.reinit_on_expired_session = false;
        // Over HTTP, a running server answers each request with a status.
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

/// Returns an HTTP client without limits: those of the caller and of the SDK hold. A session has a stream
/// that does not end.
fn http_client() -> HttpClient {
    let limits = HttpLimits::default()
        .with_connect(Duration::MAX)
        .with_total(Duration::MAX)
        .with_idle(Duration::MAX)
        .with_max_bytes(usize::MAX);
    HttpClient::new(limits).with_kept_connections()
}

/// Returns what is wrong with a token, without it.
fn bearer_fault(token: &str) -> Option<&'static str> {
    if token.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer ")) {
        return Some("`with_bearer_token`: give the token without `Bearer `");
    }
    if HeaderValue::from_str(token).is_ok() {
        return None;
    }
    Some("`with_bearer_token`: the token has a line break or another character that no header can have")
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

// The URL may contain secrets.
debug!(McpUrl, self, "host": self.label(), "headers": self.headers.keys());
