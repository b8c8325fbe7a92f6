//! Access tokens that are JSON Web Tokens (RFC 7519), verified with the keys of their issuer.

use super::jwt_signature::{JwtKey, SignedJwt};
use super::protected_resource::VerifiedToken;
use crate::guarded_http::GuardedHttp;
use crate::macros::debug;
use crate::mcp_error::{McpError, McpErrorKind};
use http::Request;
use serde_json::Value;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;
use toolkit_core::__private::lock;

/// The permitted difference between the clocks, in seconds.
const LEEWAY: f64 = 30.0;

/// The time after which keys are read again.
const KEYS_AGE: Duration = Duration::from_secs(3_600);

/// The minimum time between two attempts, so that forged tokens cannot flood the issuer.
const PAUSE: Duration = Duration::from_secs(10);

/// A check of access tokens that are JSON Web Tokens, for
/// [`McpServer::with_oauth`](crate::server::McpServer::with_oauth).
///
/// The verifier finds the keys of the issuer from its metadata (RFC 8414 or OpenID Connect). It reads them
/// again after an hour, or when a token names an unknown key, at most every ten seconds. If keys cannot be
/// read, the last ones stay valid. A valid token
///
/// - has a signature of the issuer with RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384 or EdDSA
///   (Ed25519),
/// - names this issuer (`iss`) and this audience (`aud`), and
/// - is not expired (`exp` is required) and already valid (`nbf`). Clocks may differ by 30 seconds.
///
/// Refused tokens and missing keys are logged with `tracing`, without the tokens.
///
/// ```
/// use toolkit_ai::ToolRegistry;
/// use toolkit_ai::mcp::server::McpServer;
/// use toolkit_ai::mcp::server::{JwtVerifier, ProtectedResource};
///
/// let url = "https://tools.example.com/mcp";
/// let issuer = "https://login.example.com";
/// let tokens = JwtVerifier::new(issuer, url)?;
/// let server = McpServer::new(ToolRegistry::new())?
///     .with_allowed_hosts(["tools.example.com"])
///     .with_oauth(ProtectedResource::new(url, [issuer]), move |token| tokens.verify(token));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct JwtVerifier(Arc<Issuer>);

struct Issuer {
    http: GuardedHttp,
    /// The exact text of the claim `iss`.
    name: String,
    audience: String,
    keys: Mutex<Keys>,
    /// The end of the last attempt to read keys. Held during an attempt.
    attempt: tokio::sync::Mutex<Option<Instant>>,
}

#[derive(Default)]
struct Keys {
    list: Vec<JwtKey>,
    read: Option<Instant>,
}

impl JwtVerifier {
    /// Creates a verifier for the tokens of `issuer`, written as in the tokens, for `audience`, the public
    /// URL of the server (RFC 8707).
    ///
    /// # Errors
    /// The issuer is not a URL with `https`, and not on this machine.
    pub fn new(issuer: impl Into<String>, audience: impl Into<String>) -> Result<Self, McpError> {
        let name = issuer.into();
        let http = GuardedHttp::from_url(&name);
        if !http.permits(&name) {
            let message = format!("the issuer `{name}` is not a URL with `https`");
            return Err(McpError::new(McpErrorKind::Config, message));
        }
        let audience = audience.into();
        Ok(Self(Arc::new(Issuer {
            http,
            name,
            audience,
            keys: Mutex::default(),
            attempt: Default::default(),
        })))
    }

    /// Verifies a token. Returns `None` if it is not valid.
    pub fn verify(&self, token: String) -> impl Future<Output = Option<VerifiedToken>> + Send + use<> {
        let issuer = self.0.clone();
        async move {
            let claims = issuer.claims(&token).await;
            if let Err(reason) = &claims {
                tracing::debug!("an access token was refused: {reason}");
            }
            claims.ok().map(VerifiedToken::from_claims)
        }
    }
}

debug!(JwtVerifier, self, "issuer": self.0.name, "audience": self.0.audience);

impl Issuer {
    async fn claims(&self, token: &str) -> Result<Value, &'static str> {
        let jwt = SignedJwt::parse(token).ok_or("it is no JSON Web Token")?;
        if !lock(&self.keys).serve(&jwt) {
            self.read_keys().await;
        }
        if !lock(&self.keys).list.iter().any(|key| key.verifies(&jwt)) {
            return Err("no key of the issuer verifies its signature");
        }
        let claims = jwt.claims().ok_or("its claims are not readable")?;
        let is_own = match &claims["aud"] {
            Value::Array(list) => list.iter().any(|audience| *audience == self.audience),
            audience => *audience == self.audience,
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let is_early = match claims.get("nbf") {
            Some(start) => start.as_f64().is_none_or(|start| start > now + LEEWAY),
            None => false,
        };
        if claims["iss"] != self.name {
            Err("another issuer signed it")
        } else if !is_own {
            Err("it is made for another audience")
        } else if claims["exp"].as_f64().is_none_or(|end| end + LEEWAY <= now) {
            Err("it is expired")
        } else if is_early {
            Err("it is not valid yet")
        } else {
            Ok(claims)
        }
    }

    /// Reads the keys, unless this was just tried.
    async fn read_keys(&self) {
        let mut attempt = self.attempt.lock().await;
        if attempt.is_some_and(|last| last.elapsed() < PAUSE) {
            return;
        }
        match self.published_keys().await {
            Ok(list) => *lock(&self.keys) = Keys { list, read: Some(Instant::now()) },
            Err(reason) => tracing::warn!("the keys of `{}` cannot be read: {reason}", self.name),
        }
        *attempt = Some(Instant::now());
    }

    async fn published_keys(&self) -> Result<Vec<JwtKey>, String> {
        let base = self.name.trim_end_matches('/');
        let host = base.find("://").map_or(0, |at| at + 3);
        let (origin, path) = base.split_at(base[host..].find('/').map_or(base.len(), |at| host + at));
        let metadata = match self.get(&format!("{origin}/.well-known/oauth-authorization-server{path}")).await
        {
            Ok(metadata) => metadata,
            Err(_) => self.get(&format!("{base}/.well-known/openid-configuration")).await?,
        };
        if metadata["issuer"] != self.name {
            return Err("its metadata names another issuer".to_owned());
        }
        let url = metadata["jwks_uri"].as_str().ok_or("its metadata names no keys")?;
        let published = self.get(url).await?;
        let keys = published["keys"].as_array().ok_or("it published no list of keys")?;
        Ok(keys.iter().filter_map(JwtKey::parse).collect())
    }

    async fn get(&self, url: &str) -> Result<Value, String> {
        let request = Request::get(url).body(Vec::new()).map_err(|error| error.to_string())?;
        let response = self.http.send(request).await.map_err(|error| error.to_string())?;
        if !response.status().is_success() {
            return Err(format!("it answered with HTTP {}", response.status()));
        }
        serde_json::from_slice(response.body()).map_err(|error| error.to_string())
    }
}

impl Keys {
    /// Returns whether the keys are fresh, and one of them may have signed the token.
    fn serve(&self, jwt: &SignedJwt<'_>) -> bool {
        self.read.is_some_and(|read| read.elapsed() < KEYS_AGE)
            && self.list.iter().any(|key| key.may_sign(jwt))
    }
}
