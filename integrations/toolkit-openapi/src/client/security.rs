//! Credentials for the security schemes of documents.

mod client_credentials;
mod scheme;

pub use client_credentials::ClientCredentials;
pub(crate) use scheme::{Authorization, authorize, is_open};

use crate::client::document::{Document, OpenApiIssue};
use crate::error::{OpenApiError, OpenApiErrorKind};
use client_credentials::AccessTokens;
use scheme::unfit;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use toolkit_core::ToolError;

pub(crate) type Failure = Box<dyn Error + Send + Sync>;
type SecretFuture = Pin<Box<dyn Future<Output = Result<String, Failure>> + Send>>;

/// Returns a secret for scopes.
#[derive(Clone)]
struct SecretSource(Arc<dyn Fn(Vec<String>) -> SecretFuture + Send + Sync>);

fn boxed<V: Into<String>, E: Into<Failure>>(
    secret: impl Future<Output = Result<V, E>> + Send + 'static,
) -> SecretFuture {
    Box::pin(async move { secret.await.map(Into::into).map_err(Into::into) })
}

/// What the program has for a security scheme.
#[derive(Clone)]
enum Credential {
    Secret(String),
    Basic { user: String, password: String },
    Client(Arc<AccessTokens>),
    Source(SecretSource),
}

/// Holds the credentials for the security schemes of a document, by scheme name.
///
/// A request has the credentials of the operation's first way to authenticate that is complete here. They are
/// sent only to the document's servers. Neither the model nor `Debug`, an error or an event shows them.
///
/// A secret that is empty or does not fit its scheme is an error when the document is read, and for a
/// [caller](CallerCredentials) when it calls.
///
/// ```
/// use toolkit_ai::openapi::client::{ClientCredentials, Credentials};
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

    /// Sets a scheme's secret: an API key, or a token for `http` with `bearer`, `oauth2` and `openIdConnect`.
    pub fn with_secret(self, scheme: impl Into<String>, secret: impl Into<String>) -> Self {
        self.with_credential(scheme, Credential::Secret(secret.into()))
    }

    /// Sets the user name and password of a basic authentication scheme.
    pub fn with_basic(
        self,
        scheme: impl Into<String>,
        user: impl Into<String>,
        password: impl Into<String>,
    ) -> Self {
        self.with_credential(scheme, Credential::Basic { user: user.into(), password: password.into() })
    }

    /// Sets the client of an OAuth 2 scheme with the flow "client credentials".
    ///
    /// Access tokens are fetched when needed, before they expire, and when the service refuses one. Clones
    /// share the tokens.
    pub fn with_client(self, scheme: impl Into<String>, client: ClientCredentials) -> Self {
        self.with_credential(scheme, Credential::Client(Arc::new(AccessTokens::new(client))))
    }

    /// Sets a function that returns the secret of a scheme.
    ///
    /// It gets the operation's scopes, is called for every request, and keeps its tokens itself. Its error is
    /// for the program: it becomes the [details](toolkit_core::ToolError::details) of the call's error.
    pub fn with_source<F, Fut, V, E>(self, scheme: impl Into<String>, source: F) -> Self
    where
        F: Fn(Vec<String>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<V, E>> + Send + 'static,
        V: Into<String>,
        E: Into<Failure>,
    {
        let source = SecretSource(Arc::new(move |scopes| boxed(source(scopes))));
        self.with_credential(scheme, Credential::Source(source))
    }

    /// Sets a header of every request, for a service whose document names no scheme.
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Checks the credentials against a document. An unknown scheme is an issue, because the credentials may
    /// be for several documents.
    ///
    /// # Errors
    /// A secret is empty, or does not fit its scheme. The error shows no secret.
    pub(crate) fn check(&self, document: &Document) -> Result<Vec<OpenApiIssue>, OpenApiError> {
        let mut issues = Vec::new();
        let schemes = document.security_schemes();
        for (name, credential) in &self.schemes {
            let scheme = document.security_scheme(name);
            if !schemes.iter().any(|(known, _)| known == name) {
                let known = schemes.iter().map(|(known, _)| *known);
                issues.push(OpenApiIssue::unknown("No security scheme has the name", name, known));
            }
            if let Some(reason) = unfit(credential, scheme) {
                let message = format!("the credentials for `{name}` cannot be used: {reason}");
                return Err(OpenApiError::new(OpenApiErrorKind::Request, message));
            }
        }
        Ok(issues)
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

/// Holds the credentials of a run's caller, by service.
///
/// In the state of the run, they let many users share one set of tools.
///
/// A call to a listed host uses only these credentials. A call to another host is an error if it needs
/// credentials, or if the tools were made with some, so that no user acts with the program's secret by
/// mistake. [`with_fallback`](Self::with_fallback) allows it.
///
/// ```
/// use toolkit_ai::RunContext;
/// use toolkit_ai::openapi::client::{CallerCredentials, Credentials};
///
/// let ada = Credentials::new().with_secret("token", "token-of-ada");
/// let run = RunContext::new().with_state(CallerCredentials::new().with("api.example.com:8443", ada));
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct CallerCredentials {
    hosts: BTreeMap<String, Credentials>,
    has_fallback: bool,
}

impl CallerCredentials {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the credentials for a host, with its port if the service's URL has one.
    pub fn with(mut self, host: impl Into<String>, credentials: Credentials) -> Self {
        self.hosts.insert(host.into().to_ascii_lowercase(), credentials);
        self
    }

    /// Lets calls to other hosts use the credentials that the tools were made with.
    pub fn with_fallback(mut self) -> Self {
        self.has_fallback = true;
        self
    }

    /// Returns the credentials for a call to a host. `of_program` are those of the tools; an `is_open` call
    /// needs none.
    ///
    /// # Errors
    /// The host is not in the list, and the call would go out with the credentials of the program, or without
    /// any.
    pub(crate) fn choose<'a>(
        &'a self,
        host: &str,
        of_program: &'a Credentials,
        is_open: bool,
    ) -> Result<&'a Credentials, ToolError> {
        if let Some(own) = self.hosts.get(&host.to_ascii_lowercase()) {
            return Ok(own);
        }
        let has_any = !of_program.schemes.is_empty() || !of_program.headers.is_empty();
        if self.has_fallback || is_open && !has_any {
            return Ok(of_program);
        }
        let hosts: Vec<String> = self.hosts.keys().map(|host| format!("`{host}`")).collect();
        let error = ToolError::failed(format_args!(
            "the user of this run has no credentials for `{host}`; another call of this tool will fail as well"
        ));
        Err(error.with_details(format!(
            "`CallerCredentials` has the hosts {}; add `{host}`, or allow the credentials of the program with `with_fallback`",
            hosts.join(", ")
        )))
    }
}
