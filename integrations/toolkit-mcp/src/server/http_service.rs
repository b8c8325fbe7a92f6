//! The server as a tower service: identity, time and size of requests, and pages of browsers. The HTTP service of the SDK
//! does the rest.

use super::client_requests::ClientRequestHandler;
use super::http_answers::{HttpAnswer, event_stream_of, refusal};
use super::http_batch::{accepts_batches, answer_batch};
use super::protected_resource::{AccessToken, bearer};
use super::request_body::{RequestBody, missing_scopes};
use super::server_settings::ServerSettings;
use super::sessions::{Sessions, Visit};

use crate::macros::debug;
use axum::body::Body;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, HOST, HeaderMap,
    HeaderValue, ORIGIN, RETRY_AFTER, VARY, WWW_AUTHENTICATE,
};
use axum::http::request::Parts;
use axum::http::{Method, Request, Response, StatusCode};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::timeout;
use tower_service::Service;

/// The origins of pages that a browser has loaded from this machine.
const LOOPBACK_ORIGINS: [&str; 6] = [
    "http://localhost:*",
    "http://127.0.0.1:*",
    "http://[::1]:*",
    "https://localhost:*",
    "https://127.0.0.1:*",
    "https://[::1]:*",
];

/// The time after which the answer of a request without a session becomes an event stream.
const SLOW: Duration = Duration::from_secs(1);

/// A server as a tower service. Clones share sessions and limits.
#[derive(Clone)]
pub struct HttpService {
    /// Shared, because axum clones a service for each request, and a clone of the SDK's service copies its
    /// settings.
    service: Arc<StreamableHttpService<ClientRequestHandler, Sessions>>,
    settings: Arc<ServerSettings>,
}

impl HttpService {
    pub(super) fn new(settings: Arc<ServerSettings>) -> Self {
        let http = &settings.http;
        let mut config = StreamableHttpServerConfig::default()
            .with_json_response(true)
            .with_max_request_body_bytes(http.max_body)
            .with_cancellation_token(settings.cancellation.clone())
            .enforce_origin_validation();
        config = match &http.origins {
            Some(origins) => config.with_allowed_origins(origins),
            None => config.with_allowed_origins(LOOPBACK_ORIGINS),
        };
        if let Some(hosts) = &http.hosts {
            config = config.with_allowed_hosts(hosts);
        }
        let of_session = settings.clone();
        let handler = move || Ok(ClientRequestHandler::new(of_session.clone()));
        let sessions = Arc::new(Sessions::new(http.max_sessions, http.session_idle));
        let service = Arc::new(StreamableHttpService::new(handler, sessions, config));
        Self { service, settings }
    }

    /// Answers a request. A page of an allowed origin may read the answer.
    async fn handle(self, request: Request<Body>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        if parts.headers.get_all(HOST).iter().nth(1).is_some() {
            return refusal(StatusCode::BAD_REQUEST, "the request has two `Host` headers");
        }
        let Some(origin) = parts.headers.get(ORIGIN).cloned() else {
            return self.authorized(parts, body).await;
        };
        if let Some(refusal) = self.foreign(&parts).await {
            return refusal;
        }
        let mut response = if parts.method == Method::OPTIONS {
            preflight(&parts.headers)
        } else {
            self.authorized(parts, body).await
        };
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(
            ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("mcp-session-id, www-authenticate"),
        );
        headers.append(VARY, HeaderValue::from_static("origin"));
        response
    }

    /// Returns the refusal of a request to a host or from an origin that is not allowed.
    async fn foreign(&self, parts: &Parts) -> Option<Response<Body>> {
        // The SDK first checks these headers, and then refuses the method.
        let mut question = Request::new(Body::empty());
        *question.method_mut() = Method::OPTIONS;
        *question.uri_mut() = parts.uri.clone();
        *question.headers_mut() = parts.headers.clone();
        let response = self.service.handle(question).await;
        (response.status() != StatusCode::METHOD_NOT_ALLOWED).then(|| response.map(Body::new))
    }

    /// Answers a request that has the token, also if it is a batch or the answer takes long.
    async fn authorized(self, mut parts: Parts, body: Body) -> Response<Body> {
        let oauth = self.settings.http.oauth.clone();
        let mut token = None;
        if let Some(oauth) = &oauth {
            let checked: AccessToken = match oauth.check(&parts.headers).await {
                Ok(checked) => checked,
                Err(challenge) => return challenge,
            };
            parts.extensions.insert(checked.clone());
            token = Some(checked);
        } else if !self.is_authorized(&parts.headers) {
            let mut response = refusal(StatusCode::UNAUTHORIZED, "a bearer token is required");
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return response;
        }
        if parts.method != Method::POST {
            return self.answer(parts, body).await;
        }
        let batch = accepts_batches(&parts.headers).then(|| parts.clone());
        let method = parts.headers.get("mcp-method");
        let has_no_session = method.is_some_and(|method| method != "initialize");
        let state = RequestBody::default();
        let settings = self.settings.clone();
        let missing = move |body: &[u8]| missing_scopes(&settings, &token?.scope, body);
        let http = &self.settings.http;
        let body = state.read_later(body, http.max_body, http.read_timeout, missing);
        parts.extensions.insert(state.clone());
        let mut answer = self.answer(parts, body);
        let response = if has_no_session {
            loop {
                match timeout(SLOW, &mut answer).await {
                    Ok(response) => break response,
                    Err(_) if state.is_read() => return event_stream_of(answer),
                    Err(_) => {}
                }
            }
        } else {
            answer.await
        };
        if let (Some(oauth), Some(scopes)) = (oauth, state.missing_scopes()) {
            return oauth.insufficient_scope(scopes);
        }
        match (state.failure(), batch, state.batch()) {
            (Some((status, message)), ..) => refusal(status, message),
            (None, Some(parts), Some(batch)) => {
                answer_batch(parts, batch, |parts, body| self.answer(parts, body)).await
            }
            _ => response,
        }
    }

    fn is_authorized(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.settings.http.token else { return true };
        // Digests are compared, so that the time of the comparison reveals nothing about the token.
        !token.is_empty() && bearer(headers).is_some_and(|given| digest(given) == digest(token))
    }

    /// Answers a request with the service of the SDK, in the sessions of its identity.
    fn answer(&self, parts: Parts, body: Body) -> HttpAnswer {
        let is_end = parts.method == Method::DELETE;
        let visit = Visit::new(self.settings.http.identity.as_ref().and_then(|identity| identity(&parts)));
        let service = self.service.clone();
        let max = self.settings.http.max_sessions;
        // Boxed, because the future of a request is large and would be moved several times.
        Box::pin(async move {
            let answer = visit.of(service.handle(Request::from_parts(parts, body))).await;
            match answer {
                Some(response) if is_end => end_of_session(response.map(Body::new)),
                Some(response) => response.map(Body::new),
                None => {
                    let message = format!(
                        "the server has {max} open sessions, the maximum; end a session, or try again later"
                    );
                    let mut response = refusal(StatusCode::SERVICE_UNAVAILABLE, message);
                    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("10"));
                    response
                }
            }
        })
    }
}

/// Returns the response to the end of a session in the form that clients expect.
fn end_of_session(response: Response<Body>) -> Response<Body> {
    match response.status() {
        StatusCode::ACCEPTED => refusal(StatusCode::NO_CONTENT, Body::empty()),
        StatusCode::INTERNAL_SERVER_ERROR => refusal(StatusCode::NOT_FOUND, "the session is not open"),
        _ => response,
    }
}

/// Returns the answer to the question of a browser whether a page may send a request with these headers.
fn preflight(headers: &HeaderMap) -> Response<Body> {
    let mut response = refusal(StatusCode::NO_CONTENT, Body::empty());
    let allowed = response.headers_mut();
    allowed.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
    allowed.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("7200"));
    if let Some(names) = headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        allowed.insert(ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    response
}

fn digest(token: &str) -> [u8; 32] {
    hmac_sha256::Hash::hash(token.as_bytes())
}

impl Service<Request<Body>> for HttpService {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.handle(request).await) })
    }
}

debug!(HttpService, self, "settings": self.settings);
