//! The authentication of requests: keys, access tokens and credentials that the program renews.

use super::http::header;
#[cfg(feature = "bedrock")]
use super::sigv4::{self, AwsCredentials};
use crate::helpers::BoxFuture;
use crate::model::{ModelError, ModelErrorKind};
use reqwest::Request;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::Mutex;
use tokio::time::timeout;

/// How long before its expiry a token is replaced.
const MARGIN: Duration = Duration::from_secs(60);

/// An access token for requests, such as a token of Google Cloud or Microsoft Entra.
///
/// `Debug` does not show the token.
///
/// ```
/// use std::time::Duration;
/// use toolkit_agent::clients::AccessToken;
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

    /// Sets the time for which the token is valid from now on, as in the field `expires_in` of OAuth.
    #[must_use]
    pub fn with_lifetime(self, lifetime: Duration) -> Self {
        const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
        self.with_expiry(SystemTime::now() + lifetime.min(CENTURY))
    }

    /// Sets the time at which the token expires. Until then, requests reuse the token.
    #[must_use]
    pub fn with_expiry(mut self, expiry: SystemTime) -> Self {
        self.expires = Some(expiry);
        self
    }
}

impl<T: Into<String>> From<T> for AccessToken {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

debug!(AccessToken, self, "expires": self.expires);

/// A secret with an expiry.
pub(super) trait Expiring: Clone + Send + 'static {
    /// The name of the secret in error messages.
    const NAME: &'static str;

    /// Returns the time at which the secret expires. `None` if the secret is for a single request.
    fn expires(&self) -> Option<SystemTime>;

    fn is_empty(&self) -> bool;
}

impl Expiring for AccessToken {
    const NAME: &'static str = "access token";

    fn expires(&self) -> Option<SystemTime> {
        self.expires
    }

    fn is_empty(&self) -> bool {
        self.value.trim().is_empty()
    }
}

type Failure = Box<dyn Error + Send + Sync>;
type Make<T> = dyn Fn() -> BoxFuture<'static, Result<T, Failure>> + Send + Sync;

/// A function of the program that returns secrets, together with the latest secret. Clones share the secret.
#[derive(Clone)]
pub(super) struct Source<T>(Arc<Shared<T>>);

struct Shared<T> {
    make: Box<Make<T>>,
    latest: Mutex<Option<T>>,
}

impl<T: Expiring> Source<T> {
    pub(super) fn new<F, Fut, V, E>(source: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<V, E>> + Send + 'static,
        V: Into<T>,
        E: Into<Failure>,
    {
        let make = move || -> BoxFuture<'static, Result<T, Failure>> {
            let value = source();
            Box::pin(async move { value.await.map(Into::into).map_err(Into::into) })
        };
        Self(Arc::new(Shared { make: Box::new(make), latest: Mutex::default() }))
    }

    /// Returns a valid secret, and whether an earlier request has already used it.
    async fn get(&self, service: &str, limit: Duration) -> Result<(T, bool), ModelError> {
        let made = timeout(limit, async {
            // Concurrent requests wait for the same secret.
            let mut latest = self.0.latest.lock().await;
            if let Some(secret) = latest.as_ref().filter(|secret| is_valid(*secret)) {
                return Ok::<_, Failure>((secret.clone(), true));
            }
            let secret = (self.0.make)().await?;
            *latest = secret.expires().map(|_| secret.clone());
            Ok((secret, false))
        });
        let name = T::NAME;
        let fail =
            |kind, text: String| Err(ModelError::new(kind, format!("no {name} for {service}: {text}")));
        match made.await {
            Ok(Ok((secret, _))) if secret.is_empty() => {
                fail(ModelErrorKind::Unauthorized, "the source has returned an empty string".to_owned())
            }
            Ok(Ok(secret)) => Ok(secret),
            Ok(Err(failure)) => match failure.downcast::<ModelError>() {
                Ok(error) => Err(*error),
                Err(failure) => fail(ModelErrorKind::Unauthorized, failure.to_string()),
            },
            Err(_) => {
                let text = format!("the source has not answered within {} s", limit.as_secs_f64());
                fail(ModelErrorKind::TimedOut, text)
            }
        }
    }

    /// Drops the latest secret after the server has refused it.
    async fn forget(&self) {
        *self.0.latest.lock().await = None;
    }
}

fn is_valid(secret: &impl Expiring) -> bool {
    secret.expires().is_some_and(|expires| SystemTime::now() + MARGIN < expires)
}

/// The authentication of a client's requests.
#[derive(Clone, Default)]
pub(super) enum Auth {
    #[default]
    None,
    /// An API key, in the header of the service.
    Key(String),
    /// Access tokens.
    Token(Source<AccessToken>),
    /// Credentials that sign each request for a region.
    #[cfg(feature = "bedrock")]
    Aws(Source<AwsCredentials>, String),
}

// `Debug` shows no secrets.
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
    /// Adds an access token or a signature to a request. Returns whether an earlier request has already used
    /// the same secret. An API key is not added here, because it is among the headers of every request.
    pub(super) async fn authorize(
        &self,
        request: &mut Request,
        service: &str,
        limit: Duration,
    ) -> Result<bool, ModelError> {
        match self {
            Self::None | Self::Key(_) => Ok(false),
            Self::Token(source) => {
                let (token, is_reused) = source.get(service, limit).await?;
                let (name, value) = header("authorization", &format!("Bearer {}", token.value.trim()))?;
                request.headers_mut().insert(name, value);
                Ok(is_reused)
            }
            #[cfg(feature = "bedrock")]
            Self::Aws(source, region) => {
                let (credentials, is_reused) = source.get(service, limit).await?;
                sigv4::sign(request, &credentials, region, SystemTime::now())?;
                Ok(is_reused)
            }
        }
    }

    /// Returns an access token, and whether an earlier request has already used it. Returns `None` if the
    /// client has no source of tokens.
    #[cfg(feature = "genai")]
    pub(super) async fn token(
        &self,
        service: &str,
        limit: Duration,
    ) -> Result<Option<(String, bool)>, ModelError> {
        let Self::Token(source) = self else { return Ok(None) };
        let (token, is_reused) = source.get(service, limit).await?;
        let token = token.value.trim();
        // The error for an illegal token does not show the token.
        header("authorization", token)?;
        Ok(Some((token.to_owned(), is_reused)))
    }

    /// Drops the latest secret if `status` shows that the server has refused the secret. Returns whether a
    /// new secret may help.
    pub(super) async fn forget(&self, status: Option<u16>) -> bool {
        match self {
            Self::Token(source) if status == Some(401) => source.forget().await,
            // AWS refuses expired credentials with status 403.
            #[cfg(feature = "bedrock")]
            Self::Aws(source, _) if matches!(status, Some(401 | 403)) => source.forget().await,
            _ => return false,
        }
        true
    }
}
