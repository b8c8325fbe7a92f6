//! Requests to authorization servers, which are not trusted: encrypted, without redirects, and limited.

use crate::user_agent::USER_AGENT_VALUE;
use http::header::USER_AGENT;
use http::{Request, Response, Uri};
use serde_json::Value;
use std::error::Error;
use std::net::IpAddr;
use std::time::Duration;
use toolkit_core::redaction::{Redactor, Unread};
use toolkit_http::client::{HttpClient, HttpLimits, parse_url, redacted_headers};

/// The maximum size of a response, in bytes.
const RESPONSE_BYTES: usize = 1024 * 1024;

/// The maximum time for a response.
const RESPONSE_TIME: Duration = Duration::from_secs(30);

#[derive(Clone)]
pub(crate) struct GuardedHttp {
    client: HttpClient,
    /// Servers on this machine may be reached without encryption.
    permits_loopback: bool,
}

impl GuardedHttp {
    /// Returns the access to the servers that `url` leads to. From this machine, it leads to this machine.
    pub(crate) fn from_url(url: &str) -> Self {
        let limits = HttpLimits::default().with_total(RESPONSE_TIME).with_max_bytes(RESPONSE_BYTES);
        let client = HttpClient::new(limits).with_server_name("the authorization server");
        Self { client, permits_loopback: parse_url(url).is_ok_and(|url| is_loopback(&url)) }
    }

    pub(crate) fn permits(&self, url: &str) -> bool {
        let Ok(url) = parse_url(url) else { return false };
        url.scheme_str() == Some("https") || (self.permits_loopback && is_loopback(&url))
    }

    pub(crate) async fn send(
        &self,
        request: Request<Vec<u8>>,
    ) -> Result<Response<Vec<u8>>, Box<dyn Error + Send + Sync>> {
        if !self.permits(&request.uri().to_string()) {
            return Err("the authorization server is not safe; use `https`".into());
        }
        let mut redactor = form_secrets(request.body());
        let mut request = request.map(Into::into);
        request.headers_mut().insert(USER_AGENT, USER_AGENT_VALUE);
        let mut answer = self.client.send(request, RESPONSE_TIME).await?;
        redactor.extend(&answer.secrets);
        let mut body = answer.body.all().await?;
        if !answer.status.is_success() || is_error(&body) {
            // Errors are shown, and may repeat the request. Tokens come with a success.
            body = Unread::new(body).text(&redactor).to_string().into_bytes();
        }
        let mut response = Response::new(body);
        *response.status_mut() = answer.status;
        *response.headers_mut() = redacted_headers(&answer.headers, &redactor);
        Ok(response)
    }
}

/// Returns whether a successful answer is an error nevertheless.
fn is_error(body: &[u8]) -> bool {
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    answer.get("error").is_some() && answer.get("access_token").is_none()
}

/// The secret fields of requests for tokens.
const SECRET_FIELDS: [&str; 7] =
    ["assertion", "client_assertion", "client_secret", "code", "code_verifier", "password", "refresh_token"];

fn form_secrets(body: &[u8]) -> Redactor {
    let mut redactor = Redactor::new();
    for field in String::from_utf8_lossy(body).split('&') {
        if let Some((name, value)) = field.split_once('=')
            && SECRET_FIELDS.contains(&name)
        {
            redactor.add_encoded(value);
        }
    }
    redactor
}

fn is_loopback(url: &Uri) -> bool {
    let host = url.host().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
