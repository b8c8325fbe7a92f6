//! Opening of connections: TCP, TLS and the proxies of the environment.

use super::address::{BoxFuture, Failure, NotPublic, Resolver, is_public};
use super::failure::{HttpError, HttpErrorKind};
use super::limits::HttpLimits;
use super::url::is_plain;
use http::Uri;
use http::header::HeaderValue;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tower_service::Service;

/// The time without traffic before the first probe, and between two probes.
const KEEPALIVE: Duration = Duration::from_secs(15);

/// The unanswered probes after which a connection is lost.
const PROBES: u32 = 3;

/// The time without acknowledgement of sent data after which a connection is lost.
#[cfg(any(target_os = "android", target_os = "linux"))]
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);

/// Returns the maximum number of idle connections to one server.
///
/// Unencrypted connections are not kept, because a new one costs little. Small servers may close idle
/// connections at any time, and a request sent at that moment would be lost.
#[must_use]
pub fn max_idle_connections(is_plain: bool) -> usize {
    if is_plain { 0 } else { usize::MAX }
}

fn crypto_provider() -> Option<Arc<CryptoProvider>> {
    #[cfg(feature = "aws-lc-rs")]
    let of_features = Some(rustls::crypto::aws_lc_rs::default_provider());
    #[cfg(all(feature = "ring", not(feature = "aws-lc-rs")))]
    let of_features = Some(rustls::crypto::ring::default_provider());
    #[cfg(not(any(feature = "aws-lc-rs", feature = "ring")))]
    let of_features = None;
    CryptoProvider::get_default().cloned().or_else(|| of_features.map(Arc::new))
}

/// Returns the TLS configuration. Without encryption (`http://`), the certificates of the platform are not
/// loaded.
///
/// # Errors
/// The platform has no usable certificates, or there is no cryptography.
pub fn tls_config(is_plain: bool) -> Result<ClientConfig, HttpError> {
    let Some(provider) = crypto_provider() else {
        let text = "no encrypted connections: enable the feature `aws-lc-rs` or `ring`, or install a `CryptoProvider` of `rustls`";
        return Err(HttpError::new(HttpErrorKind::InvalidRequest, text));
    };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(no_encryption)?;
    let verifying = if is_plain {
        builder.with_root_certificates(RootCertStore::empty())
    } else {
        builder.with_platform_verifier().map_err(no_encryption)?
    };
    Ok(verifying.with_no_client_auth())
}

fn no_encryption(error: rustls::Error) -> HttpError {
    HttpError::new(HttpErrorKind::Connection, format!("no encrypted connections: {error}"))
}

fn tls_connector() -> Result<TlsConnector, HttpError> {
    Ok(TlsConnector::from(Arc::new(tls_config(false)?)))
}

pub(super) struct Proxy {
    uri: Uri,
    pub(super) authorization: Option<HeaderValue>,
}

impl Proxy {
    fn new(found: &Intercept) -> Result<Self, HttpError> {
        let uri = found.uri().clone();
        if !is_plain(&uri) {
            let text = format!(
                "the proxy of the environment has the scheme `{}`; only `http` is supported",
                uri.scheme_str().unwrap_or_default()
            );
            return Err(HttpError::new(HttpErrorKind::InvalidRequest, text));
        }
        Ok(Self { uri, authorization: found.basic_auth().cloned() })
    }
}

#[derive(Clone)]
pub(super) struct Connector {
    /// For direct connections.
    tcp: HttpConnector<Resolver>,
    /// A proxy's address may be private.
    proxy_tcp: HttpConnector<Resolver>,
    public_only: bool,
    /// Created for the first encrypted connection.
    tls: Arc<OnceLock<Result<TlsConnector, HttpError>>>,
    proxies: Arc<Matcher>,
    /// Includes the TLS handshake.
    limit: Duration,
}

impl Connector {
    pub(super) fn new(limits: &HttpLimits) -> Self {
        Self::with_proxies(limits, Matcher::from_env())
    }

    pub(super) fn with_proxies(limits: &HttpLimits, proxies: Matcher) -> Self {
        Self {
            tcp: tcp(limits, false),
            proxy_tcp: tcp(limits, false),
            public_only: false,
            tls: Arc::default(),
            proxies: Arc::new(proxies),
            limit: limits.connect,
        }
    }

    pub(super) fn public_addresses_only(self, limits: &HttpLimits) -> Self {
        Self { tcp: tcp(limits, true), public_only: true, ..self }
    }

    pub(super) fn proxy(&self, to: &Uri) -> Result<Option<Proxy>, HttpError> {
        self.proxies.intercept(to).as_ref().map(Proxy::new).transpose()
    }

    fn tls(&self) -> Result<TlsConnector, HttpError> {
        self.tls.get_or_init(tls_connector).clone()
    }

    async fn connect(mut self, to: Uri) -> Result<TokioIo<Link>, Failure> {
        let host = to.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        // Addresses written as numbers are not resolved.
        if self.public_only && host.parse::<IpAddr>().is_ok_and(|address| !is_public(address)) {
            return Err(NotPublic(host).into());
        }
        let is_plain = is_plain(&to);
        let proxy = self.proxy(&to)?;
        let is_proxied = is_plain && proxy.is_some();
        let connection = match proxy {
            None => self.tcp.call(to).await?,
            Some(proxy) if is_plain => self.proxy_tcp.call(proxy.uri).await?,
            Some(Proxy { uri, authorization }) => {
                let mut tunnel = Tunnel::new(uri, self.proxy_tcp.clone());
                if let Some(authorization) = authorization {
                    tunnel = tunnel.with_auth(authorization);
                }
                tunnel.call(to).await?
            }
        };
        let tcp = connection.into_inner();
        let stream: Box<dyn Duplex> = if is_plain {
            Box::new(tcp)
        } else {
            Box::new(self.tls()?.connect(ServerName::try_from(host)?, tcp).await?)
        };
        Ok(TokioIo::new(Link { stream, is_proxied }))
    }
}

fn tcp(limits: &HttpLimits, public_only: bool) -> HttpConnector<Resolver> {
    let mut tcp = HttpConnector::new_with_resolver(Resolver::new(public_only));
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(limits.connect));
    // The server of a pooled connection may have vanished, for example during the sleep of a laptop.
    tcp.set_keepalive(Some(KEEPALIVE));
    tcp.set_keepalive_interval(Some(KEEPALIVE));
    tcp.set_keepalive_retries(Some(PROBES));
    #[cfg(any(target_os = "android", target_os = "linux"))]
    tcp.set_tcp_user_timeout(Some(UNACKNOWLEDGED));
    tcp
}

impl Service<Uri> for Connector {
    type Response = TokioIo<Link>;
    type Error = Failure;
    type Future = BoxFuture<Result<TokioIo<Link>, Failure>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let limit = self.limit;
        let connected = self.clone().connect(to);
        Box::pin(async move {
            match timeout(limit, connected).await {
                Ok(link) => link,
                Err(_) => {
                    let text = format!("no answer within {} s", limit.as_secs_f64());
                    Err(io::Error::new(io::ErrorKind::TimedOut, text).into())
                }
            }
        })
    }
}
trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

pub(super) struct Link {
    stream: Box<dyn Duplex>,
    /// Requests to a proxy must contain their complete URL.
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
