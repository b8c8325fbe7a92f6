//! OAuth 2 with the flow "client credentials" (RFC 6749, section 4.4).

use crate::client::request::Escape;
use bytes::Bytes;
use data_encoding::BASE64;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, StatusCode};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;
use toolkit_core::redaction::Redactor;
use toolkit_http::client::{HttpClient, deadline, header, parse_url};

/// A token is replaced this long before it expires, or after half of its life if that is shorter.
const MARGIN: Duration = Duration::from_secs(60);

/// The life of a token if the server does not say it.
const UNKNOWN_LIFE: Duration = Duration::from_secs(300);

/// Describes a client of an authorization server, whose secret `Debug` does not show.
///
/// ```
/// use toolkit_ai::openapi::client::ClientCredentials;
///
/// let client = ClientCredentials::new("reports", "secret-123456")
///     .with_token_url("https://login.example.com/oauth/token")
///     .with_parameter("audience", "https://api.example.com");
/// assert!(!format!("{client:?}").contains("123456"));
/// ```
#[derive(Clone)]
#[must_use]
pub struct ClientCredentials {
    id: String,
    secret: String,
    token_url: Option<String>,
    parameters: Vec<(String, String)>,
    has_secret_in_body: bool,
}

impl ClientCredentials {
    /// Creates a client.
    ///
    /// Its tokens come from the document's address, over HTTPS or from this machine.
    pub fn new(id: impl Into<String>, secret: impl Into<String>) -> Self {
        let parameters = Vec::new();
        Self { id: id.into(), secret: secret.into(), token_url: None, parameters, has_secret_in_body: false }
    }

    /// Sets the address of tokens, instead of the document's.
    pub fn with_token_url(mut self, url: impl Into<String>) -> Self {
        self.token_url = Some(url.into());
        self
    }

    /// Adds a parameter to token requests, such as `audience`.
    pub fn with_parameter(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.parameters.push((name.into(), value.into()));
        self
    }

    /// Sends the secret in the body of token requests, for servers that do not read it from the header
    /// `Authorization`.
    pub fn with_secret_in_body(mut self) -> Self {
        self.has_secret_in_body = true;
        self
    }

    fn redactor(&self) -> Redactor {
        let mut redactor = Redactor::new();
        redactor.add(&self.secret);
        redactor
    }

    fn request(&self, url: &str, scope: &str) -> Result<Request<Bytes>, String> {
        let mut pairs = vec![("grant_type", "client_credentials")];
        if !scope.is_empty() {
            pairs.push(("scope", scope));
        }
        pairs.extend(self.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        if self.has_secret_in_body {
            pairs.extend([("client_id", self.id.as_str()), ("client_secret", self.secret.as_str())]);
        }
        let escape = |text| Escape::Reserved.apply(text);
        let mut form: Vec<String> = Vec::with_capacity(pairs.len());
        for (name, value) in pairs {
            form.push(format!("{}={}", escape(name), escape(value)));
        }
        let mut request = Request::new(Bytes::from(form.join("&")));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = parse_url(url).map_err(|_| "the address of its tokens is no URL".to_owned())?;
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        if !self.has_secret_in_body {
            // Both parts are encoded as in a form before they are joined.
            let login = format!("{}:{}", escape(&self.id), escape(&self.secret));
            let basic = format!("Basic {}", BASE64.encode(login.as_bytes()));
            let (_, value) = header("authorization", &basic).map_err(|error| error.to_string())?;
            headers.insert(AUTHORIZATION, value);
        }
        Ok(request)
    }
}

impl fmt::Debug for ClientCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientCredentials").field("id", &self.id).finish_non_exhaustive()
    }
}

pub(super) struct AccessTokens {
    client: ClientCredentials,
    /// By address and scopes.
    tokens: Mutex<HashMap<(String, String), Token>>,
}

struct Token {
    value: String,
    /// When the token is replaced.
    renewal: Instant,
}

pub(super) struct CurrentToken {
    pub(super) value: String,
    /// Whether an earlier request used it too.
    pub(super) is_reused: bool,
}

impl AccessTokens {
    pub(super) fn new(client: ClientCredentials) -> Self {
        Self { client, tokens: Mutex::default() }
    }

    /// Returns a valid token. Requests at the same time wait for one token.
    ///
    /// # Errors
    /// Why there is none, without a secret.
    pub(super) async fn token(
        &self,
        of_document: Option<&str>,
        scopes: &[String],
        http: &impl Fn(&str) -> HttpClient,
    ) -> Result<CurrentToken, String> {
        let url = match (&self.client.token_url, of_document) {
            (Some(own), _) => own.as_str(),
            (None, Some(url)) if is_safe(url) => url,
            (None, Some(_)) => {
                return Err("the document names an address for tokens that is not HTTPS".to_owned());
            }
            (None, None) => return Err("the document names no address for tokens of clients".to_owned()),
        };
        let key = (url.to_owned(), scopes.join(" "));
        let mut tokens = self.tokens.lock().await;
        if let Some(token) = tokens.get(&key).filter(|token| Instant::now() < token.renewal) {
            return Ok(CurrentToken { value: token.value.clone(), is_reused: true });
        }
        let request = self.client.request(url, &key.1)?;
        let token = fetch(&http(url), request, self.client.redactor()).await?;
        let value = token.value.clone();
        tokens.insert(key, token);
        Ok(CurrentToken { value, is_reused: false })
    }

    /// Drops a refused token, if it is still current.
    pub(super) async fn forget(&self, refused: &str) {
        self.tokens.lock().await.retain(|_, token| token.value != refused);
    }
}

/// Returns whether a secret may be sent to the document's address.
fn is_safe(url: &str) -> bool {
    let host = parse_url(url).ok().and_then(|uri| uri.host().map(str::to_owned)).unwrap_or_default();
    url.starts_with("https://") || matches!(host.as_str(), "127.0.0.1" | "[::1]" | "localhost")
}

async fn fetch(http: &HttpClient, request: Request<Bytes>, mut redactor: Redactor) -> Result<Token, String> {
    let failed = |reason: &str| format!("no access token: {reason}");
    let limit = http.limits().total;
    let mut response = http.send(request, limit).await.map_err(|error| failed(&error.to_string()))?;
    let body = response.body.all().await.map_err(|error| failed(&error.to_string()))?;
    redactor.extend(&response.secrets);
    let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
    if response.status != StatusCode::OK {
        // Only the code of RFC 6749, section 5.2: other texts may repeat the secret.
        let code = answer.get("error").and_then(Value::as_str).filter(|code| is_code(code));
        let shown = redactor.redact(code.unwrap_or_default());
        return Err(failed(&format!("{} {shown}", response.status)));
    }
    let token = answer.get("access_token").and_then(Value::as_str).filter(|token| !token.is_empty());
    let Some(value) = token else { return Err(failed("the answer has none")) };
    let seconds = match answer.get("expires_in") {
        Some(Value::String(text)) => text.parse().ok(),
        Some(number) => number.as_f64(),
        None => None,
    };
    let life = seconds.and_then(|life| Duration::try_from_secs_f64(life).ok()).unwrap_or(UNKNOWN_LIFE);
    let renewal = deadline(life - MARGIN.min(life / 2));
    Ok(Token { value: value.to_owned(), renewal })
}

fn is_code(text: &str) -> bool {
    text.len() <= 40 && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}
