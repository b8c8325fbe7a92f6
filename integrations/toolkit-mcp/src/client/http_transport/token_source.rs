//! Tokens for requests over HTTP.

use crate::macros::debug;
use http::StatusCode;
use http::header::{HeaderMap, WWW_AUTHENTICATE};
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use toolkit_http::client::HttpResponse;

/// A source of access tokens, which sees each request before it is sent.
///
/// A source that knows its token returns it as text:
///
/// ```
/// use std::error::Error;
/// use toolkit_ai::mcp::client::{McpToken, McpUrl, TokenRequest, TokenSource};
///
/// struct Tokens;
///
/// impl TokenSource for Tokens {
///     async fn token(
///         &self,
///         request: &TokenRequest<'_>,
///     ) -> Result<Option<McpToken>, Box<dyn Error + Send + Sync>> {
///         let token = if request.challenge().is_some() { "a new token" } else { "the known token" };
///         Ok(Some(token.into()))
///     }
/// }
///
/// let url = McpUrl::new("https://example.com/mcp").with_token_source(Tokens);
/// ```
///
/// A source that signs reads the request, and adds headers to the token:
///
/// ```
/// use std::error::Error;
/// use toolkit_ai::mcp::client::{McpToken, TokenRequest, TokenSource};
///
/// struct Signed {
///     sign: fn(&str, &[u8]) -> String,
/// }
///
/// impl TokenSource for Signed {
///     async fn token(
///         &self,
///         request: &TokenRequest<'_>,
///     ) -> Result<Option<McpToken>, Box<dyn Error + Send + Sync>> {
///         let target = format!("{} {}", request.method(), request.url());
///         let signature = (self.sign)(&target, request.body());
///         Ok(Some(McpToken::new("the known token").with_scheme("Signed").with_header("x-signature", signature)))
///     }
/// }
/// ```
pub trait TokenSource: Send + Sync + 'static {
    /// Returns the token for a request; called for every request. With `None`, the request has no
    /// token, and the server may answer with a [challenge](TokenChallenge).
    ///
    /// If the server refuses the token, with the status 401, or 403 because its scope is
    /// insufficient, this method is called again with the [challenge](TokenRequest::challenge).
    /// Another token, or the same with other headers, is then tried, at most twice for each
    /// request.
    ///
    /// # Errors
    /// The reason why there is no token. The request fails with it.
    fn token(
        &self,
        request: &TokenRequest<'_>,
    ) -> impl Future<Output = Result<Option<McpToken>, Box<dyn Error + Send + Sync>>> + Send;
}

/// A fixed token for every request.
impl TokenSource for String {
    async fn token(&self, _: &TokenRequest<'_>) -> Result<Option<McpToken>, Box<dyn Error + Send + Sync>> {
        Ok(Some(self.as_str().into()))
    }
}

impl<T: TokenSource> TokenSource for Arc<T> {
    fn token(
        &self,
        request: &TokenRequest<'_>,
    ) -> impl Future<Output = Result<Option<McpToken>, Box<dyn Error + Send + Sync>>> + Send {
        (**self).token(request)
    }
}

type TokenFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Option<McpToken>, Box<dyn Error + Send + Sync>>> + Send + 'a>>;

/// The `dyn`-compatible form of [`TokenSource`].
pub(crate) trait DynTokenSource: Send + Sync {
    fn token_boxed<'a>(&'a self, request: &'a TokenRequest<'a>) -> TokenFuture<'a>;
}

impl<S: TokenSource> DynTokenSource for S {
    fn token_boxed<'a>(&'a self, request: &'a TokenRequest<'a>) -> TokenFuture<'a> {
        Box::pin(self.token(request))
    }
}

/// A request that needs a token.
pub struct TokenRequest<'a> {
    pub(crate) method: &'a str,
    pub(crate) url: &'a str,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a [u8],
    pub(crate) challenge: Option<&'a TokenChallenge>,
}

impl<'a> TokenRequest<'a> {
    /// Returns `POST`, `GET` or `DELETE`.
    #[must_use]
    pub fn method(&self) -> &'a str {
        self.method
    }

    /// Returns the URL of the server.
    #[must_use]
    pub fn url(&self) -> &'a str {
        self.url
    }

    /// Returns the value of a header of the request; `None` also if it is not text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&'a str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns the body; a `GET` and a `DELETE` have none.
    #[must_use]
    pub fn body(&self) -> &'a [u8] {
        self.body
    }

    /// Returns the server's refusal of the last token.
    #[must_use]
    pub fn challenge(&self) -> Option<&'a TokenChallenge> {
        self.challenge
    }
}

// Headers and body may contain secrets.
impl fmt::Debug for TokenRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenRequest")
            .field("method", &self.method)
            .field("challenge", &self.challenge)
            .finish_non_exhaustive()
    }
}

/// A token, with what else gives a request access; a bearer token by default.
///
/// ```
/// use toolkit_ai::mcp::client::McpToken;
///
/// let token: McpToken = "secret".into();
/// assert_eq!(token.as_str(), "secret");
/// assert!(!format!("{token:?}").contains("secret"));
/// ```
#[derive(Clone, PartialEq, Eq)]
#[must_use]
pub struct McpToken {
    token: String,
    pub(crate) scheme: String,
    pub(crate) headers: Vec<(String, String)>,
}

impl McpToken {
    /// Creates a bearer token.
    pub fn new(token: impl Into<String>) -> Self {
        Self { token: token.into(), scheme: "Bearer".to_owned(), headers: Vec::new() }
    }

    /// Sets the scheme, the word before the token in `Authorization`.
    pub fn with_scheme(mut self, scheme: impl Into<String>) -> Self {
        self.scheme = scheme.into();
        self
    }

    /// Adds a header to the request, such as a proof that the program has the key of the token.
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Returns the token without its scheme.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.token
    }
}

impl From<&str> for McpToken {
    fn from(token: &str) -> Self {
        Self::new(token)
    }
}

impl From<String> for McpToken {
    fn from(token: String) -> Self {
        Self::new(token)
    }
}

// Token and header values are secrets.
debug!(McpToken, self, "scheme": self.scheme);

/// The answer of a server that refuses a token: the parameters of `WWW-Authenticate`, and its other
/// headers.
#[derive(Clone)]
#[non_exhaustive]
pub struct TokenChallenge {
    /// The URL of the server's metadata, which name its authorization servers.
    pub resource_metadata: Option<String>,
    /// The needed scopes, separated by spaces.
    pub scope: Option<String>,
    /// The reason, such as `invalid_token` or `insufficient_scope`.
    pub error: Option<String>,
    headers: HeaderMap,
    #[cfg(feature = "auth")]
    pub(crate) token: Option<String>,
}

impl TokenChallenge {
    /// Returns the challenge of an answer; `None` if another token would not help.
    pub(crate) fn of(response: &HttpResponse, token: Option<&McpToken>) -> Option<Self> {
        let is_forbidden = response.status == StatusCode::FORBIDDEN;
        if !is_forbidden && response.status != StatusCode::UNAUTHORIZED {
            return None;
        }
        let challenge = Self::new(response.headers.clone(), token);
        if !is_forbidden || challenge.is_insufficient_scope() { Some(challenge) } else { None }
    }

    #[cfg_attr(not(feature = "auth"), allow(unused_variables))]
    fn new(headers: HeaderMap, token: Option<&McpToken>) -> Self {
        let header = headers.get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        Self {
            resource_metadata: parameter(header, "resource_metadata"),
            scope: parameter(header, "scope"),
            error: parameter(header, "error"),
            #[cfg(feature = "auth")]
            token: token.map(|token| token.as_str().to_owned()),
            headers,
        }
    }

    /// Returns the value of a header of the answer; `None` also if it is not text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns whether a valid token lacks a scope.
    #[must_use]
    pub fn is_insufficient_scope(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }
}
impl fmt::Debug for TokenChallenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenChallenge")
            .field("resource_metadata", &self.resource_metadata)
            .field("scope", &self.scope)
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

fn parameter(header: &str, name: &str) -> Option<String> {
    let mut rest = header;
    while let Some((before, after)) = rest.split_once('=') {
        let key = before.rsplit([' ', ',', '\t']).next().unwrap_or_default();
        let after = after.trim_start();
        let (value, next) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => after.split_once([',', ' ']).unwrap_or((after, "")),
        };
        if key.eq_ignore_ascii_case(name) {
            return Some(value.to_owned());
        }
        rest = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::TokenChallenge;
    use http::header::{HeaderMap, HeaderValue, WWW_AUTHENTICATE};

    fn headers(challenge: &str) -> HeaderMap {
        let value = HeaderValue::from_str(challenge).expect("a header");
        HeaderMap::from_iter([(WWW_AUTHENTICATE, value)])
    }

    #[test]
    fn the_parameters_of_a_challenge_are_read_quoted_or_plain() {
        let header = "Bearer realm=\"a, scope=none\", Error=insufficient_scope, \
                      resource_metadata=\"https://example.com/m?a=b\", scope=\"read write\"";
        let challenge = TokenChallenge::new(headers(header), Some(&"secret".into()));
        assert_eq!(challenge.resource_metadata.as_deref(), Some("https://example.com/m?a=b"));
        assert_eq!(challenge.scope.as_deref(), Some("read write"));
        assert!(challenge.is_insufficient_scope());
        assert!(!format!("{challenge:?}").contains("secret"));
        let bare = TokenChallenge::new(headers("Bearer"), None);
        assert_eq!((bare.scope, bare.error, bare.resource_metadata), (None, None, None));
    }
}
