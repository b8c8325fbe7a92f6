//! HTTP clients: encrypted, and without redirects.

use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use std::error::Error;
use toolkit_http::client::tls_config;

/// Returns an HTTP client. Without encryption (`http://`), the certificates of the platform are not loaded.
pub(crate) fn http_client(url: &Url) -> Result<Client, Box<dyn Error + Send + Sync>> {
    let builder = Client::builder()
        .tls_backend_preconfigured(tls_config(url.scheme() == "http")?)
        .redirect(Policy::none())
        .user_agent(concat!("toolkit-mcp/", env!("CARGO_PKG_VERSION")));
    Ok(builder.build()?)
}
