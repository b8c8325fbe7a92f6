//! The tokens of a login, as they are stored.

use oauth2::TokenResponse;
use rmcp::transport::auth::StoredCredentials;
use serde::{Deserialize, Serialize};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use toolkit_core::redaction::Redactor;

/// The time before expiry at which a token is refreshed, at most half of its lifetime.
const BEFORE_EXPIRY: Duration = Duration::from_secs(30);

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Tokens {
    pub(super) credentials: StoredCredentials,
    /// The requested scopes.
    pub(super) scopes: Vec<String>,
    /// A program that has registered itself.
    pub(super) registration: Option<Registration>,
}

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Registration {
    pub(super) issuer: Option<String>,
    pub(super) client_id: String,
    pub(super) client_secret: Option<String>,
    pub(super) scopes: Vec<String>,
    /// The port of the registered redirect. Some authorization servers accept no other. With 0, the next
    /// login registers the program again.
    pub(super) port: u16,
}

impl Registration {
    /// Returns whether the program may request the scopes from an authorization server.
    pub(super) fn permits(&self, issuer: Option<&str>, scopes: &[String]) -> bool {
        self.issuer.as_deref() == issuer && scopes.iter().all(|scope| self.scopes.contains(scope))
    }
}

impl Tokens {
    pub(super) fn token(&self) -> Option<&str> {
        Some(self.credentials.token_response.as_ref()?.access_token().secret())
    }

    pub(super) fn add_secrets(&self, redactor: &mut Redactor) {
        let registered = self.registration.as_ref().and_then(|known| known.client_secret.as_deref());
        for secret in [self.token(), self.refresh_token(), registered].into_iter().flatten() {
            redactor.add(secret);
        }
    }

    /// Returns the token, unless it expires soon.
    pub(super) fn valid_token(&self) -> Option<&str> {
        let response = self.credentials.token_response.as_ref()?;
        let received = self.credentials.token_received_at;
        if let Some((lifetime, received)) = response.expires_in().zip(received) {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
            let age = Duration::from_secs(now.saturating_sub(received));
            if age + BEFORE_EXPIRY.min(lifetime / 2) >= lifetime {
                return None;
            }
        }
        self.token()
    }

    /// Lets the next login register the program again. The present tokens still belong to this registration.
    pub(super) fn doubt_registration(&mut self) {
        if let Some(registration) = &mut self.registration {
            registration.port = 0;
        }
    }

    /// Forgets a lost registration, with the refresh token that belongs to it.
    pub(super) fn forget_registration(&mut self) {
        self.registration = None;
        if let Some(response) = &mut self.credentials.token_response {
            response.set_refresh_token(None);
        }
    }

    fn refresh_token(&self) -> Option<&str> {
        Some(self.credentials.token_response.as_ref()?.refresh_token()?.secret())
    }

    pub(super) fn has_refresh_token(&self) -> bool {
        self.refresh_token().is_some()
    }
}
