//! The HTTP client that all clients of providers have in common.

use super::body::BoundedBody;
use super::fault;
use super::limits::{HttpLimits, after};
use super::settings::Settings;
use crate::model::{ModelError, ModelErrorKind};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use std::sync::Arc;
use tokio::time::timeout;

/// How much of the body of a failure is read.
const READ_OF_FAILURES: usize = 64 << 10;

const EVENTS: &str = "text/event-stream";

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
    /// Creates a client with these headers beside those of the settings.
    pub(super) fn new(settings: &Settings, own: Vec<(&str, String)>) -> Result<Self, ModelError> {
        let mut headers = HeaderMap::new();
        let said = settings.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in own.iter().map(|(name, value)| (*name, value.as_str())).chain(said) {
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
        let mut body = BoundedBody::new(response, self.limits.clone(), deadline);
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
