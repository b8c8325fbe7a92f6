//! The server as a protected resource of OAuth: its metadata (RFC 9728), checked tokens, and challenges.

use crate::server::http_answers::refusal;
use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, ALLOW, CONTENT_TYPE, HeaderMap, WWW_AUTHENTICATE};
use http::{HeaderValue, Method, Request, Response, StatusCode, Uri};
use serde_json::{Value, json};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use toolkit_http::server::{HttpBody, bearer, checked_path};

/// The path of the metadata, before that of the resource.
pub(crate) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// What a checked access token proves. Tools read it with
/// [`Caller::extension`](crate::server::Caller::extension).
///
/// ```
/// use serde_json::json;
/// use toolkit_ai::mcp::server::VerifiedToken;
///
/// let token = VerifiedToken::from_claims(json!({"sub": "ada", "scope": "notes:read", "tenant": "acme"}));
/// assert_eq!((token.subject.as_str(), token.scope.as_str()), ("ada", "notes:read"));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct VerifiedToken {
    /// The claim `sub`, or else `client_id`.
    pub subject: String,
    /// The claim `scope`: scopes, separated by spaces.
    pub scope: String,
    /// All claims.
    pub claims: Value,
}

impl VerifiedToken {
    /// Creates the result of a check from claims.
    #[must_use]
    pub fn from_claims(claims: Value) -> Self {
        let text = |name: &str| claims.get(name).and_then(Value::as_str).map(str::to_owned);
        let subject = text("sub").or_else(|| text("client_id")).unwrap_or_default();
        Self { subject, scope: text("scope").unwrap_or_default(), claims }
    }

    /// Returns the subject with its issuer: two issuers may give the same name.
    pub(crate) fn identity(&self) -> String {
        format!("{} {}", self.claims["iss"], self.subject)
    }
}

/// The running check of a token; `None` if invalid.
type Check = Pin<Box<dyn Future<Output = Option<VerifiedToken>> + Send>>;

/// The description of a server as a protected resource, for
/// [`McpServer::with_oauth`](crate::server::McpServer::with_oauth).
///
/// ```
/// use serde_json::json;
/// use toolkit_ai::ToolRegistry;
/// use toolkit_ai::mcp::server::McpServer;
/// use toolkit_ai::mcp::server::{VerifiedToken, ProtectedResource};
///
/// let resource = ProtectedResource::new("https://tools.example.com/mcp", ["https://login.example.com"])
///     .with_scopes(["notes:read"]);
/// // A check of your own. `JwtVerifier` checks JSON Web Tokens.
/// let _server = McpServer::new(ToolRegistry::new())?.with_oauth(resource, |token| async move {
///     (token == "valid").then(|| VerifiedToken::from_claims(json!({"sub": "ada", "scope": "notes:read"})))
/// });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct ProtectedResource {
    resource: String,
    authorization_servers: Vec<String>,
    scopes: Vec<String>,
    check: Option<Arc<dyn Fn(String) -> Check + Send + Sync>>,
}

impl ProtectedResource {
    /// Describes the server with its public URL `resource`, such as `https://tools.example.com/mcp`, and the
    /// URLs of the authorization servers whose tokens it accepts.
    pub fn new<T: Into<String>>(
        resource: impl Into<String>,
        authorization_servers: impl IntoIterator<Item = T>,
    ) -> Self {
        let authorization_servers = authorization_servers.into_iter().map(Into::into).collect();
        Self { resource: resource.into(), authorization_servers, scopes: Vec::new(), check: None }
    }

    /// Sets the scopes that clients ask for.
    pub fn with_scopes<T: Into<String>>(mut self, scopes: impl IntoIterator<Item = T>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    pub(crate) fn with_check<F>(mut self, check: impl Fn(String) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Option<VerifiedToken>> + Send + 'static,
    {
        self.check = Some(Arc::new(move |token| Box::pin(check(token))));
        self
    }

    /// Returns the path of the metadata, and the origin before it. A resource whose path cannot be served has
    /// the metadata of the origin.
    fn metadata_path(&self) -> (String, String) {
        let uri: Uri = self.resource.parse().unwrap_or_default();
        let origin = match (uri.scheme_str(), uri.authority()) {
            (Some(scheme), Some(authority)) => format!("{scheme}://{authority}"),
            _ => String::new(),
        };
        let path = checked_path(uri.path()).unwrap_or_default();
        (origin, format!("{WELL_KNOWN}{path}"))
    }

    pub(crate) fn metadata_paths(&self) -> [String; 2] {
        [self.metadata_path().1, WELL_KNOWN.to_owned()]
    }

    /// Returns the metadata if a request is for them. Every page may read them.
    pub(crate) fn metadata<B>(&self, request: &Request<B>) -> Option<Response<HttpBody>> {
        let path = request.uri().path();
        if !path.starts_with(WELL_KNOWN) || self.metadata_paths().iter().all(|known| known != path) {
            return None;
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let mut response = refusal(StatusCode::METHOD_NOT_ALLOWED, "");
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET,HEAD"));
            return Some(response);
        }
        let metadata = json!({
            "resource": self.resource,
            "authorization_servers": self.authorization_servers,
            "scopes_supported": self.scopes,
            "bearer_methods_supported": ["header"],
        });
        let mut response = Response::new(metadata.to_string().into());
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        Some(response)
    }

    /// Checks the token of a request.
    ///
    /// # Errors
    /// The response to a request without a valid token.
    pub(crate) async fn check(&self, headers: &HeaderMap) -> Result<VerifiedToken, Response<HttpBody>> {
        let Some(token) = bearer(headers) else {
            let message = "a bearer token is required";
            return Err(self.challenge(StatusCode::UNAUTHORIZED, message, "", &self.scopes.join(" ")));
        };
        if let Some(check) = &self.check
            && let Some(verified) = check(token.to_owned()).await
        {
            return Ok(verified);
        }
        let message = "the token is not valid";
        Err(self.challenge(StatusCode::UNAUTHORIZED, message, "invalid_token", &self.scopes.join(" ")))
    }

    pub(crate) fn insufficient_scope(&self, scopes: &str) -> Response<HttpBody> {
        let message = format!("the token lacks one of the scopes `{scopes}`");
        self.challenge(StatusCode::FORBIDDEN, message, "insufficient_scope", scopes)
    }

    fn challenge(
        &self,
        status: StatusCode,
        message: impl Into<HttpBody>,
        error: &str,
        scopes: &str,
    ) -> Response<HttpBody> {
        let (origin, path) = self.metadata_path();
        let mut parameters = format!("Bearer resource_metadata=\"{origin}{path}\"");
        for (name, value) in [("scope", scopes), ("error", error)] {
            if !value.is_empty() {
                parameters.push_str(&format!(", {name}=\"{value}\""));
            }
        }
        let challenge = HeaderValue::try_from(parameters).unwrap_or(HeaderValue::from_static("Bearer"));
        let mut response = refusal(status, message);
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        response
    }
}

impl fmt::Debug for ProtectedResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProtectedResource").field("resource", &self.resource).finish_non_exhaustive()
    }
}
