//! The server as a tower service: the guards, tokens and identities around the HTTP service of the SDK.

use super::http_batch::{accepts_batches, answer_batch};
use super::sessions::{SessionRequest, Sessions};
use crate::server::auth::VerifiedToken;
use crate::server::client_requests::ClientRequestHandler;
use crate::server::http_answers::{HttpAnswer, event_stream_of, refusal};
use crate::server::request_body::{Received, RequestBody};
use crate::server::server_settings::ServerSettings;

use crate::macros::debug;
use http::header::{HeaderValue, RETRY_AFTER};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body::Body;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::convert::Infallible;
use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::timeout;
use toolkit_http::server::{HttpBody, Refusal};
use tower_service::Service;

/// The time after which the answer of a request without a session becomes an event stream.
const SLOW: Duration = Duration::from_secs(1);

/// A server as a tower service, for requests with bodies of any HTTP library. Clones share sessions and
/// limits.
///
/// It takes requests with any path as its own, except the metadata [of
/// OAuth](crate::server::McpServer::with_oauth).
///
/// ```
/// use toolkit_ai::ToolRegistry;
/// use toolkit_ai::mcp::server::{HttpService, McpServer};
///
/// let service: HttpService = McpServer::new(ToolRegistry::new())?.into_service();
/// # Ok::<(), toolkit_ai::BuildError>(())
/// ```
#[derive(Clone)]
pub struct HttpService {
    /// Shared: it is cloned for each request, and a clone of the SDK's service copies its settings.
    service: Arc<StreamableHttpService<ClientRequestHandler, Sessions>>,
    settings: Arc<ServerSettings>,
}

impl HttpService {
    pub(super) fn new(settings: Arc<ServerSettings>) -> Self {
        let http = &settings.http;
        let config = StreamableHttpServerConfig::default()
            .with_json_response(true)
            .with_max_request_body_bytes(http.guards.max_body)
            .with_cancellation_token(settings.cancellation.clone())
            // The guards check the hosts and the origins.
            .disable_allowed_hosts();
        let of_session = settings.clone();
        let sessions = Arc::new(Sessions::new(http.max_sessions, http.session_idle));
        let service = StreamableHttpService::new(
            move || Ok(ClientRequestHandler::new(of_session.clone())),
            sessions,
            config,
        );
        Self { service: Arc::new(service), settings }
    }

    pub(super) async fn handle(self, request: Request<HttpBody>) -> Response<HttpBody> {
        let settings = self.settings.clone();
        let oauth = settings.http.oauth.as_ref();
        if let Some(metadata) = oauth.and_then(|oauth| oauth.metadata(&request)) {
            return metadata;
        }
        let answer = settings.http.guards.guard(request, |parts, body| self.authorized(parts, body)).await;
        answer.unwrap_or_else(Refusal::into_response)
    }

    /// Answers a request that has the token, also if it is a batch or the answer takes long.
    async fn authorized(self, mut parts: Parts, body: HttpBody) -> Response<HttpBody> {
        let oauth = self.settings.http.oauth.clone();
        let mut granted = None;
        if let Some(oauth) = &oauth {
            let checked: VerifiedToken = match oauth.check(&parts.headers).await {
                Ok(checked) => checked,
                Err(challenge) => return challenge,
            };
            granted = Some(checked.scope.clone());
            parts.extensions.insert(checked);
        } else if let Err(refusal) = self.settings.http.guards.authorize(&parts.headers) {
            return refusal.into_response();
        }
        if parts.method != Method::POST {
            return self.answer(parts, body).await;
        }
        let batch = if accepts_batches(&parts.headers) { Some(parts.clone()) } else { None };
        let method = parts.headers.get("mcp-method");
        let has_no_session = method.is_some_and(|method| method != "initialize");
        let state = RequestBody::default();
        let read_body = state.read_later(body, self.settings.clone(), granted);
        parts.extensions.insert(state.clone());
        let mut answer = self.answer(parts, read_body);
        let response = if has_no_session {
            loop {
                match timeout(SLOW, &mut answer).await {
                    Ok(response) => break response,
                    Err(_) if state.received().is_some() => return event_stream_of(answer),
                    Err(_) => {}
                }
            }
        } else {
            answer.await
        };
        match (state.received(), oauth, batch) {
            (Some(Received::Unauthorized(scopes)), Some(oauth), _) => oauth.insufficient_scope(scopes),
            (Some(Received::Failed(refusal)), ..) => refusal.into_response(),
            (Some(Received::Batch(batch)), _, Some(parts)) => {
                answer_batch(parts, batch, |parts, body| self.answer(parts, body)).await
            }
            _ => response,
        }
    }

    fn answer(&self, parts: Parts, body: HttpBody) -> HttpAnswer {
        let is_end = parts.method == Method::DELETE;
        let session_request =
            SessionRequest::new(self.settings.http.identity.as_ref().and_then(|identity| identity(&parts)));
        let service = self.service.clone();
        let max = self.settings.http.max_sessions;
        // The large future of a request would be moved several times.
        Box::pin(async move {
            let answer = session_request.of(service.handle(Request::from_parts(parts, body))).await;
            match answer {
                Some(response) if is_end => end_of_session(response.map(HttpBody::new)),
                Some(response) => response.map(HttpBody::new),
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
fn end_of_session(response: Response<HttpBody>) -> Response<HttpBody> {
    match response.status() {
        StatusCode::ACCEPTED => refusal(StatusCode::NO_CONTENT, HttpBody::default()),
        StatusCode::INTERNAL_SERVER_ERROR => refusal(StatusCode::NOT_FOUND, "the session is not open"),
        _ => response,
    }
}

impl<B> Service<Request<B>> for HttpService
where
    B: Body + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    type Response = Response<HttpBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<HttpBody>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let service = self.clone();
        let request = request.map(HttpBody::new);
        Box::pin(async move { Ok(service.handle(request).await) })
    }
}

debug!(HttpService, self, "settings": self.settings);
