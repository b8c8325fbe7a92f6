//! Requests to authorization servers, which are not trusted: encrypted, without redirects, and limited.

use crate::http_client::{HttpError, http_client};
use reqwest::header::HeaderMap;
use reqwest::{Request, StatusCode, Url};
use std::net::IpAddr;
use std::time::Duration;

/// The maximum size of a response of an authorization server, in bytes.
const RESPONSE_BYTES: usize = 1024 * 1024;

/// The maximum time for a response of an authorization server.
const RESPONSE_TIME: Duration = Duration::from_secs(30);

/// The access to authorization servers, which are not trusted.
#[derive(Clone, Copy)]
pub(crate) struct GuardedHttp {
    /// Whether servers on this machine may be reached without encryption.
    permits_loopback: bool,
}

impl GuardedHttp {
    /// Returns the access to the servers that `url` leads to. From this machine, it leads to this machine.
    pub(crate) fn from_url(url: &Url) -> Self {
        Self { permits_loopback: is_loopback(url) }
    }

    pub(crate) fn permits(self, url: &Url) -> bool {
        match url.scheme() {
            "https" => true,
            "http" => self.permits_loopback && is_loopback(url),
            _ => false,
        }
    }

    /// Sends a request, and returns the status, the headers and the body of the response.
    pub(crate) async fn send(
        self,
        mut request: Request,
    ) -> Result<(StatusCode, HeaderMap, Vec<u8>), HttpError> {
        if !self.permits(request.url()) {
            return Err("the authorization server is not safe; use `https`".into());
        }
        *request.timeout_mut() = Some(RESPONSE_TIME);
        let client = http_client(request.url())?;
        let mut response = client.execute(request).await.map_err(reqwest::Error::without_url)?;
        let headers = std::mem::take(response.headers_mut());
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(reqwest::Error::without_url)? {
            if body.len() + chunk.len() > RESPONSE_BYTES {
                return Err("the response of the authorization server is too large".into());
            }
            body.extend_from_slice(&chunk);
        }
        Ok((response.status(), headers, body))
    }
}

/// Returns whether a URL names this machine.
fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
