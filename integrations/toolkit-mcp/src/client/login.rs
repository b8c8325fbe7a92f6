//! Logins with OAuth.

mod authorization;
mod login_tokens;
mod redirect;
mod token_store;

pub(super) use login_tokens::LoginTokens;
pub use token_store::{FileTokenStore, StoreFuture, StoreLock, TokenStore};

use crate::macros::{debug, setters};
use std::io::{self, Write};
use std::sync::Arc;
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
    name: String,
    client_id: Option<String>,
    client_secret: Option<String>,
    client_metadata_url: Option<String>,
    scopes: Vec<String>,
    port: u16,
    pub(super) timeout: Duration,
    prompt: Arc<dyn Fn(&str) + Send + Sync>,
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
