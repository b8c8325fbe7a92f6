//! The server as a tower service: the guards, and what each path is answered with.

use super::api_call::call;
use super::page::{PAGE_POLICY, page};
use super::problem_details::ProblemDetails;
use super::published::Api;
use super::responses::typed;
use super::routes::Route;
use http::header::{ALLOW, CONTENT_SECURITY_POLICY, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use http::request::Parts;
use http::{Request, Response, StatusCode};
use http_body::Body;
use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use toolkit_http::server::HttpBody;
use tower_service::Service;

/// The policy of all responses but the page: HTML in a tool's output must not run in a browser.
const OUTPUT_POLICY: HeaderValue = HeaderValue::from_static("default-src 'none'; sandbox");

/// Serves an API as a tower service, for request bodies of any HTTP library.
///
/// Clones share limits.
///
/// ```
/// use toolkit_ai::ToolRegistry;
/// use toolkit_ai::openapi::server::{HttpService, OpenApiServer};
///
/// let service: HttpService = OpenApiServer::new(ToolRegistry::new())?.into_service();
/// # Ok::<(), toolkit_ai::BuildError>(())
/// ```
#[derive(Clone)]
pub struct HttpService {
    api: Arc<Api>,
    /// Whether a router may have removed the server's path from requests.
    may_be_nested: bool,
}

impl HttpService {
    /// Creates a service that answers requests below the server's path only.
    pub(super) fn new(api: Arc<Api>) -> Self {
        Self { api, may_be_nested: false }
    }

    /// Answers requests without the server's path, too.
    pub(super) fn nested(self) -> Self {
        Self { may_be_nested: true, ..self }
    }

    pub(super) async fn handle(self, request: Request<HttpBody>) -> Response<HttpBody> {
        let guarded = self.api.guards.guard(request, async |parts, body| self.answer(parts, body).await);
        let mut response = match guarded.await {
            Ok(response) => response,
            Err(refusal) => ProblemDetails::from(refusal).into_response(),
        };
        let headers = response.headers_mut();
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.entry(CONTENT_SECURITY_POLICY).or_insert(OUTPUT_POLICY);
        response
    }

    async fn answer(&self, parts: Parts, body: HttpBody) -> Response<HttpBody> {
        if let Err(refusal) = self.api.guards.authorize(&parts.headers) {
            return ProblemDetails::from(refusal).into_response();
        }
        let Some(route) = self.route(parts.uri.path()) else {
            let message = "there is nothing at this path; `openapi.json` lists the operations";
            return ProblemDetails::new(StatusCode::NOT_FOUND, message).into_response();
        };
        if !route.accepts(&parts.method) {
            let message = format!("the path has no method `{}`; use {}", parts.method, route.methods());
            let mut response = ProblemDetails::new(StatusCode::METHOD_NOT_ALLOWED, message).into_response();
            response.headers_mut().insert(ALLOW, HeaderValue::from_static(route.methods()));
            return response;
        }
        match route {
            Route::Page => {
                let mut response = typed("text/html; charset=utf-8", page(&self.api.document()));
                let policy = HeaderValue::from_static(PAGE_POLICY);
                response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
                response
            }
            Route::Document => typed("application/json", self.api.document().to_string()),
            Route::Tool(name) => {
                call(&self.api, &name, parts, body).await.unwrap_or_else(ProblemDetails::into_response)
            }
        }
    }

    fn route(&self, path: &str) -> Option<Route> {
        match path.strip_prefix(self.api.path.as_str()).and_then(Route::from_path) {
            None if self.may_be_nested => Route::from_path(path),
            below => below,
        }
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

impl fmt::Debug for HttpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpService").field("title", &self.api.title).finish_non_exhaustive()
    }
}
