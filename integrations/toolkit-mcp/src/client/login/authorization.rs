//! The authorization server of an MCP server: discovery, and requests for tokens.

use super::redirect::RedirectListener;
use super::stored_tokens::{Registration, Tokens};
use super::token_answer::LoginHttp;
use super::{Login, LoginGrant};
use crate::client::failures::chain;
use crate::guarded_http::GuardedHttp;
use http::Request;
use http::header::CONTENT_TYPE;
use oauth2::url::Url;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, ClientCredentialsConfig, CredentialStore, InMemoryCredentialStore,
    OAuthClientConfig, OAuthTokenResponse, StoredCredentials,
};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::time::timeout;
use toolkit_core::foreign::{clean, shorten};
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;

/// Announces that the server accepts the URL of a document as a client id.
const CLIENT_METADATA: &str = "client_id_metadata_document_supported";

/// The failure of a login at a server without metadata.
const UNNAMED: &str =
    "the server names no authorization server; if it takes a fixed token, use `McpUrl::with_bearer_token`";

pub(super) enum Refreshed {
    Tokens(Box<Tokens>),
    /// The refresh token is not valid any more.
    LoginNeeded,
    /// The authorization server has lost the registration of the program.
    Unregistered,
}

pub(super) struct LoginFault {
    pub(super) reason: String,
    pub(super) is_unregistered: bool,
}

impl<T: Into<String>> From<T> for LoginFault {
    fn from(reason: T) -> Self {
        Self { reason: reason.into(), is_unregistered: false }
    }
}

pub(super) struct AuthorizationServer {
    manager: AuthorizationManager,
    http: LoginHttp,
    issuer: Option<String>,
    token_endpoint: Url,
    reads_client_metadata: bool,
    announces_pkce: bool,
    received: InMemoryCredentialStore,
    resource: Url,
}

impl AuthorizationServer {
    /// Finds the authorization server from a challenge of the MCP server, or from its URL.
    pub(super) async fn discover(login: &Login, url: &str, challenge: Option<&str>) -> Result<Self, String> {
        let mut resource = Url::parse(url).map_err(|error| format!("the URL is invalid: {error}"))?;
        let guarded = GuardedHttp::from_url(resource.as_str());
        if !guarded.permits(resource.as_str()) {
            return Err("a login needs a URL with `https`".to_owned());
        }
        let http = LoginHttp::new(guarded);
        let received = InMemoryCredentialStore::new();
        let mut manager = manager_of(&resource, &http, &received).await?;
        let mut resolved = manager.resolve_metadata_from_challenge(challenge).await;
        let named = http.named_resource();
        let slashed = Url::parse(&format!("{resource}/")).map_err(|error| error.to_string())?;
        if named.as_deref() == Some(slashed.as_str()) {
            // The SDK takes the name with a slash at the end for another resource.
            resource = slashed;
            manager = manager_of(&resource, &http, &received).await?;
            resolved = manager.resolve_metadata_from_challenge(challenge).await;
        }
        let found = match (resolved, named) {
            (Ok(found), _) => found,
            (Err(error), Some(named)) if named != resource.as_str() => {
                let shown = clean(&shorten(named, 256));
                return Err(format!("{}; the metadata of the server are about `{shown}`", failed(error)));
            }
            (Err(error), _) => return Err(failed(error)),
        };
        if !http.http.permits(&found.metadata.authorization_endpoint) {
            return Err("the address of the authorization server is not safe; use `https`".to_owned());
        }
        let issuer = found.metadata.issuer.clone();
        if login.issuer.is_some() && login.issuer != issuer {
            return Err("the server names another authorization server than the login".to_owned());
        }
        let token_endpoint = Url::parse(&found.metadata.token_endpoint).map_err(|error| error.to_string())?;
        let reads_client_metadata =
            found.metadata.additional_fields.get(CLIENT_METADATA) == Some(&true.into());
        let announces_pkce = found.metadata.code_challenge_methods_supported.is_some();
        manager.set_metadata(found.metadata);
        Ok(Self {
            manager,
            http,
            issuer,
            token_endpoint,
            reads_client_metadata,
            announces_pkce,
            received,
            resource,
        })
    }

    pub(super) async fn refresh(mut self, login: &Login, tokens: Tokens) -> Result<Refreshed, String> {
        if self.issuer != tokens.credentials.issuer {
            return Ok(Refreshed::LoginNeeded);
        }
        let Tokens { credentials, scopes, registration } = tokens;
        let secret = match &registration {
            Some(registration) => registration.client_secret.as_ref(),
            None => login.client_secret.as_ref(),
        };
        // The redirect address is not part of this request.
        let client = OAuthClientConfig::new(&credentials.client_id, self.resource.as_str());
        self.manager.configure_client(with_secret(client, secret)).map_err(failed)?;
        self.received.save(credentials).await.map_err(failed)?;
        match self.manager.refresh_token().with_subscriber(NoSubscriber::default()).await {
            Ok(_) => {
                self.tokens(scopes, registration).await.map(|tokens| Refreshed::Tokens(Box::new(tokens)))
            }
            Err(AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_)) => {
                Ok(Refreshed::LoginNeeded)
            }
            Err(_) if registration.is_some() && self.http.refused_program() => Ok(Refreshed::Unregistered),
            Err(error) => Err(failed(error)),
        }
    }

    /// Logs in. Requests the scopes of the challenge or of the program, and `more`.
    pub(super) async fn log_in(
        mut self,
        login: &Login,
        more: &[String],
        known: Option<Registration>,
    ) -> Result<Tokens, LoginFault> {
        let mut scopes = login.scopes.clone();
        if scopes.is_empty() {
            scopes = self.manager.select_initial_scopes(&[]).await;
        }
        for scope in more {
            if !scopes.contains(scope) {
                scopes.push(scope.clone());
            }
        }
        let id = login.client();
        let issuer = self.issuer.as_deref().unwrap_or_default();
        match &login.grant {
            LoginGrant::Code => {
                let authorized = self.authorize(login, &scopes, known).await;
                let is_unregistered = self.http.refused_program();
                let registration = authorized.map_err(|reason| LoginFault { reason, is_unregistered })?;
                return Ok(self.tokens(scopes, registration).await?);
            }
            LoginGrant::Secret => self.exchange_secret(login, &scopes).await?,
            LoginGrant::SignedAssertion(key) => {
                let assertion =
                    key.assertion(id, issuer).ok_or("the request for a token cannot be signed")?;
                let fields = [
                    ("grant_type", "client_credentials"),
                    ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
                    ("client_assertion", &assertion),
                ];
                self.exchange_assertion(id, &fields, &scopes).await?;
            }
            LoginGrant::WorkloadAssertion(source) => {
                let assertion = source().map_err(|error| format!("there is no assertion: {error}"))?;
                let fields = [
                    ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
                    ("assertion", assertion.trim()),
                    ("client_id", id),
                ];
                self.exchange_assertion(id, &fields, &scopes).await?;
            }
        }
        Ok(self.tokens(scopes, None).await?)
    }

    /// Sends the user to the authorization server, and exchanges the code. Returns the registration of a
    /// program that is not registered otherwise.
    async fn authorize(
        &mut self,
        login: &Login,
        scopes: &[String],
        known: Option<Registration>,
    ) -> Result<Option<Registration>, String> {
        if !self.announces_pkce && !login.permits_unannounced_pkce && !self.http.has_metadata() {
            return Err(UNNAMED.to_owned());
        }
        if !self.announces_pkce && !login.permits_unannounced_pkce {
            return Err("the authorization server does not announce PKCE (`code_challenge_methods_supported`), which \
                        protects the login; if it is known to check it, use `Login::with_unannounced_pkce`"
                .to_owned());
        }
        let usable = known.filter(|known| known.permits(self.issuer.as_deref(), scopes));
        let port = usable.as_ref().map_or(login.port, |known| known.port);
        let mut bound = RedirectListener::bind(port).await;
        if bound.is_err() && port != login.port {
            bound = RedirectListener::bind(login.port).await;
        }
        let listener = bound.map_err(|error| format!("port {} is not available: {error}", login.port))?;
        let registered = usable.filter(|known| known.port == listener.port);
        let registration = self.configure(login, &listener, scopes, registered).await?;
        let address = self.manager.get_authorization_url(&texts(scopes)).await.map_err(failed)?;
        let url = Url::parse(&address).map_err(|error| error.to_string())?;
        let state = url.query_pairs().find(|(name, _)| name == "state").map(|(_, state)| state.into_owned());
        (login.prompt)(&address);
        let awaited = timeout(login.timeout, listener.redirect(&state.unwrap_or_default())).await;
        let limit = login.timeout.as_secs_f64();
        let redirect = awaited.map_err(|_| format!("the user did not log in within {limit} s"))??;
        let issuer = redirect.issuer.as_deref();
        self.manager
            .exchange_code_for_token_with_issuer(&redirect.code, &redirect.csrf_token, issuer)
            .with_subscriber(NoSubscriber::default())
            .await
            .map_err(failed)?;
        Ok(registration)
    }

    /// Tells the SDK how the authorization server knows the program. Registers the program if needed.
    async fn configure(
        &mut self,
        login: &Login,
        listener: &RedirectListener,
        scopes: &[String],
        known: Option<Registration>,
    ) -> Result<Option<Registration>, String> {
        let redirect = listener.url();
        let document = login.client_metadata_url.as_ref().filter(|_| self.reads_client_metadata);
        let (client, registration) = match (login.client_id.as_ref().or(document), known) {
            (Some(id), _) => {
                (with_secret(OAuthClientConfig::new(id, redirect), login.client_secret.as_ref()), None)
            }
            (None, Some(known)) => {
                let client = OAuthClientConfig::new(&known.client_id, redirect);
                (with_secret(client, known.client_secret.as_ref()), Some(known))
            }
            (None, None) => {
                let registered = self.manager.register_client(&login.name, &redirect, &texts(scopes)).await;
                let client = registered.map_err(|error| self.explained(error))?;
                let registration = Registration {
                    issuer: self.issuer.clone(),
                    client_id: client.client_id.clone(),
                    client_secret: client.client_secret.clone(),
                    scopes: scopes.to_vec(),
                    port: listener.port,
                };
                (client, Some(registration))
            }
        };
        self.manager.configure_client(client).map_err(failed)?;
        Ok(registration)
    }

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
        let exchanged = exchange.with_subscriber(NoSubscriber::default()).await;
        exchanged.map(drop).map_err(|error| self.explained(error))
    }

    /// Returns the message of an error; the addresses of the authorization server may be guessed.
    fn explained(&self, error: AuthError) -> String {
        if self.http.has_metadata() { failed(error) } else { format!("{UNNAMED} ({})", failed(error)) }
    }

    async fn exchange_assertion(
        &self,
        id: &str,
        fields: &[(&str, &str)],
        scopes: &[String],
    ) -> Result<(), String> {
        let scope = scopes.join(" ");
        let mut form = self.token_endpoint.clone();
        form.query_pairs_mut().clear().extend_pairs(fields).append_pair("resource", self.resource.as_str());
        if !scope.is_empty() {
            form.query_pairs_mut().append_pair("scope", &scope);
        }
        let request = Request::post(self.token_endpoint.as_str())
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form.query().unwrap_or_default().into())
            .map_err(|error| error.to_string())?;
        let response = self.http.send(request).await.map_err(|error| format!("no token: {error}"))?;
        let status = response.status();
        let answer: Value = serde_json::from_slice(response.body()).unwrap_or_default();
        if !status.is_success() {
            let parts = ["error", "error_description"].map(|part| answer[part].as_str().unwrap_or_default());
            let reason = clean(&parts.join(" "));
            return Err(format!(
                "the authorization server refused a token with HTTP {status}: {}",
                reason.trim()
            ));
        }
        let Ok(token) = OAuthTokenResponse::deserialize(answer) else {
            return Err("the authorization server sent no token".to_owned());
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let credentials = StoredCredentials::new(id.to_owned(), Some(token), scopes.to_vec(), Some(now));
        self.received.save(credentials.with_issuer(self.issuer.clone())).await.map_err(failed)
    }

    async fn tokens(self, scopes: Vec<String>, registration: Option<Registration>) -> Result<Tokens, String> {
        let received = self.received.load().await.map_err(failed)?;
        let credentials = received.ok_or("the authorization server sent no token")?;
        Ok(Tokens { credentials, scopes, registration })
    }
}

async fn manager_of(
    resource: &Url,
    http: &LoginHttp,
    received: &InMemoryCredentialStore,
) -> Result<AuthorizationManager, String> {
    let http = Arc::new(http.clone());
    let mut manager =
        AuthorizationManager::new_with_oauth_http_client(resource.clone(), http).await.map_err(failed)?;
    manager.set_credential_store(received.clone());
    Ok(manager)
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

/// The authorization server may have written a part of the message.
fn failed(error: AuthError) -> String {
    clean(&chain(&error))
}
