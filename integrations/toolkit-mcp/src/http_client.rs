//! HTTP clients: encrypted, and without redirects.

use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use std::error::Error;
use std::sync::Arc;

/// The reason why a request failed.
pub(crate) type HttpError = Box<dyn Error + Send + Sync>;

/// Returns an HTTP client. Without encryption (`http://`), the certificates of the platform are not loaded.
pub(crate) fn http_client(url: &Url) -> Result<Client, HttpError> {
    let failed = |error: rustls::Error| format!("encrypted connections are not possible: {error}");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(failed)?;
    let builder = match url.scheme() {
        "http" => builder.with_root_certificates(RootCertStore::empty()),
        _ => builder.with_platform_verifier().map_err(failed)?,
    };
    let builder = Client::builder()
        .tls_backend_preconfigured(builder.with_no_client_auth())
        .redirect(Policy::none())
        .user_agent(concat!("toolkit-mcp/", env!("CARGO_PKG_VERSION")));
    Ok(builder.build()?)
}
