//! Tokens for requests over HTTP.

use reqwest::header::WWW_AUTHENTICATE;
use reqwest::{Response, StatusCode};
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

/// A source of bearer tokens.
///
/// ```
/// use std::error::Error;
/// use toolkit_ai::mcp::client::{McpUrl, TokenChallenge, TokenSource};
///
/// struct Tokens;
///
/// impl TokenSource for Tokens {
///     async fn token(
///         &self,
///         challenge: Option<&TokenChallenge>,
///     ) -> Result<Option<String>, Box<dyn Error + Send + Sync>> {
///         let token = if challenge.is_some() { "a new token" } else { "the known token" };
///         Ok(Some(token.to_owned()))
///     }
/// }
///
/// let url = McpUrl::new("https://example.com/mcp").with_token_source(Tokens);
/// ```
pub trait TokenSource: Send + Sync + 'static {
    /// Returns the token for a request. This method is called for every request. With `None`, the request is sent without
    /// a token, and the server may answer with a [challenge](TokenChallenge).
    ///
    /// `challenge` is the answer of the server if it refused the last token: with the status 401, or with 403 because
    /// the scope of the token is insufficient. A new token is then tried, at most twice for each request.
    ///
    /// # Errors
    /// The reason why there is no token. The request fails with it.
    fn token(
        &self,
        challenge: Option<&TokenChallenge>,
    ) -> impl Future<Output = Result<Option<String>, Box<dyn Error + Send + Sync>>> + Send;
}

/// A fixed token for every request.
impl TokenSource for String {
    async fn token(&self, _: Option<&TokenChallenge>) -> Result<Option<Self>, Box<dyn Error + Send + Sync>> {
        Ok(Some(self.clone()))
    }
}

impl<T: TokenSource> TokenSource for Arc<T> {
    fn token(
        &self,
        challenge: Option<&TokenChallenge>,
    ) -> impl Future<Output = Result<Option<String>, Box<dyn Error + Send + Sync>>> + Send {
        (**self).token(challenge)
    }
}

type TokenFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Option<String>, Box<dyn Error + Send + Sync>>> + Send + 'a>>;

/// The `dyn`-compatible form of [`TokenSource`].
pub(super) trait DynTokenSource: Send + Sync {
    fn token_boxed<'a>(&'a self, challenge: Option<&'a TokenChallenge>) -> TokenFuture<'a>;
}

impl<S: TokenSource> DynTokenSource for S {
    fn token_boxed<'a>(&'a self, challenge: Option<&'a TokenChallenge>) -> TokenFuture<'a> {
        Box::pin(self.token(challenge))
    }
}

/// The parameters of the header `WWW-Authenticate`, with which a server refuses a token.
#[derive(Clone)]
#[non_exhaustive]
pub struct TokenChallenge {
    /// The URL of the metadata of the server, which names its authorization servers.
    pub resource_metadata: Option<String>,
    /// The scopes that the request needs, separated by spaces.
    pub scope: Option<String>,
    /// The reason, such as `invalid_token` or `insufficient_scope`.
    pub error: Option<String>,
    /// The header.
    #[cfg(feature = "auth")]
    pub(super) header: String,
    /// The refused token.
    #[cfg(feature = "auth")]
    pub(super) token: Option<String>,
}

impl TokenChallenge {
    /// Returns the challenge of an answer, or `None` if another token would not help.
    pub(super) fn of(response: &Response, token: Option<&str>) -> Option<Self> {
        let is_forbidden = response.status() == StatusCode::FORBIDDEN;
        if !is_forbidden && response.status() != StatusCode::UNAUTHORIZED {
            return None;
        }
        let header = response.headers().get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
        let challenge = Self::new(header.unwrap_or_default(), token);
        (!is_forbidden || challenge.is_insufficient_scope()).then_some(challenge)
    }

    #[cfg_attr(not(feature = "auth"), allow(unused_variables))]
    fn new(header: &str, token: Option<&str>) -> Self {
        Self {
            resource_metadata: parameter(header, "resource_metadata"),
            scope: parameter(header, "scope"),
            error: parameter(header, "error"),
            #[cfg(feature = "auth")]
            header: header.to_owned(),
            #[cfg(feature = "auth")]
            token: token.map(str::to_owned),
        }
    }

    /// Returns `true` if the token is valid, but its scope is insufficient for the request.
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

/// Returns the value of a parameter in the header `WWW-Authenticate`.
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

    #[test]
    fn the_parameters_of_a_challenge_are_read_quoted_or_plain() {
        let header = "Bearer realm=\"a, scope=none\", Error=insufficient_scope, \
                      resource_metadata=\"https://example.com/m?a=b\", scope=\"read write\"";
        let challenge = TokenChallenge::new(header, Some("secret"));
        assert_eq!(challenge.resource_metadata.as_deref(), Some("https://example.com/m?a=b"));
        assert_eq!(challenge.scope.as_deref(), Some("read write"));
        assert!(challenge.is_insufficient_scope());
        assert!(!format!("{challenge:?}").contains("secret"));
        let bare = TokenChallenge::new("Bearer", None);
        assert_eq!((bare.scope, bare.error, bare.resource_metadata), (None, None, None));
    }
}
