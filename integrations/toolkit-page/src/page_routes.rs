//! The index of the page, its files, and what it asks first.

use crate::page_answer::{json_answer, refusal, typed};
use crate::page_files::{file, index};
use crate::page_guard::rights_of;
use crate::page_rights::PageRights;
use crate::served_page::Served;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use http::StatusCode;
use http::header::{HeaderValue, SET_COOKIE};
use serde_json::json;
use toolkit_core::registry::RegistrySource;

/// Answers the index, and exchanges a one-time token for a cookie.
pub(crate) async fn root(State(served): State<Served>, request: Request) -> Response {
    let query = request.uri().query().unwrap_or_default();
    let token = query.split('&').find_map(|pair| pair.strip_prefix("token="));
    if served.authorise.is_none()
        && let Some(token) = token
        && let Some(cookie) = served.logins.exchange(token)
        && let Ok(cookie) = HeaderValue::from_str(&cookie)
    {
        let mut response = index(&served.path);
        response.headers_mut().insert(SET_COOKIE, cookie);
        return response;
    }
    if rights_of(&request).is_some() {
        return index(&served.path);
    }
    let text = match token {
        Some(_) => "This address was used already, or is not valid. Ask the program for a new one.\n",
        None => "Open this page with the address that the program prints; it is valid once.\n",
    };
    let mut response = typed("text/plain; charset=utf-8", text);
    *response.status_mut() = StatusCode::UNAUTHORIZED;
    response
}

#[cfg(feature = "agent")]
fn has_runs(served: &Served) -> bool {
    served.inbox.is_some()
}

#[cfg(not(feature = "agent"))]
fn has_runs(_: &Served) -> bool {
    false
}

pub(crate) async fn asset(Path(name): Path<String>) -> Response {
    file(&name).unwrap_or_else(|| refusal(StatusCode::NOT_FOUND, "there is no such file"))
}

/// Tells the rights of the reader, and the token for requests that change something.
pub(crate) async fn session(State(served): State<Served>, request: Request) -> Response {
    let rights = rights_of(&request);
    json_answer(&json!({
        "title": served.title,
        "csrf": served.logins.csrf_token(),
        "may_call": rights.as_ref().is_some_and(PageRights::may_call),
        "may_decide": rights.as_ref().is_some_and(PageRights::may_decide),
        "contents": served.contents,
        "has_runs": has_runs(&served),
        "is_live": matches!(served.dispatcher.source(), RegistrySource::Live(_)),
    }))
}
