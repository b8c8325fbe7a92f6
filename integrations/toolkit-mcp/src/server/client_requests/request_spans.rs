//! The spans of the requests of clients.

use crate::request_span::{NetworkPath, RequestFacts, RequestSpan, RequestTarget};
use rmcp::RoleServer;
use rmcp::model::{CallToolResponse, ErrorData};
use rmcp::service::RequestContext;

pub(crate) fn open(
    method: &str,
    target: RequestTarget<'_>,
    context: &RequestContext<RoleServer>,
) -> RequestSpan {
    let is_http = is_http(context);
    let path = NetworkPath { transport: if is_http { Some("tcp") } else { None }, server: None };
    let span = RequestSpan::open(|| RequestFacts {
        is_client: false,
        method,
        target,
        protocol: context.protocol_version().map(|version| version.to_string()),
        session: session(context),
        path: &path,
        parent: context.meta.get_traceparent(),
    });
    span.set_id(&context.id);
    span
}

pub(crate) async fn answered<T>(
    span: RequestSpan,
    work: impl Future<Output = Result<T, ErrorData>>,
    is_failed: impl FnOnce(&T) -> bool,
) -> Result<T, ErrorData> {
    let answer = span.around(work).await;
    match &answer {
        Ok(answer) if is_failed(answer) => span.end(Some("tool_error")),
        Ok(_) => span.end(None),
        Err(error) => {
            span.set_code(error.code.0);
            span.end(Some("_OTHER"));
        }
    }
    answer
}

pub(super) fn is_tool_error(response: &CallToolResponse) -> bool {
    matches!(response, CallToolResponse::Complete(result) if result.is_error == Some(true))
}

#[cfg(feature = "server-http")]
fn is_http(context: &RequestContext<RoleServer>) -> bool {
    context.extensions.get::<http::request::Parts>().is_some()
}

#[cfg(not(feature = "server-http"))]
fn is_http(_: &RequestContext<RoleServer>) -> bool {
    false
}

#[cfg(feature = "server-http")]
fn session(context: &RequestContext<RoleServer>) -> Option<&str> {
    let parts = context.extensions.get::<http::request::Parts>()?;
    parts.headers.get("mcp-session-id")?.to_str().ok()
}

#[cfg(not(feature = "server-http"))]
fn session(_: &RequestContext<RoleServer>) -> Option<&str> {
    None
}
