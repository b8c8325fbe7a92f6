//! The authentication of requests: keys, access tokens and AWS credentials.

use crate::fault;
use crate::secret::{Expiring, Source};
#[cfg(feature = "bedrock")]
use crate::sigv4::{self, AwsCredentials};
use bytes::Bytes;
use http::Request;
use std::fmt;
use std::time::{Duration, SystemTime};
use toolkit_http::client::header;
use toolkit_llm::ModelError;

/// An access token, such as of Google Cloud or Microsoft Entra.
///
/// `Debug` does not show the token.
///
/// ```
/// use std::time::Duration;
/// use toolkit_ai::llm_http::AccessToken;
///
/// let token = AccessToken::new("ya29.secret").with_lifetime(Duration::from_secs(3_600));
/// assert!(!format!("{token:?}").contains("secret"));
/// ```
#[derive(Clone)]
pub struct AccessToken {
    value: String,
    expires: Option<SystemTime>,
}

impl AccessToken {
    /// Creates a token for a single request.
    #[must_use]
    pub fn new(value: impl Into<String>) -> Self {
        Self { value: value.into(), expires: None }
    }

    /// Sets how long the token is valid from now on, as in the field `expires_in` of OAuth.
    #[must_use]
    pub fn with_lifetime(self, lifetime: Duration) -> Self {
        const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
        self.with_expiry(SystemTime::now() + lifetime.min(CENTURY))
    }
}

setters! { AccessToken:
    /// Sets the expiry. Requests reuse the token until one minute before.
    with_expiry(expires: SystemTime) = Some(expires);
}

impl From<&str> for AccessToken {
    fn from(value: &str) -> Self {
        Self::new(value)
    }
}

impl From<String> for AccessToken {
    fn from(value: String) -> Self {
        Self::new(value)
    }
}

debug!(AccessToken, self, "expires": self.expires);

impl Expiring for AccessToken {
    const NAME: &'static str = "access token";

    fn expires(&self) -> Option<SystemTime> {
        self.expires
    }

    fn is_empty(&self) -> bool {
        self.value.trim().is_empty()
    }
}

#[derive(Clone, Default)]
pub(super) enum Auth {
    #[default]
    None,
    Key(String),
    /// Access tokens from a function of the program.
    Token(Source<AccessToken>),
    /// AWS credentials that sign each request, and the region.
    #[cfg(feature = "bedrock")]
    Aws(Source<AwsCredentials>, String),
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Key(_) => "Key",
            Self::Token(_) => "Token",
            #[cfg(feature = "bedrock")]
            Self::Aws(..) => "Aws",
        })
    }
}

impl Auth {
    /// Adds an access token or a signature to a request. An API key is already among the headers.
    ///
    /// If an earlier request has used the same secret, returns its number for [`forget`](Self::forget).
    pub(super) async fn authorize(
        &self,
        request: &mut Request<Bytes>,
        service: &str,
        limit: Duration,
    ) -> Result<Option<u64>, ModelError> {
        match self {
            Self::None | Self::Key(_) => Ok(None),
            Self::Token(source) => {
                let (token, reused) = source.get(service, limit).await?;
                let (name, value) = header("authorization", &format!("Bearer {}", token.value.trim()))
                    .map_err(fault::of_http)?;
                request.headers_mut().insert(name, value);
                Ok(reused)
            }
            #[cfg(feature = "bedrock")]
            Self::Aws(source, region) => {
                let (credentials, reused) = source.get(service, limit).await?;
                sigv4::sign(request, &credentials, region, SystemTime::now())?;
                Ok(reused)
            }
        }
    }

    /// Returns an access token if the client has a source, with its number for [`forget`](Self::forget) if an
    /// earlier request has used it.
    pub(super) async fn token(
        &self,
        service: &str,
        limit: Duration,
    ) -> Result<Option<(String, Option<u64>)>, ModelError> {
        let Self::Token(source) = self else { return Ok(None) };
        let (token, reused) = source.get(service, limit).await?;
        let token = token.value.trim();
        // The error does not show the token.
        header("authorization", token).map_err(fault::of_http)?;
        Ok(Some((token.to_owned(), reused)))
    }

    /// Drops the secret with the number `reused` if `status` shows that the server has refused it. Returns
    /// whether a repeated request may succeed.
    pub(super) async fn forget(&self, reused: u64, status: Option<u16>) -> bool {
        match self {
            Self::Token(source) if status == Some(401) => source.forget(reused).await,
            // AWS refuses expired credentials with status 403.
            #[cfg(feature = "bedrock")]
            Self::Aws(source, _) if matches!(status, Some(401 | 403)) => source.forget(reused).await,
            _ => return false,
        }
        true
    }
}
