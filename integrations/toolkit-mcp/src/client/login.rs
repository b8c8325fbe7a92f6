//! Logins with OAuth: a source of tokens that logs in, refreshes and stores them.

use super::authorization::{AuthorizationServer, Tokens};
use super::token_source::{TokenChallenge, TokenFuture, TokenSource};
use super::token_store::{TokenStore, key};
use crate::locks::lock;
use crate::macros::{debug, setters};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A login at servers with OAuth, for [`McpUrl::with_login`](super::McpUrl::with_login).
///
/// The login begins when the server refuses a request. The user logs in at the address that the program shows, and the
/// browser returns to a port of this machine. Tokens are refreshed before they expire, and when the server refuses
/// them. If a call needs further scopes, the user is asked again, once for each set of scopes.
///
/// Servers need `https`, except servers on this machine.
///
/// ```
/// use toolkit_mcp::client::{FileTokenStore, Login, McpUrl};
///
/// let login = Login::new("My Program").with_token_store(FileTokenStore::new("/home/ada/.config/my-program/logins"));
/// let url = McpUrl::new("https://example.com/mcp").with_login(login);
/// ```
#[derive(Clone)]
#[must_use]
pub struct Login {
    pub(super) name: String,
    pub(super) client_id: Option<String>,
    pub(super) client_secret: Option<String>,
    pub(super) client_metadata_url: Option<String>,
    pub(super) scopes: Vec<String>,
    pub(super) port: u16,
    pub(super) timeout: Duration,
    pub(super) prompt: Arc<dyn Fn(&str) + Send + Sync>,
    store: Option<Arc<dyn TokenStore>>,
    /// Whether a user logs in, or else the program itself.
    pub(super) has_user: bool,
}

impl Login {
    /// Creates the login of a user. Authorization servers show the name of the program to the user.
    pub fn new(program: impl Into<String>) -> Self {
        Self {
            name: program.into(),
            client_id: None,
            client_secret: None,
            client_metadata_url: None,
            scopes: Vec::new(),
            port: 0,
            timeout: Duration::from_secs(300),
            prompt: Arc::new(print),
            store: None,
            has_user: true,
        }
    }

    /// Creates the login of a program without a user (client credentials).
    pub fn client_credentials(id: impl Into<String>, secret: impl Into<String>) -> Self {
        let id = id.into();
        Self { has_user: false, ..Self::new(&id).with_client_id(id).with_client_secret(secret) }
    }

    /// Requests these scopes. By default, the server names them.
    pub fn with_scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Returns what names the program: the id given by the authorization server, or the program's own name.
    fn client(&self) -> &str {
        self.client_id.as_ref().or(self.client_metadata_url.as_ref()).unwrap_or(&self.name)
    }
}

setters! { Login:
    /// Sets the client id of a program that is registered at the authorization server. By default, the program
    /// registers itself.
    with_client_id(client_id: impl Into<String>) = Some(client_id.into());
    /// Sets the secret that belongs to the client id.
    with_client_secret(client_secret: impl Into<String>) = Some(client_secret.into());
    /// Sets the URL of a document about the program (client ID metadata document). Authorization servers that read such
    /// documents need no registration.
    with_client_metadata_url(client_metadata_url: impl Into<String>) = Some(client_metadata_url.into());
    /// Sets the port for the redirect, `http://127.0.0.1:PORT/callback`. The default is a free port.
    with_port(port: u16) = port;
    /// Sets the time for the user to log in. The default is five minutes. The time limit for connecting is longer by
    /// this time.
    with_timeout(timeout: Duration) = timeout;
    /// Sets the function that shows the user the address for the login, for instance in a browser. By default, it is
    /// printed to standard error.
    with_prompt(prompt: impl Fn(&str) + Send + Sync + 'static) = Arc::new(prompt);
    /// Keeps tokens in a store. By default, they are kept in memory.
    with_token_store(store: impl TokenStore) = Some(Arc::new(store));
}

debug!(Login, self, "name": self.name, "client_id": self.client_id);

fn print(address: &str) {
    // Without standard error, the login ends with its time limit.
    let _ = writeln!(io::stderr(), "Log in at this address: {address}");
}

/// The tokens of one server.
pub(super) struct LoginTokens(Arc<LoginState>);

struct LoginState {
    login: Login,
    resource: String,
    key: String,
    tokens: Mutex<Option<Tokens>>,
    /// Held during a login or refresh.
    renewing: tokio::sync::Mutex<()>,
}

impl LoginTokens {
    pub(super) fn new(login: Login, resource: &str) -> Self {
        let key = key(resource, login.client());
        let resource = resource.to_owned();
        Self(Arc::new(LoginState {
            login,
            resource,
            key,
            tokens: Mutex::default(),
            renewing: Default::default(),
        }))
    }
}

impl TokenSource for LoginTokens {
    fn token<'a>(&'a self, challenge: Option<&'a TokenChallenge>) -> TokenFuture<'a> {
        Box::pin(async move {
            if challenge.is_none()
                && let Some(token) = self.0.tokens().as_ref().and_then(Tokens::valid_token)
            {
                return Ok(Some(token.to_owned()));
            }
            // The user may finish a login after the time limit of the request. The next request then has a token.
            let state = self.0.clone();
            let challenge = challenge.cloned();
            let renewed = tokio::spawn(async move { state.renew(challenge).await }).await;
            renewed.unwrap_or_else(|_| Err("the login failed".to_owned()))
        })
    }
}

impl LoginState {
    fn tokens(&self) -> Option<Tokens> {
        lock(&self.tokens).clone()
    }

    /// Returns a token other than the refused one. Returns the refused token if no other can be had.
    async fn renew(&self, challenge: Option<TokenChallenge>) -> Result<Option<String>, String> {
        let _renewing = self.renewing.lock().await;
        let refused = challenge.as_ref().and_then(|challenge| challenge.token.as_deref());
        let known = self.tokens();
        // Another request may have renewed the token in the meantime.
        if let Some(token) = known.as_ref().and_then(Tokens::valid_token)
            && refused != Some(token)
        {
            return Ok(Some(token.to_owned()));
        }
        let needs_scope = challenge.as_ref().is_some_and(TokenChallenge::is_insufficient_scope);
        if !needs_scope && let Some(tokens) = self.refresh(challenge.as_ref()).await? {
            return Ok(self.adopt(tokens));
        }
        let Some(challenge) = challenge else { return Ok(None) };
        let mut scopes = known.map(|tokens| tokens.scopes).unwrap_or_default();
        if needs_scope {
            let missing = challenge.scope.iter().flat_map(|scope| scope.split(' '));
            let missing: Vec<_> = missing.filter(|scope| !scopes.iter().any(|own| own == scope)).collect();
            if missing.is_empty() {
                return Ok(challenge.token);
            }
            scopes.extend(missing.into_iter().map(str::to_owned));
        }
        let server = self.server(Some(&challenge)).await?;
        let tokens = server.log_in(&self.login, &scopes).await?;
        self.save(&tokens).await?;
        Ok(self.adopt(tokens))
    }

    /// Returns the tokens that another process has stored, or else exchanges the refresh token. Returns `None` if a
    /// login is needed.
    async fn refresh(&self, challenge: Option<&TokenChallenge>) -> Result<Option<Tokens>, String> {
        let _lock = match &self.login.store {
            Some(store) => Some(store.lock(&self.key).await?),
            None => None,
        };
        let Some(tokens) = self.load().await? else { return Ok(None) };
        let refused = challenge.and_then(|challenge| challenge.token.as_deref());
        if tokens.valid_token().is_some_and(|token| refused != Some(token)) {
            return Ok(Some(tokens));
        }
        if !tokens.has_refresh_token() {
            return Ok(None);
        }
        let Some(tokens) = self.server(challenge).await?.refresh(tokens).await? else { return Ok(None) };
        self.save(&tokens).await?;
        Ok(Some(tokens))
    }

    async fn server(&self, challenge: Option<&TokenChallenge>) -> Result<AuthorizationServer, String> {
        let header = challenge.map(|challenge| challenge.header.as_str()).filter(|header| !header.is_empty());
        AuthorizationServer::discover(&self.resource, header).await
    }

    async fn load(&self) -> Result<Option<Tokens>, String> {
        let Some(store) = &self.login.store else { return Ok(self.tokens()) };
        let text = store.load(&self.key).await?;
        // Without readable tokens, the user logs in again.
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }

    async fn save(&self, tokens: &Tokens) -> Result<(), String> {
        let Some(store) = &self.login.store else { return Ok(()) };
        let text = serde_json::to_string(tokens).map_err(|error| error.to_string())?;
        store.save(&self.key, text).await
    }

    fn adopt(&self, tokens: Tokens) -> Option<String> {
        let token = tokens.token().map(str::to_owned);
        *lock(&self.tokens) = Some(tokens);
        token
    }
}
