//! Logins with OAuth.

mod authorization;
mod client_assertion;
mod login_tokens;
mod redirect;
mod stored_tokens;
mod token_answer;
mod token_store;

pub(super) use login_tokens::LoginTokens;
use token_store::DynTokenStore;
pub use token_store::{FileTokenStore, StoreLock, TokenStore};

use crate::macros::{debug, setters};
use crate::mcp_error::{McpError, McpErrorKind};
use client_assertion::SigningKey;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

/// A login at servers with OAuth, for [`McpUrl::with_login`](super::McpUrl::with_login).
///
/// The login begins when the server refuses a request. The user logs in at the address that the
/// program shows, and the browser returns to a port of this machine. Tokens are refreshed before
/// they expire, and when the server refuses them. For further scopes, the user is asked again, once
/// for each set.
///
/// Servers need `https`, except on this machine.
///
/// ```
/// use toolkit_ai::mcp::client::{FileTokenStore, Login, McpUrl};
///
/// let login = Login::new("My Program").with_token_store(FileTokenStore::new("/home/ada/.config/my-program/logins"));
/// let url = McpUrl::new("https://example.com/mcp").with_login(login);
/// ```
#[derive(Clone)]
#[must_use]
pub struct Login {
    name: String,
    client_id: Option<String>,
    client_secret: Option<String>,
    client_metadata_url: Option<String>,
    issuer: Option<String>,
    scopes: Vec<String>,
    port: u16,
    pub(super) timeout: Duration,
    prompt: Arc<dyn Fn(&str) + Send + Sync>,
    store: Option<Arc<dyn DynTokenStore>>,
    grant: LoginGrant,
    permits_unannounced_pkce: bool,
}

/// What a login exchanges for tokens.
#[derive(Clone)]
enum LoginGrant {
    Code,
    Secret,
    SignedAssertion(Arc<SigningKey>),
    WorkloadAssertion(Arc<dyn Fn() -> io::Result<String> + Send + Sync>),
}

impl Login {
    /// Creates the login of a user, who sees the name of the program.
    pub fn new(program: impl Into<String>) -> Self {
        Self {
            name: program.into(),
            client_id: None,
            client_secret: None,
            client_metadata_url: None,
            issuer: None,
            scopes: Vec::new(),
            port: 0,
            timeout: Duration::from_secs(300),
            prompt: Arc::new(print),
            store: None,
            grant: LoginGrant::Code,
            permits_unannounced_pkce: false,
        }
    }

    /// Creates the login of a program (client credentials).
    pub fn client_credentials(id: impl Into<String>, secret: impl Into<String>) -> Self {
        Self { grant: LoginGrant::Secret, ..Self::of_program(id.into()).with_client_secret(secret) }
    }

    /// Creates the login of a program without a user, which signs its requests for tokens
    /// (`private_key_jwt`).
    ///
    /// The key is for RSA or the curve P-256, as PKCS #8 (`BEGIN PRIVATE KEY`).
    ///
    /// # Errors
    /// The key is not readable.
    pub fn private_key_jwt(id: impl Into<String>, pem: &str) -> Result<Self, McpError> {
        let unreadable = "the private key is neither an RSA key nor a key for P-256 in the form PKCS #8";
        let key = SigningKey::from_pem(pem).ok_or_else(|| McpError::new(McpErrorKind::Config, unreadable))?;
        Ok(Self { grant: LoginGrant::SignedAssertion(Arc::new(key)), ..Self::of_program(id.into()) })
    }

    /// Creates the login of a program with an assertion of its platform, such as the token that Kubernetes
    /// writes to a file (workload identity federation).
    ///
    /// `assertion` is called for each new token.
    ///
    /// Any server that receives an assertion can use it, so name the authorization server with
    /// [`with_issuer`](Self::with_issuer).
    pub fn workload_identity(
        id: impl Into<String>,
        assertion: impl Fn() -> io::Result<String> + Send + Sync + 'static,
    ) -> Self {
        Self { grant: LoginGrant::WorkloadAssertion(Arc::new(assertion)), ..Self::of_program(id.into()) }
    }

    fn of_program(id: String) -> Self {
        Self::new(&id).with_client_id(id)
    }

    pub(super) fn has_user(&self) -> bool {
        matches!(self.grant, LoginGrant::Code)
    }

    /// Requests these scopes. By default, the server names them.
    pub fn with_scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Logs in also at an authorization server whose metadata do not announce PKCE
    /// (`code_challenge_methods_supported`).
    ///
    /// By default, such a login is an error, as the protocol demands: a server that ignores PKCE gives tokens
    /// to anybody who intercepts the redirect. Use this only for servers known to check the challenge.
    pub fn with_unannounced_pkce(mut self) -> Self {
        self.permits_unannounced_pkce = true;
        self
    }

    /// Returns the client id, or the program's own name.
    fn client(&self) -> &str {
        self.client_id.as_ref().or(self.client_metadata_url.as_ref()).unwrap_or(&self.name)
    }
}

setters! { Login:
    /// Sets the client id of a program that is registered at the authorization server.
    ///
    /// By default, the program registers itself.
    with_client_id(client_id: impl Into<String>) = Some(client_id.into());
    /// Sets the secret of the client id.
    with_client_secret(client_secret: impl Into<String>) = Some(client_secret.into());
    /// Sets the URL of a document about the program (client ID metadata document).
    ///
    /// Authorization servers that read it need no registration.
    with_client_metadata_url(client_metadata_url: impl Into<String>) = Some(client_metadata_url.into());
    /// Accepts only this authorization server. By default, the MCP server names it.
    with_issuer(issuer: impl Into<String>) = Some(issuer.into());
    /// Sets the port for the redirect, `http://127.0.0.1:PORT/callback`; a free port by default.
    with_port(port: u16) = port;
    /// Sets the time for the user to log in, five minutes by default. It extends the time limit for
    /// connecting.
    with_timeout(timeout: Duration) = timeout;
    /// Sets the function that shows the user the login address, for instance in a browser.
    ///
    /// By default, it is printed to standard error.
    with_prompt(prompt: impl Fn(&str) + Send + Sync + 'static) = Arc::new(prompt);
    /// Keeps tokens in a store; in memory by default.
    with_token_store(store: impl TokenStore) = Some(Arc::new(store));
}

debug!(Login, self, "name": self.name, "client_id": self.client_id);

fn print(address: &str) {
    // Without standard error, the login ends with its time limit.
    let _ = writeln!(io::stderr(), "Log in at this address: {address}");
}
