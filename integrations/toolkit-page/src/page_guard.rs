//! What a request must pass before the page answers it.

use crate::page_answer::{Refused, protect, refusal};
use crate::page_rights::PageRights;
use crate::served_page::Served;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::{HOST, HeaderMap, ORIGIN};
use http::uri::Authority;
use http::{Method, StatusCode, Uri};
use toolkit_http::server::HttpBody;

/// The header in which requests that change something repeat the token of the page.
const CSRF_HEADER: &str = "x-toolkit-csrf";

/// Checks host, origin and rights, and passes the request on with its [`PageRights`].
pub(crate) async fn guard(State(served): State<Served>, mut request: Request, next: Next) -> Response {
    let mut response = match foreign(&request) {
        Some(refused) => refused,
        None => {
            // The page's own origin is accepted; the guards would accept those of other local programs, too.
            request.headers_mut().remove(ORIGIN);
            let boxed = request.map(HttpBody::new);
            let guarded = served.guards.guard(boxed, async |parts, body| {
                let request = Request::from_parts(parts, Body::new(body));
                pass_on(&served, request, next).await.map(HttpBody::new)
            });
            match guarded.await {
                Ok(response) => response.map(Body::new),
                Err(refused) => refused.into_response().map(Body::new),
            }
        }
    };
    protect(response.headers_mut());
    response
}

async fn pass_on(served: &Served, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let rights = match &served.authorise {
        Some(authorise) => authorise(&parts),
        None => served.logins.admits(&parts.headers).then(|| served.rights.clone()),
    };
    if parts.method == Method::POST {
        let given = parts.headers.get(CSRF_HEADER).and_then(|value| value.to_str().ok());
        if !given.is_some_and(|given| served.logins.is_csrf_token(given)) {
            return refusal(
                StatusCode::FORBIDDEN,
                "the request does not come from this page; reload the page",
            );
        }
    }
    if let Some(rights) = rights {
        parts.extensions.insert(rights);
    } else if !is_open(parts.uri.path(), &served.path) {
        return refusal(StatusCode::UNAUTHORIZED, "open the page with a new address from the program");
    }
    next.run(Request::from_parts(parts, body)).await
}

/// Returns whether a path is answered without rights: the index, which checks its token, and its files.
fn is_open(path: &str, root: &str) -> bool {
    !path.strip_prefix(root).unwrap_or(path).starts_with("/api/")
}

/// Returns the refusal of a request that another page has made.
fn foreign(request: &Request) -> Option<Response> {
    let headers = request.headers();
    let is_foreign = match headers.get(ORIGIN).map(|origin| origin.to_str()) {
        None => false,
        Some(Ok(origin)) => !is_own(origin, headers, request.uri()),
        Some(Err(_)) => true,
    };
    // A link elsewhere may lead to the index, but to nothing else.
    let site = headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
    let is_link = headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
    let is_from_elsewhere = !matches!(site, None | Some("same-origin" | "none"));
    let may_link = is_link && request.method() == Method::GET && !request.uri().path().contains("/api/");
    if is_foreign || is_from_elsewhere && !may_link {
        return Some(refusal(StatusCode::FORBIDDEN, "the request comes from another page"));
    }
    None
}

fn is_own(origin: &str, headers: &HeaderMap, uri: &Uri) -> bool {
    let host =
        headers.get(HOST).and_then(|host| host.to_str().ok()).or(uri.authority().map(Authority::as_str));
    let site = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    matches!((site, host), (Some(site), Some(host)) if site.eq_ignore_ascii_case(host))
}

/// Returns the refusal of a reader without a right.
pub(crate) fn may(has_right: bool, what: &str) -> Result<(), Refused> {
    if has_right { Ok(()) } else { Err(Refused(StatusCode::FORBIDDEN, format!("you may not {what}"))) }
}

/// Returns the rights of a request that the guard has admitted.
pub(crate) fn rights_of(request: &Request) -> Option<PageRights> {
    request.extensions().get().cloned()
}
