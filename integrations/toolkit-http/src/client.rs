//! Connections to servers: limits of time and size, proxies, TLS, and no secret in an error.
//!
//! An [`HttpClient`] connects through the proxy in `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`.
//! It follows no redirects and repeats no request.
//!
//! ```no_run
//! use http::Request;
//! use toolkit_http::client::{HttpClient, HttpLimits, parse_url};
//!
//! # async fn get() -> Result<(), toolkit_http::client::HttpError> {
//! let client = HttpClient::new(HttpLimits::default());
//! let mut request = Request::default();
//! *request.uri_mut() = parse_url("https://example.com/notes")?;
//! let mut response = client.send(request, client.limits().total).await?;
//! println!("{}: {} bytes", response.status, response.body.all().await?.len());
//! # Ok(())
//! # }
//! ```

mod address;
mod body;
mod connector;
mod failure;
mod header;
mod limits;
mod redaction;
mod url;

pub use body::BoundedBody;
pub use connector::{max_idle_connections, tls_config};
pub use failure::{HttpError, HttpErrorKind, root_cause};
pub use header::{header, is_json, media_type, retry_after};
pub use limits::{HttpLimits, deadline};
pub use redaction::{header_text, redacted_headers, secrets, shown, url_secrets};
pub use url::{parse_url, segment};

use bytes::Bytes;
use connector::Connector;
use http::header::{CONTENT_ENCODING, HeaderMap, PROXY_AUTHORIZATION};
use http::{Request, StatusCode};
use http_body_util::Full;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::fmt;
use std::time::Duration;
use tokio::time::timeout;
use toolkit_core::redaction::Redactor;

/// A client for any number of servers. Clones share its connections.
///
/// ```no_run
/// use http::Request;
/// use toolkit_http::client::{HttpClient, HttpError, HttpLimits, parse_url};
///
/// async fn get(url: &str) -> Result<Vec<u8>, HttpError> {
///     let client = HttpClient::new(HttpLimits::default().with_max_bytes(1 << 20));
///     let mut request = Request::default();
///     *request.uri_mut() = parse_url(url)?;
///     let mut response = client.send(request, client.limits().total).await?;
///     response.body.all().await
/// }
/// ```
#[derive(Clone)]
pub struct HttpClient {
    connector: Connector,
    /// Keeps no idle connections.
    fresh: Client<Connector, Full<Bytes>>,
    /// Keeps idle connections.
    kept: Client<Connector, Full<Bytes>>,
    keeps_plain: bool,
    limits: HttpLimits,
    server_name: &'static str,
}

/// The head of a response; its body may be arriving.
#[derive(Debug)]
#[non_exhaustive]
pub struct HttpResponse {
    /// The status. A redirect or an error is no [`HttpError`].
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, read within the limits of the client.
    pub body: BoundedBody,
    /// The secrets of the request, to remove from what is shown of the answer: some servers repeat the
    /// headers of a request that they refuse.
    pub secrets: Redactor,
    server_name: &'static str,
}

impl HttpClient {
    /// Creates a client with the proxies of the environment.
    #[must_use]
    pub fn new(limits: HttpLimits) -> Self {
        let connector = Connector::new(&limits);
        Self::with_connector(connector, limits)
    }

    fn with_connector(connector: Connector, limits: HttpLimits) -> Self {
        Self {
            fresh: pool(&connector, true),
            kept: pool(&connector, false),
            connector,
            keeps_plain: false,
            limits,
            server_name: "the server",
        }
    }

    /// Sets the words for the server in error messages, `the server` by default.
    #[must_use]
    pub fn with_server_name(mut self, name: &'static str) -> Self {
        self.server_name = name;
        self
    }

    /// Keeps idle connections also if they are not encrypted, for many requests to one server.
    ///
    /// A server may close one just when a request is sent, so the caller must cope with a lost request.
    #[must_use]
    pub fn with_kept_connections(self) -> Self {
        Self { keeps_plain: true, ..self }
    }

    /// Refuses servers at addresses that are not public: private, loopback, link-local, unique-local, shared
    /// (carrier-grade NAT), multicast and reserved ones.
    ///
    /// Resolved addresses are checked, and used for the connection. Through a proxy, which resolves names
    /// itself, only addresses written as numbers are checked.
    #[must_use]
    pub fn with_public_addresses_only(self) -> Self {
        let Self { connector, keeps_plain, limits, server_name, .. } = self;
        let connector = connector.public_addresses_only(&limits);
        Self { keeps_plain, server_name, ..Self::with_connector(connector, limits) }
    }

    /// Returns the limits.
    #[must_use]
    pub fn limits(&self) -> &HttpLimits {
        &self.limits
    }

    /// Sends a request with an absolute URL, and returns the head of the response within `patience`.
    ///
    /// The time for the whole response counts from this call.
    ///
    /// # Errors
    /// The connection fails, the server does not answer in time, or its address is not allowed.
    pub async fn send(
        &self,
        mut request: Request<Bytes>,
        patience: Duration,
    ) -> Result<HttpResponse, HttpError> {
        let deadline = deadline(self.limits.total);
        let patience = patience.min(self.limits.total);
        let is_plain = url::is_plain(request.uri());
        let proxy = self.connector.proxy(request.uri())?;
        // The tunnel of encrypted requests sends the header itself.
        if let Some(authorization) = proxy.filter(|_| is_plain).and_then(|proxy| proxy.authorization) {
            request.headers_mut().insert(PROXY_AUTHORIZATION, authorization);
        }
        let secrets = redaction::request_secrets(&request);
        let client = if is_plain && !self.keeps_plain { &self.fresh } else { &self.kept };
        let server_name = self.server_name;
        let (head, body) = match timeout(patience, client.request(request.map(Full::new))).await {
            Ok(response) => response
                .map_err(|error: Error| HttpError::of_connection(&error, error.is_connect(), server_name))?
                .into_parts(),
            Err(_) => return Err(HttpError::timed_out(server_name, "has not answered", patience)),
        };
        Ok(HttpResponse {
            status: head.status,
            headers: head.headers,
            body: BoundedBody::new(body, self.limits.clone(), deadline, server_name),
            secrets,
            server_name,
        })
    }
}

fn pool(connector: &Connector, is_plain: bool) -> Client<Connector, Full<Bytes>> {
    Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_max_idle_per_host(max_idle_connections(is_plain))
        .build(connector.clone())
}

impl HttpResponse {
    /// Checks that the body has no content encoding, such as `gzip`. Requests ask for this with
    /// `accept-encoding: identity`.
    ///
    /// # Errors
    /// The body is encoded.
    pub fn check_encoding(&self) -> Result<(), HttpError> {
        let Some(encoding) = self.headers.get(CONTENT_ENCODING) else { return Ok(()) };
        if encoding.is_empty() || encoding.as_bytes().eq_ignore_ascii_case(b"identity") {
            return Ok(());
        }
        let text = format!(
            "{} has sent an answer with the content encoding {encoding:?}, which the request does not accept; turn \
             compression off in the server, or in the proxy before it",
            self.server_name
        );
        Err(HttpError::new(HttpErrorKind::InvalidResponse, self.secrets.redact(&text)).lasting())
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").field("limits", &self.limits).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
