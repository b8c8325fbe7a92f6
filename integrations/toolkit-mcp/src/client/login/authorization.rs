//! The authorization server of an MCP server: discovery, and requests for tokens.

use super::Login;
use super::redirect::RedirectListener;
use crate::client::connect_errors::chain;
use crate::client::http_client::http_client;
use oauth2::TokenResponse;
use oauth2::http::Response;
use reqwest::Url;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, ClientCredentialsConfig, CredentialStore, InMemoryCredentialStore,
    OAuthClientConfig, OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRequest, StoredCredentials,
};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::timeout;
use toolkit_foreign::clean;
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;

/// The maximum size of a response of an authorization server, in bytes.
const RESPONSE_BYTES: usize = 1024 * 1024;

/// The maximum time for a response of an authorization server.
const RESPONSE_TIME: Duration = Duration::from_secs(30);

/// The time before its expiry at which a token is refreshed, at most half of its lifetime.
const BEFORE_EXPIRY: Duration = Duration::from_secs(30);

/// The field in the metadata of a server that accepts the URL of a document as a client id.
const CLIENT_METADATA: &str = "client_id_metadata_document_supported";

/// The tokens of a login, and what is needed to refresh them.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Tokens {
    credentials: StoredCredentials,
    /// The secret of a program that the authorization server has registered.
    client_secret: Option<String>,
    /// The requested scopes.
    pub(super) scopes: Vec<String>,
}

impl Tokens {
    pub(super) fn token(&self) -> Option<&str> {
        Some(self.credentials.token_response.as_ref()?.access_token().secret())
    }

    /// Returns the token, unless it expires soon.
    pub(super) fn valid_token(&self) -> Option<&str> {
        let response = self.credentials.token_response.as_ref()?;
        let received = self.credentials.token_received_at;
        if let Some((lifetime, received)) = response.expires_in().zip(received) {
            let age = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
            let age = Duration::from_secs(age.saturating_sub(received));
            if age + BEFORE_EXPIRY.min(lifetime / 2) >= lifetime {
                return None;
            }
        }
        self.token()
    }

    pub(super) fn has_refresh_token(&self) -> bool {
        self.credentials.token_response.as_ref().is_some_and(|response| response.refresh_token().is_some())
    }
}

/// The authorization server of one MCP server.
pub(super) struct AuthorizationServer {
    manager: AuthorizationManager,
    issuer: Option<String>,
    /// Whether the URL of a document about the program is a valid client id.
    reads_client_metadata: bool,
    /// The place where the SDK puts tokens.
    received: InMemoryCredentialStore,
    resource: Url,
}

impl AuthorizationServer {
    /// Finds the authorization server from a challenge of the MCP server, or from its URL.
    pub(super) async fn discover(resource: &str, challenge: Option<&str>) -> Result<Self, String> {
        let resource = Url::parse(resource).map_err(|error| format!("the URL is invalid: {error}"))?;
        let http = GuardedHttp { is_loopback: is_loopback(&resource) };
        if !http.permits(&resource) {
            return Err("a login needs a URL with `https`".to_owned());
        }
        let manager =
            AuthorizationManager::new_with_oauth_http_client(resource.clone(), Arc::new(http)).await;
        let mut manager = manager.map_err(failed)?;
        let received = InMemoryCredentialStore::new();
        manager.set_credential_store(received.clone());
        let found = manager.resolve_metadata_from_challenge(challenge).await.map_err(failed)?;
        if !Url::parse(&found.metadata.authorization_endpoint).is_ok_and(|url| http.permits(&url)) {
            return Err("the address of the authorization server is not safe; use `https`".to_owned());
        }
        let issuer = found.metadata.issuer.clone();
        let reads_client_metadata =
            found.metadata.additional_fields.get(CLIENT_METADATA) == Some(&true.into());
        manager.set_metadata(found.metadata);
        Ok(Self { manager, issuer, reads_client_metadata, received, resource })
    }

    /// Exchanges the refresh token. Returns `None` if a new login is needed.
    pub(super) async fn refresh(mut self, tokens: Tokens) -> Result<Option<Tokens>, String> {
        if self.issuer != tokens.credentials.issuer {
            return Ok(None);
        }
        let Tokens { credentials, client_secret, scopes } = tokens;
        // The redirect address is not part of this request.
        let client = OAuthClientConfig::new(&credentials.client_id, self.resource.as_str());
        self.manager.configure_client(with_secret(client, client_secret.as_ref())).map_err(failed)?;
        self.received.save(credentials).await.map_err(failed)?;
        match self.manager.refresh_token().with_subscriber(NoSubscriber::default()).await {
            Ok(_) => self.tokens(client_secret, scopes).await.map(Some),
            Err(AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_)) => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    /// Logs in. Requests the scopes of the challenge or of the program, and `more`.
    pub(super) async fn log_in(mut self, login: &Login, more: &[String]) -> Result<Tokens, String> {
        let mut scopes = login.scopes.clone();
        if scopes.is_empty() {
            scopes = self.manager.select_initial_scopes(&[]).await;
        }
        for scope in more {
            if !scopes.contains(scope) {
                scopes.push(scope.clone());
            }
        }
        let client_secret = if login.has_user {
            self.authorize(login, &scopes).await?
        } else {
            self.exchange_secret(login, &scopes).await?;
            login.client_secret.clone()
        };
        self.tokens(client_secret, scopes).await
    }

    /// Sends the user to the authorization server, and exchanges the code. Returns the secret of the program.
    async fn authorize(&mut self, login: &Login, scopes: &[String]) -> Result<Option<String>, String> {
        let listener = RedirectListener::bind(login.port).await;
        let listener = listener.map_err(|error| format!("port {} is not available: {error}", login.port))?;
        let client = self.client(login, &listener.url(), scopes).await?;
        let secret = client.client_secret.clone();
        self.manager.configure_client(client).map_err(failed)?;
        let address = self.manager.get_authorization_url(&texts(scopes)).await.map_err(failed)?;
        let url = Url::parse(&address).map_err(|error| error.to_string())?;
        let state = url.query_pairs().find(|(name, _)| name == "state").map(|(_, state)| state.into_owned());
        (login.prompt)(&address);
        let redirect = timeout(login.timeout, listener.redirect(&state.unwrap_or_default())).await;
        let limit = login.timeout.as_secs_f64();
        let redirect = redirect.map_err(|_| format!("the user did not log in within {limit} s"))??;
        let issuer = redirect.issuer.as_deref();
        self.manager
            .exchange_code_for_token_with_issuer(&redirect.code, &redirect.csrf_token, issuer)
            .with_subscriber(NoSubscriber::default())
            .await
            .map_err(failed)?;
        Ok(secret)
    }

    /// Returns the program as the authorization server knows it. Registers the program if needed.
    async fn client(
        &mut self,
        login: &Login,
        redirect: &str,
        scopes: &[String],
    ) -> Result<OAuthClientConfig, String> {
        let document = login.client_metadata_url.as_ref().filter(|_| self.reads_client_metadata);
        match login.client_id.as_ref().or(document) {
            Some(id) => Ok(with_secret(OAuthClientConfig::new(id, redirect), login.client_secret.as_ref())),
            None => {
                let registered = self.manager.register_client(&login.name, redirect, &texts(scopes)).await;
                registered.map_err(failed)
            }
        }
    }

    /// Exchanges the secret of the program for a token.
    async fn exchange_secret(&mut self, login: &Login, scopes: &[String]) -> Result<(), String> {
        let config = ClientCredentialsConfig::ClientSecret {
            client_id: login.client_id.clone().unwrap_or_default(),
            client_secret: login.client_secret.clone().unwrap_or_default(),
            scopes: scopes.to_vec(),
            resource: Some(self.resource.to_string()),
        };
        self.manager.validate_client_credentials_metadata(&config).map_err(failed)?;
        self.manager.configure_client_credentials(&config).map_err(failed)?;
        let exchange = self.manager.exchange_client_credentials(&config);
        exchange.with_subscriber(NoSubscriber::default()).await.map(drop).map_err(failed)
    }

    /// Returns the tokens that the SDK received.
    async fn tokens(self, client_secret: Option<String>, scopes: Vec<String>) -> Result<Tokens, String> {
        let credentials = self.received.load().await.map_err(failed)?;
        let credentials = credentials.ok_or("the authorization server sent no token")?;
        Ok(Tokens { credentials, client_secret, scopes })
    }
}

fn with_secret(client: OAuthClientConfig, secret: Option<&String>) -> OAuthClientConfig {
    match secret {
        Some(secret) => client.with_client_secret(secret),
        None => client,
    }
}

fn texts(scopes: &[String]) -> Vec<&str> {
    scopes.iter().map(String::as_str).collect()
}

/// Returns the message of an error. The authorization server may have written a part of it.
fn failed(error: AuthError) -> String {
    clean(&chain(&error))
}

/// Returns whether a URL names this machine.
fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// An HTTP client for untrusted authorization servers: without redirects, with limits, and encrypted.
#[derive(Clone, Copy)]
struct GuardedHttp {
    /// Whether the MCP server runs on this machine. Its authorization server may then run here without encryption.
    is_loopback: bool,
}

impl GuardedHttp {
    fn permits(self, url: &Url) -> bool {
        match url.scheme() {
            "https" => true,
            "http" => self.is_loopback && is_loopback(url),
            _ => false,
        }
    }
}

impl OAuthHttpClient for GuardedHttp {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let mut request = reqwest::Request::try_from(request.request)?;
            if !self.permits(request.url()) {
                return Err("the authorization server is not safe; use `https`".into());
            }
            *request.timeout_mut() = Some(RESPONSE_TIME);
            let client = http_client(request.url())?;
            let mut answer = client.execute(request).await.map_err(reqwest::Error::without_url)?;
            let mut response = Response::new(Vec::new());
            *response.status_mut() = answer.status();
            *response.headers_mut() = std::mem::take(answer.headers_mut());
            while let Some(chunk) = answer.chunk().await.map_err(reqwest::Error::without_url)? {
                if response.body().len() + chunk.len() > RESPONSE_BYTES {
                    return Err("the response of the authorization server is too large".into());
                }
                response.body_mut().extend_from_slice(&chunk);
            }
            Ok(response)
        })
    }
}
