//! Credentials for the security schemes of documents.

mod client_credentials;
mod scheme;

pub use client_credentials::ClientCredentials;
pub(crate) use scheme::{Authorization, authorize};

use client_credentials::AccessTokens;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

pub(crate) type Failure = Box<dyn Error + Send + Sync>;
type SecretFuture = Pin<Box<dyn Future<Output = Result<String, Failure>> + Send>>;

/// A function of the program that returns a secret for scopes.
#[derive(Clone)]
struct SecretSource(Arc<dyn Fn(Vec<String>) -> SecretFuture + Send + Sync>);

/// What the program has for a security scheme.
#[derive(Clone)]
enum Credential {
    Secret(String),
    Basic { user: String, password: String },
    Client(Arc<AccessTokens>),
    Source(SecretSource),
}

/// Credentials for the security schemes of a document, by the names of the schemes.
///
/// A request has the credentials of the first way to authenticate that the document names for the operation and that
/// is complete here. The credentials are sent only to the servers of the document, and neither the model nor `Debug`,
/// an error or an event shows them.
///
/// ```
/// use toolkit::openapi::client::{ClientCredentials, Credentials};
///
/// let credentials = Credentials::new()
///     .with_secret("apiKey", "key-123456")
///     .with_basic("login", "ada", "pass-123456")
///     .with_client("oauth", ClientCredentials::new("client", "secret-123456"))
///     .with_source("userToken", |_scopes| async { Ok::<_, std::io::Error>("token-123456") });
/// assert!(!format!("{credentials:?}").contains("123456"));
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct Credentials {
    schemes: BTreeMap<String, Credential>,
    headers: Vec<(String, String)>,
}

impl Credentials {
    /// Creates credentials for no scheme.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the secret of a scheme: an API key, or a token for `http` with `bearer`, `oauth2` and `openIdConnect`. The
    /// document says where it is sent.
    pub fn with_secret(self, scheme: impl Into<String>, secret: impl Into<String>) -> Self {
        self.with_credential(scheme, Credential::Secret(secret.into()))
    }

    /// Sets the user name and the password of a scheme with basic authentication.
    pub fn with_basic(
        self,
        scheme: impl Into<String>,
        user: impl Into<String>,
        password: impl Into<String>,
    ) -> Self {
        self.with_credential(scheme, Credential::Basic { user: user.into(), password: password.into() })
    }

    /// Sets the client of an OAuth 2 scheme with the flow "client credentials". Access tokens are fetched when they are
    /// first needed, and again before they expire or when the service refuses one. Clones share the tokens.
    pub fn with_client(self, scheme: impl Into<String>, client: ClientCredentials) -> Self {
        self.with_credential(scheme, Credential::Client(Arc::new(AccessTokens::new(client))))
    }

    /// Sets a function that returns the secret of a scheme, for every way to get one that is not here. It receives the
    /// scopes that the operation needs, is called for every request, and keeps its tokens itself. Its error is for the
    /// program: it becomes the [details](toolkit_core::ToolError::details) of the call's error.
    pub fn with_source<F, Fut, V, E>(self, scheme: impl Into<String>, source: F) -> Self
    where
        F: Fn(Vec<String>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<V, E>> + Send + 'static,
        V: Into<String>,
        E: Into<Failure>,
    {
        let source = move |scopes| -> SecretFuture {
            let secret = source(scopes);
            Box::pin(async move { secret.await.map(Into::into).map_err(Into::into) })
        };
        self.with_credential(scheme, Credential::Source(SecretSource(Arc::new(source))))
    }

    /// Sets a header of every request, such as `Authorization` for a service whose document names no scheme.
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    fn with_credential(mut self, scheme: impl Into<String>, credential: Credential) -> Self {
        self.schemes.insert(scheme.into(), credential);
        self
    }
}

/// Shows the names of the schemes and of the headers.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Credentials")
            .field("schemes", &self.schemes.keys().collect::<Vec<_>>())
            .field("headers", &headers)
            .finish()
    }
}

/// The credentials of the caller for a run, by service. The program puts them into the state of the run, so that many
/// users share one process and one set of tools.
///
/// A call that goes to a host in this list uses only the caller's credentials for it, and none of those that the tools
/// were made with. A call to another host does not see them.
///
/// ```
/// use toolkit::RunContext;
/// use toolkit::openapi::client::{CallerCredentials, Credentials};
///
/// let ada = Credentials::new().with_secret("token", "token-of-ada");
/// let run = RunContext::new().with_state(CallerCredentials::new().with("api.example.com", ada));
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct CallerCredentials(BTreeMap<String, Credentials>);

impl CallerCredentials {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the credentials for a host, written as in the URL of the service: with its port if the URL has one.
    pub fn with(mut self, host: impl Into<String>, credentials: Credentials) -> Self {
        self.0.insert(host.into().to_ascii_lowercase(), credentials);
        self
    }

    /// Returns the credentials for the host of a request.
    pub(crate) fn of(&self, host: &str) -> Option<&Credentials> {
        self.0.get(&host.to_ascii_lowercase())
    }
}
