//! An MCP server with an authorization server on loopback, and a user's browser.

use super::bare::Bare;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use data_encoding::BASE64URL_NOPAD;
use oauth2::url::Url;
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rustls_pki_types::PrivatePkcs8KeyDer;
use rustls_pki_types::pem::PemObject;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

type Parameters = HashMap<String, String>;

#[derive(Default)]
pub(super) struct Known {
    base: String,
    /// Replaces fields in the authorization server's metadata.
    pub(super) metadata: Value,
    /// The resource's path in its metadata, unless `/mcp`.
    pub(super) resource_path: Option<String>,
    /// Replaces parameters of the redirect.
    pub(super) redirect: Parameters,
    pub(super) calls_need_scope: bool,
    /// The lifetime of tokens in seconds.
    pub(super) lifetime: u64,
    /// The registered programs, and requests for authorization and tokens.
    pub(super) registered: Vec<Value>,
    /// The number of programs to forget.
    pub(super) forgotten: usize,
    /// The number of programs that the token endpoint has lost.
    pub(super) lost: usize,
    /// Replaces fields in answers with tokens.
    pub(super) token_fields: Value,
    /// The refusal of requests for tokens.
    pub(super) refusal: Option<(u16, String)>,
    pub(super) authorized: Vec<Parameters>,
    pub(super) exchanged: Vec<Parameters>,
    /// Valid codes and tokens, each with its scopes.
    codes: HashMap<String, Parameters>,
    refreshable: HashMap<String, String>,
    pub(super) tokens: HashMap<String, String>,
}

pub(super) struct Secured {
    pub(super) url: String,
    pub(super) known: Arc<Mutex<Known>>,
    task: JoinHandle<()>,
}

impl Drop for Secured {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Secured {
    pub(super) async fn serve() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let url = format!("{base}/mcp");
        let known =
            Known { base, metadata: json!({}), token_fields: json!({}), lifetime: 3_600, ..Known::default() };
        let known = Arc::new(Mutex::new(known));
        let server = Bare::new();
        let service = StreamableHttpService::new(
            move || Ok(server.clone()),
            Arc::new(LocalSessionManager::default()),
            StreamableHttpServerConfig::default(),
        );
        let gate = middleware::from_fn_with_state(known.clone(), gate);
        let router = axum::Router::new().nest_service("/mcp", service).layer(gate);
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, known, task }
    }

    pub(super) fn issuer(&self) -> String {
        self.known.lock().unwrap().base.clone()
    }

    /// Makes all tokens invalid, except refresh tokens.
    pub(super) fn revoke(&self) {
        self.known.lock().unwrap().tokens.clear();
    }

    pub(super) fn exchanges(&self, grant: &str) -> usize {
        let known = self.known.lock().unwrap();
        known.exchanged.iter().filter(|request| request["grant_type"] == grant).count()
    }
}

/// Follows redirects like a browser.
pub(super) fn browse(address: &str) {
    let mut next = Some(address.to_owned());
    tokio::spawn(async move {
        while let Some(address) = next {
            next = get(&address).await;
        }
    });
}

/// Requests a page, and returns its redirect.
pub(super) async fn get(address: &str) -> Option<String> {
    let (host, path) = address.strip_prefix("http://")?.split_once('/')?;
    let mut stream = TcpStream::connect(host).await.ok()?;
    let request = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut response = String::new();
    stream.read_to_string(&mut response).await.ok()?;
    let location = response.lines().find_map(|line| line.strip_prefix("location: "));
    location.map(str::to_owned)
}

async fn gate(State(known): State<Arc<Mutex<Known>>>, request: Request, next: Next) -> Response {
    if request.uri().path() == "/mcp" {
        let token = request.headers().get("authorization").and_then(|value| value.to_str().ok());
        let token = token.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
        let is_call = request.headers().get("mcp-method").is_some_and(|method| method == "tools/call");
        let refusal = known.lock().unwrap().refusal(token, is_call);
        return match refusal {
            Some(refusal) => refusal,
            None => next.run(request).await,
        };
    }
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, 1 << 20).await.unwrap();
    let mut known = known.lock().unwrap();
    match parts.uri.path() {
        "/.well-known/oauth-protected-resource/login" => known.resource(),
        "/.well-known/oauth-authorization-server" => known.metadata(),
        "/register" => known.register(&body),
        "/authorize" => known.authorize(parameters(parts.uri.query().unwrap_or_default())),
        "/token" => known.token(parameters(std::str::from_utf8(&body).unwrap())),
        "/moved" => (StatusCode::TEMPORARY_REDIRECT, [("location", "/token")]).into_response(),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

fn parameters(query: &str) -> Parameters {
    Url::parse(&format!("http://a/?{query}")).unwrap().query_pairs().into_owned().collect()
}

fn json_body(value: &Value) -> Response {
    ([("content-type", "application/json")], Body::from(value.to_string())).into_response()
}

impl Known {
    fn refusal(&self, token: &str, is_call: bool) -> Option<Response> {
        let base = &self.base;
        let metadata =
            format!("Bearer resource_metadata=\"{base}/.well-known/oauth-protected-resource/login\"");
        let (status, more) = match self.tokens.get(token) {
            None => (StatusCode::UNAUTHORIZED, "scope=\"list\""),
            Some(scopes) if is_call && self.calls_need_scope && !scopes.contains("call") => {
                (StatusCode::FORBIDDEN, "error=\"insufficient_scope\", scope=\"call\"")
            }
            Some(_) => return None,
        };
        Some((status, [("www-authenticate", format!("{metadata}, {more}"))]).into_response())
    }

    fn resource(&self) -> Response {
        let base = &self.base;
        let resource = format!("{base}{}", self.resource_path.as_deref().unwrap_or("/mcp"));
        json_body(&json!({"resource": resource, "authorization_servers": [base]}))
    }

    fn metadata(&self) -> Response {
        let base = &self.base;
        let mut metadata = json!({
            "issuer": base,
            "authorization_endpoint": format!("{base}/authorize"),
            "token_endpoint": format!("{base}/token"),
            "registration_endpoint": format!("{base}/register"),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        });
        for (name, value) in self.metadata.as_object().unwrap() {
            metadata[name] = value.clone();
        }
        json_body(&metadata)
    }

    fn register(&mut self, body: &[u8]) -> Response {
        let mut client: Value = serde_json::from_slice(body).unwrap();
        self.registered.push(client.clone());
        client["client_id"] = json!(format!("client-{}", self.registered.len()));
        json_body(&client)
    }

    /// Makes all tokens invalid, also refresh tokens.
    pub(super) fn forget_logins(&mut self) {
        self.tokens.clear();
        self.refreshable.clear();
    }

    fn authorize(&mut self, request: Parameters) -> Response {
        let forgotten = (1..=self.forgotten).map(|number| format!("client-{number}"));
        if forgotten.into_iter().any(|client| client == request["client_id"]) {
            return (StatusCode::BAD_REQUEST, "unknown client").into_response();
        }
        let code = format!("s3cret-code-{}", self.authorized.len());
        let mut redirect = Parameters::from([
            ("code".to_owned(), code.clone()),
            ("state".to_owned(), request["state"].clone()),
            ("iss".to_owned(), self.base.clone()),
        ]);
        redirect.extend(self.redirect.clone());
        let mut location = Url::parse(&request["redirect_uri"]).unwrap();
        location.query_pairs_mut().extend_pairs(redirect);
        self.codes.insert(code, request.clone());
        self.authorized.push(request);
        (StatusCode::FOUND, [("location", location.to_string())]).into_response()
    }

    /// Returns whether the request has a signature with the tests' key.
    fn has_assertion(&self, request: &Parameters) -> bool {
        let key = PrivatePkcs8KeyDer::from_pem_slice(include_bytes!("../rsa_key.pem")).unwrap();
        let pair = RsaKeyPair::from_pkcs8(key.secret_pkcs8_der()).unwrap();
        let (signed, signature) = request["client_assertion"].rsplit_once('.').unwrap();
        let (_, claims) = signed.split_once('.').unwrap();
        let [claims, signature] =
            [claims, signature].map(|part| BASE64URL_NOPAD.decode(part.as_bytes()).unwrap());
        let claims: Value = serde_json::from_slice(&claims).unwrap();
        let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public());
        key.verify(signed.as_bytes(), &signature).is_ok()
            && request["client_assertion_type"].ends_with("jwt-bearer")
            && claims["iss"] == "robot"
            && claims["sub"] == "robot"
            && claims["aud"] == self.base
    }

    fn token(&mut self, request: Parameters) -> Response {
        self.exchanged.push(request.clone());
        if let Some((status, body)) = &self.refusal {
            let body = body.replace("CODE", request.get("code").map_or("", String::as_str));
            let status = StatusCode::from_u16(*status).unwrap();
            return (status, [("content-type", "application/json")], body).into_response();
        }
        let lost = (1..=self.lost).map(|number| format!("client-{number}"));
        let is_unknown_token =
            request.get("refresh_token").is_some_and(|token| !self.refreshable.contains_key(token));
        if !is_unknown_token && lost.into_iter().any(|client| request.get("client_id") == Some(&client)) {
            let refusal =
                json_body(&json!({"error": "invalid_client", "error_description": "no such client"}));
            return (StatusCode::UNAUTHORIZED, refusal).into_response();
        }
        let scope = match request["grant_type"].as_str() {
            "authorization_code" => self.codes.remove(&request["code"]).filter(|known| {
                let hash = hmac_sha256::Hash::hash(request["code_verifier"].as_bytes());
                known["code_challenge"] == BASE64URL_NOPAD.encode(&hash)
                    && known["resource"] == request["resource"]
                    && known["redirect_uri"] == request["redirect_uri"]
                    && known["client_id"] == request["client_id"]
            }),
            "refresh_token" => self
                .refreshable
                .remove(&request["refresh_token"])
                .map(|scope| Parameters::from([("scope".to_owned(), scope)])),
            "client_credentials" => {
                let has_secret = request.get("client_secret").is_some_and(|secret| secret == "s3cret-client");
                (has_secret || self.has_assertion(&request)).then(|| request.clone())
            }
            "urn:ietf:params:oauth:grant-type:jwt-bearer" => (request["assertion"] == "s3cret-workload"
                && request["client_id"] == "robot")
                .then(|| request.clone()),
            _ => None,
        };
        let Some(scope) = scope.map(|known| known.get("scope").cloned().unwrap_or_default()) else {
            let refusal = json_body(&json!({"error": "invalid_grant"}));
            return (StatusCode::BAD_REQUEST, refusal).into_response();
        };
        let number = self.exchanged.len();
        self.tokens.insert(format!("s3cret-token-{number}"), scope.clone());
        let mut response = json!({
            "access_token": format!("s3cret-token-{number}"),
            "token_type": "Bearer",
            "expires_in": self.lifetime,
        });
        if matches!(request["grant_type"].as_str(), "authorization_code" | "refresh_token") {
            self.refreshable.insert(format!("s3cret-refresh-{number}"), scope);
            response["refresh_token"] = json!(format!("s3cret-refresh-{number}"));
        }
        for (name, value) in self.token_fields.as_object().unwrap() {
            response[name] = value.clone();
        }
        json_body(&response)
    }
}
