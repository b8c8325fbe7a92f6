//! The server as a tower service: the bearer token and the size of requests. The HTTP service of the SDK does the rest.

use super::client_lines::RawArguments;
use super::client_requests::ClientRequestHandler;
use super::server_settings::ServerSettings;
use super::sessions::{Sessions, unless_refused};
use crate::macros::debug;
use axum::body::{Body, to_bytes};
use axum::http::header::{AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{Method, Request, Response, StatusCode};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
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

    fn is_authorized(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.settings.http.token else { return true };
        let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| value.split_once(' '));
        given.is_some_and(|(scheme, given)| {
            // Digests are compared, so that the time of the comparison reveals nothing about the token.
            let is_equal = digest(given.trim()) == digest(token);
            scheme.eq_ignore_ascii_case("bearer") && !token.is_empty() && is_equal
        })
    }

    async fn handle(self, request: Request<Body>) -> Response<Body> {
        if !self.is_authorized(request.headers()) {
            let mut response = refusal(StatusCode::UNAUTHORIZED, "a bearer token is required");
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return response;
        }
        let (mut parts, body) = request.into_parts();
        let body = if parts.method == Method::POST {
            let Ok(bytes) = to_bytes(body, self.settings.http.max_body).await else {
                return refusal(StatusCode::PAYLOAD_TOO_LARGE, "the request is too large");
            };
            if let Some(arguments) = RawArguments::of(&bytes) {
                parts.extensions.insert(arguments);
            }
            Body::from(bytes)
        } else {
            body
        };
        // Boxed, because the future of a request is large and would be moved several times.
        let response = Box::pin(self.service.handle(Request::from_parts(parts, body)));
        match unless_refused(response).await {
            Some(response) => response.map(Body::new),
            None => {
                let max = self.settings.http.max_sessions;
                let message = format!(
                    "the server has {max} open sessions, the maximum; end a session, or try again later"
                );
                let mut response = refusal(StatusCode::SERVICE_UNAVAILABLE, message);
                response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("10"));
                response
            }
        }
    }
}

/// Returns a response with a failure status and a message.
fn refusal(status: StatusCode, message: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(message.into());
    *response.status_mut() = status;
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
