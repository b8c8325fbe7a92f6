//! The routes of the server, behind its guards.

use super::api_call::call;
use super::page::{PAGE_POLICY, page};
use super::problem_details::ProblemDetails;
use super::published::Api;
use axum::Router;
use axum::extract::{Path, Request};
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use std::sync::Arc;

/// The policy of all responses but the page. The output of a tool may be HTML, and must not run in a browser.
const OUTPUT_POLICY: HeaderValue = HeaderValue::from_static("default-src 'none'; sandbox");

/// Returns a router that serves the tools, the document and the page.
pub(super) fn router<S: Clone + Send + Sync + 'static>(api: Arc<Api>) -> Router<S> {
    let path = api.path.clone();
    let of_page = api.clone();
    let of_document = api.clone();
    let of_calls = api.clone();
    let show_page = get(async move || {
        let headers = [
            (CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
            (CONTENT_SECURITY_POLICY, HeaderValue::from_static(PAGE_POLICY)),
        ];
        (headers, page(&of_page.document()))
    });
    let show_document = get(async move || {
        let json = HeaderValue::from_static("application/json");
        ([(CONTENT_TYPE, json)], of_document.document().to_string())
    });
    let run_call = post(async move |Path(name): Path<String>, request: Request| {
        call(&of_calls, &name, request).await.unwrap_or_else(IntoResponse::into_response)
    });
    Router::new()
        .route(&format!("{path}/"), show_page)
        .route(&format!("{path}/openapi.json"), show_document)
        .route(&format!("{path}/tools/{{name}}"), run_call)
        .layer(from_fn(move |request, next| guarded(api.clone(), request, next)))
}

/// Answers a request that the guards accept.
async fn guarded(api: Arc<Api>, request: Request, next: Next) -> Response {
    let answer = api.guards.guard(request, async |parts, body| match api.guards.authorize(&parts.headers) {
        Ok(()) => next.run(Request::from_parts(parts, body)).await,
        Err(refusal) => ProblemDetails::from(refusal).into_response(),
    });
    let mut response = answer.await.unwrap_or_else(|refusal| ProblemDetails::from(refusal).into_response());
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(OUTPUT_POLICY);
    response
}
