//! HTTP clients: encrypted, and without redirects.

use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use std::error::Error;
use toolkit_http::client::tls_config;

/// The reason why a request failed.
pub(crate) type HttpError = Box<dyn Error + Send + Sync>;

/// Returns an HTTP client. Without encryption (`http://`), the certificates of the platform are not loaded.
pub(crate) fn http_client(url: &Url) -> Result<Client, HttpError> {
    let builder = Client::builder()
        .tls_backend_preconfigured(tls_config(url.scheme() == "http")?)
        .redirect(Policy::none())
        .user_agent(concat!("toolkit-mcp/", env!("CARGO_PKG_VERSION")));
    Ok(builder.build()?)
}
