//! The tokens of one server: a source that logs in, refreshes and stores them.

use super::Login;
use super::authorization::{AuthorizationServer, LoginFault, Refreshed};
use super::stored_tokens::{Registration, Tokens};
use super::token_store::key;
use crate::client::http_transport::{McpToken, TokenChallenge, TokenRequest, TokenSource};
use std::error::Error;
use std::sync::{Arc, Mutex};
use toolkit_core::__private::lock;
use toolkit_core::redaction::Redactor;

pub(in crate::client) struct LoginTokens(Arc<LoginState>);

struct LoginState {
    login: Login,
    resource: String,
    key: String,
    tokens: Mutex<Option<Tokens>>,
    /// Held during a login or refresh.
    renewing: tokio::sync::Mutex<()>,
}

impl LoginTokens {
    pub(in crate::client) fn new(login: Login, resource: &str) -> Self {
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
    async fn token(
        &self,
        request: &TokenRequest<'_>,
    ) -> Result<Option<McpToken>, Box<dyn Error + Send + Sync>> {
        let challenge = request.challenge();
        if challenge.is_none()
            && let Some(token) = self.0.tokens().as_ref().and_then(Tokens::valid_token)
        {
            return Ok(Some(token.into()));
        }
        // The user may finish a login after the time limit of the request. The next request then has a token.
        let state = self.0.clone();
        let refused = challenge.cloned();
        match tokio::spawn(async move { state.renew(refused).await }).await {
            Ok(Ok(token)) => Ok(token.map(McpToken::from)),
            Ok(Err(reason)) => Err(self.0.redactor().redact(&reason).into()),
            Err(_) => Err("the login failed".into()),
        }
    }
}

impl LoginState {
    fn redactor(&self) -> Redactor {
        let mut redactor = Redactor::new();
        if let Some(secret) = &self.login.client_secret {
            redactor.add(secret);
        }
        if let Some(tokens) = self.tokens() {
            tokens.add_secrets(&mut redactor);
        }
        redactor
    }

    fn tokens(&self) -> Option<Tokens> {
        lock(&self.tokens).clone()
    }

    /// Returns a token other than the refused one, if one can be had.
    async fn renew(&self, challenge: Option<TokenChallenge>) -> Result<Option<String>, String> {
        let _renewing = self.renewing.lock().await;
        let refused = challenge.as_ref().and_then(|challenge| challenge.token.as_deref());
        let known = self.tokens();
        // Another request may have renewed it.
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
        // The refresh may have changed it.
        let (mut scopes, registration) = match self.tokens() {
            Some(tokens) => (tokens.scopes, tokens.registration),
            None => (Vec::new(), self.load().await?.and_then(|tokens| tokens.registration)),
        };
        if needs_scope {
            let earlier = scopes.len();
            for scope in challenge.scope.iter().flat_map(|scope| scope.split(' ')) {
                if !scopes.iter().any(|own| own == scope) {
                    scopes.push(scope.to_owned());
                }
            }
            if scopes.len() == earlier {
                return Ok(challenge.token);
            }
        }
        let tokens = self.log_in(&challenge, &scopes, registration).await?;
        self.save(&tokens).await?;
        Ok(self.adopt(tokens))
    }

    /// Logs in, once more if the authorization server has lost the registration of the program.
    async fn log_in(
        &self,
        challenge: &TokenChallenge,
        scopes: &[String],
        registration: Option<Registration>,
    ) -> Result<Tokens, String> {
        let is_registered = registration.is_some();
        let server = self.server(Some(challenge)).await?;
        let fault = match server.log_in(&self.login, scopes, registration).await {
            Ok(tokens) => return Ok(tokens),
            Err(fault) => fault,
        };
        if !is_registered {
            return Err(fault.reason);
        }
        if !fault.is_unregistered {
            // The authorization server may have forgotten the program, which then registers itself again.
            self.change_stored(Tokens::doubt_registration).await?;
            return Err(fault.reason);
        }
        self.change_stored(Tokens::forget_registration).await?;
        let retried = self.server(Some(challenge)).await?.log_in(&self.login, scopes, None).await;
        retried.map_err(|fault: LoginFault| fault.reason)
    }

    /// Returns the tokens that another process has stored, or else exchanges the refresh token. Returns
    /// `None` if a login is needed.
    async fn refresh(&self, challenge: Option<&TokenChallenge>) -> Result<Option<Tokens>, String> {
        let _lock = match &self.login.store {
            Some(store) => Some(store.lock_boxed(&self.key).await.map_err(|error| error.to_string())?),
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
        match self.server(challenge).await?.refresh(&self.login, tokens).await? {
            Refreshed::Tokens(tokens) => {
                self.save(&tokens).await?;
                Ok(Some(*tokens))
            }
            Refreshed::LoginNeeded => Ok(None),
            Refreshed::Unregistered => {
                self.change_stored(Tokens::forget_registration).await?;
                Ok(None)
            }
        }
    }

    async fn server(&self, challenge: Option<&TokenChallenge>) -> Result<AuthorizationServer, String> {
        let header = challenge.and_then(|challenge| challenge.header("www-authenticate"));
        AuthorizationServer::discover(&self.login, &self.resource, header).await
    }

    async fn load(&self) -> Result<Option<Tokens>, String> {
        let Some(store) = &self.login.store else { return Ok(self.tokens()) };
        let text = store.load_boxed(&self.key).await.map_err(|error| error.to_string())?;
        // Without readable tokens, the user logs in again.
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }

    async fn save(&self, tokens: &Tokens) -> Result<(), String> {
        let Some(store) = &self.login.store else { return Ok(()) };
        let text = serde_json::to_string(tokens).map_err(|error| error.to_string())?;
        store.save_boxed(&self.key, text).await.map_err(|error| error.to_string())
    }

    async fn change_stored(&self, change: fn(&mut Tokens)) -> Result<(), String> {
        let Some(mut tokens) = self.load().await? else { return Ok(()) };
        change(&mut tokens);
        self.save(&tokens).await?;
        self.adopt(tokens);
        Ok(())
    }

    fn adopt(&self, tokens: Tokens) -> Option<String> {
        let token = tokens.token().map(str::to_owned);
        *lock(&self.tokens) = Some(tokens);
        token
    }
}
