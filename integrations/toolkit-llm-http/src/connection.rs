//! Connections to a server: TCP, TLS and the proxies of the environment.

use crate::fault;
use crate::helpers::BoxFuture;
use crate::settings::HttpLimits;
use bytes::Bytes;
use http::header::HeaderValue;
use http::uri::Scheme;
use http::{Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::client::legacy::{Client, Error};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use std::error::Error as StdError;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use toolkit_llm::model::{ModelError, ModelErrorKind};
use tower_service::Service;

/// The time without traffic before the first probe of a connection, and the time between two probes.
const KEEPALIVE: Duration = Duration::from_secs(15);

/// The number of unanswered probes after which a connection counts as lost.
const PROBES: u32 = 3;

/// The time after which a connection counts as lost if the server does not acknowledge sent data.
#[cfg(any(target_os = "android", target_os = "linux"))]
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);

/// The connections to one server, shared by clones.
#[derive(Debug, Clone)]
pub(super) struct Connections {
    client: Client<Connector, Full<Bytes>>,
    /// The value of the header `Proxy-Authorization`, for unencrypted requests through a proxy. For encrypted
    /// requests, the proxy tunnel sends the header itself.
    pub(super) proxy_authorization: Option<HeaderValue>,
}

impl Connections {
    /// Creates the connections to the server at `base_url`, through the proxy in the environment variables
    /// `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, if there is one.
    pub(super) fn new(base_url: &str, limits: &HttpLimits) -> Result<Self, ModelError> {
        Self::with_proxies(base_url, limits, &Matcher::from_env())
    }

    fn with_proxies(base_url: &str, limits: &HttpLimits, proxies: &Matcher) -> Result<Self, ModelError> {
        let server = uri(base_url)?;
        let is_plain = is_plain(&server);
        let proxy = proxies.intercept(&server).map(Proxy::new).transpose()?;
        let proxy_authorization = proxy.as_ref().filter(|_| is_plain).and_then(|p| p.authorization.clone());
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(limits.connect));
        // The server of a pooled connection may have vanished, for example during the sleep of a laptop.
        tcp.set_keepalive(Some(KEEPALIVE));
        tcp.set_keepalive_interval(Some(KEEPALIVE));
        tcp.set_keepalive_retries(Some(PROBES));
        #[cfg(any(target_os = "android", target_os = "linux"))]
        tcp.set_tcp_user_timeout(Some(UNACKNOWLEDGED));
        let tls = TlsConnector::from(Arc::new(tls(is_plain)?));
        let connector = Connector { tcp, tls, proxy, limit: limits.connect };
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_max_idle_per_host(kept(is_plain))
            .build(connector);
        Ok(Self { client, proxy_authorization })
    }

    /// Sends a request and returns the head of the response. The body may still be arriving.
    pub(super) async fn send(&self, request: Request<Bytes>) -> Result<Response<Incoming>, ModelError> {
        let sent = self.client.request(request.map(Full::new)).await;
        sent.map_err(|error: Error| fault::broken(&error, error.is_connect()))
    }
}

/// Parses the URL of a request. Error messages do not contain the URL, because it may contain secrets.
pub(super) fn uri(url: &str) -> Result<Uri, ModelError> {
    let invalid = |text: &str| ModelError::new(ModelErrorKind::InvalidRequest, text);
    let uri = url.parse::<Uri>().ok();
    let is_http = |uri: &Uri| matches!(uri.scheme_str(), Some("https" | "http"));
    match uri.filter(|uri| is_http(uri) && uri.host().is_some_and(|host| !host.is_empty())) {
        Some(uri) if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) => {
            Err(invalid(
                "the base URL contains a user name or a password; set the header `authorization` instead",
            ))
        }
        Some(uri) if has_invalid_port(&uri) => Err(invalid("the base URL has an invalid port")),
        Some(uri) => Ok(uri),
        None => Err(invalid(
            "the base URL is invalid; it must begin with `https://` or `http://` and a host, and consist of \
             ASCII characters without spaces",
        )),
    }
}

/// Returns whether the URL has an invalid port after the host. The HTTP client would ignore such a port.
fn has_invalid_port(uri: &Uri) -> bool {
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let port = authority.strip_prefix(uri.host().unwrap_or_default()).unwrap_or_default();
    !matches!(port, "" | ":") && uri.port_u16().is_none()
}

fn is_plain(uri: &Uri) -> bool {
    uri.scheme() == Some(&Scheme::HTTP)
}

/// Returns the maximum number of idle connections to keep.
///
/// Unencrypted connections are not kept, because a new connection costs little. Small servers may close idle
/// connections at any time, and a request sent at that moment would be lost.
pub(super) fn kept(is_plain: bool) -> usize {
    if is_plain { 0 } else { usize::MAX }
}

/// Returns the TLS configuration. Without encryption (`http://`), the certificates of the platform are not
/// loaded.
pub(super) fn tls(is_plain: bool) -> Result<ClientConfig, ModelError> {
    let failed = |error: rustls::Error| {
        ModelError::new(ModelErrorKind::Connection, format!("no encrypted connections: {error}"))
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(failed)?;
    let builder = if is_plain {
        builder.with_root_certificates(RootCertStore::empty())
    } else {
        builder.with_platform_verifier().map_err(failed)?
    };
    Ok(builder.with_no_client_auth())
}

/// A proxy between the client and the server.
#[derive(Debug, Clone)]
struct Proxy {
    uri: Uri,
    authorization: Option<HeaderValue>,
}

impl Proxy {
    fn new(found: Intercept) -> Result<Self, ModelError> {
        let uri = found.uri().clone();
        let authorization = found.basic_auth().cloned();
        if !is_plain(&uri) {
            let text = format!(
                "the proxy of the environment has the scheme `{}`; only `http` is supported",
                uri.scheme_str().unwrap_or_default()
            );
            return Err(ModelError::new(ModelErrorKind::InvalidRequest, text));
        }
        Ok(Self { uri, authorization })
    }
}

/// Opens connections to the server, directly or through a proxy.
#[derive(Clone)]
struct Connector {
    tcp: HttpConnector,
    tls: TlsConnector,
    proxy: Option<Proxy>,
    /// The time limit for opening a connection, including the TLS handshake.
    limit: Duration,
}

type Failure = Box<dyn StdError + Send + Sync>;

impl Connector {
    async fn connect(mut self, to: Uri) -> Result<TokioIo<Link>, Failure> {
        let is_plain = is_plain(&to);
        let is_proxied = is_plain && self.proxy.is_some();
        let tcp = match self.proxy {
            None => self.tcp.call(to.clone()).await?,
            Some(proxy) if is_plain => self.tcp.call(proxy.uri).await?,
            Some(Proxy { uri, authorization }) => {
                let tunnel = Tunnel::new(uri, self.tcp);
                let mut tunnel = match authorization {
                    Some(authorization) => tunnel.with_auth(authorization),
                    None => tunnel,
                };
                tunnel.call(to.clone()).await?
            }
        };
        let tcp = tcp.into_inner();
        let stream: Box<dyn Duplex> = if is_plain {
            Box::new(tcp)
        } else {
            let host = to.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
            Box::new(self.tls.connect(ServerName::try_from(host)?, tcp).await?)
        };
        Ok(TokioIo::new(Link { stream, is_proxied }))
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<Link>;
    type Error = Failure;
    type Future = BoxFuture<'static, Result<TokioIo<Link>, Failure>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let limit = self.limit;
        let connected = self.clone().connect(to);
        Box::pin(async move {
            timeout(limit, connected).await.unwrap_or_else(|_| {
                let text = format!("no answer within {} s", limit.as_secs_f64());
                Err(io::Error::new(io::ErrorKind::TimedOut, text).into())
            })
        })
    }
}

/// A stream of bytes that can be read and written.
trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// A connection to a server or a proxy, with or without encryption.
struct Link {
    stream: Box<dyn Duplex>,
    /// Whether a proxy reads the requests. If so, each request must contain its complete URL.
    is_proxied: bool,
}

impl Connection for Link {
    fn connected(&self) -> Connected {
        Connected::new().proxy(self.is_proxied)
    }
}

impl AsyncRead for Link {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Link {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests;
