//! HTTP clients: encrypted, and without redirects.

use super::connect_errors::unreachable;
use super::mcp_error::{McpError, McpErrorKind};
use reqwest::redirect::Policy;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use std::sync::Arc;

/// Returns an HTTP client. Without encryption (`http://`), the certificates of the platform are not loaded.
pub(super) fn http_client(url: &reqwest::Url) -> Result<reqwest::Client, McpError> {
    let failed = |error: rustls::Error| {
        McpError::new(McpErrorKind::Connection, format!("encrypted connections are not possible: {error}"))
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(failed)?;
    let builder = match url.scheme() {
        "http" => builder.with_root_certificates(RootCertStore::empty()),
        _ => builder.with_platform_verifier().map_err(failed)?,
    };
    let builder = reqwest::Client::builder()
        .tls_backend_preconfigured(builder.with_no_client_auth())
        .redirect(Policy::none())
        .user_agent(concat!("toolkit-mcp/", env!("CARGO_PKG_VERSION")));
    builder.build().map_err(|error| unreachable(&error))
}
