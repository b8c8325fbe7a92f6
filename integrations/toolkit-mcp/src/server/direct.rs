//! Direct answers to HTTP calls in their usual form, without the slower HTTP service of the SDK.
//!
//! The SDK tries every kind of message in turn, and writes a message as JSON again to compare it with the
//! headers. Both steps can be avoided for a call in its usual form, in a session and without sessions. Any
//! other request, including every request that must be refused, is left to the SDK.

use super::events::event_stream;
use super::handler::Handler;
use super::lines::CallLine;
use super::sessions::Sessions;
use super::settings::Settings;
use axum::body::Body;
use axum::http::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, ORIGIN};
use axum::http::request::Parts;
use axum::http::{Response, StatusCode};
use futures_core::Stream;
use rmcp::RoleServer;
use rmcp::model::{
    ClientCapabilities, ErrorCode, GetExtensions, Implementation, InitializeRequestParams, JsonObject,
    JsonRpcMessage, ProtocolVersion, RequestMetaObject,
};
use rmcp::service::{RunningService, RxJsonRpcMessage, TxJsonRpcMessage, serve_directly_with_ct};
use rmcp::transport::OneshotTransport;
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};
use serde_json::Value;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc::Receiver;
use tokio_util::sync::{CancellationToken, DropGuard};

/// The usual values of the header `Accept`.
const ACCEPTED: [&str; 2] = ["application/json, text/event-stream", "text/event-stream, application/json"];

/// The usual hosts in requests to a server without a list of allowed hosts.
const LOCAL: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// The schema keyword that makes clients copy an argument into a header.
const ARGUMENT_HEADER: &str = "x-mcp-header";

/// The protocol versions with sessions.
const SESSION_VERSIONS: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];

/// The `_meta` member that selects the protocol version of a single request.
const VERSION_MEMBER: &str = "io.modelcontextprotocol/protocolVersion";

/// A call in its usual form, which the server answers without the HTTP service of the SDK.
pub(super) enum UsualCall {
    /// A call of the protocol version without sessions.
    Single(RxJsonRpcMessage<RoleServer>),
    /// A call in a session, which may have ended already.
    InSession(SessionId, RxJsonRpcMessage<RoleServer>),
}

/// Returns the call in the body of an HTTP request. Returns `None` if the request or the call does not have the usual
/// form.
pub(super) fn usual_call(settings: &Settings, parts: &Parts, body: &[u8]) -> Option<UsualCall> {
    let headers = &parts.headers;
    let is_usual = is_usual_host(only(headers, HOST.as_str())?, settings.http.hosts.as_deref())
        && !headers.contains_key(ORIGIN)
        && ACCEPTED.contains(&only(headers, ACCEPT.as_str())?)
        && only(headers, CONTENT_TYPE.as_str())? == "application/json";
    if !is_usual {
        return None;
    }
    let version = only(headers, "mcp-protocol-version")?;
    if SESSION_VERSIONS.contains(&version) {
        let session = only(headers, "mcp-session-id")?;
        let call: CallLine<'_> = serde_json::from_slice(body).ok()?;
        let is_usual = call.has_object() && call.meta().is_none_or(|meta| !meta.contains_key(VERSION_MEMBER));
        return is_usual.then(|| UsualCall::InSession(session.into(), call.into_message()));
    }
    if version != ProtocolVersion::V_2026_07_28.as_str() || only(headers, "mcp-method")? != "tools/call" {
        return None;
    }
    let call: CallLine<'_> = serde_json::from_slice(body).ok()?;
    let name = only(headers, "mcp-name")?;
    if !call.has_object() || call.name() != name || name.starts_with("=?") {
        return None;
    }
    let version = ProtocolVersion::V_2026_07_28;
    let meta = RequestMetaObject::from(call.meta()?.clone());
    let is_complete =
        meta.protocol_version() == Some(version.clone()) && meta.missing_required_keys(&version).is_empty();
    let tools = settings.tools(&settings.dispatcher.registry());
    let has_headers = |schema: &JsonObject| schema.get("properties").is_some_and(has_argument_header);
    if !is_complete || has_headers(&tools.get(name)?.input_schema) {
        return None;
    }
    Some(UsualCall::Single(call.into_message()))
}

/// Returns the value of a header; `None` if the header is missing, repeated, or not text.
fn only<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Returns whether the SDK would certainly accept this value of the header `Host`.
fn is_usual_host(host: &str, accepted: Option<&[String]>) -> bool {
    match accepted {
        Some(accepted) => {
            host.parse::<axum::http::uri::Authority>().is_ok() && accepted.iter().any(|own| own == host)
        }
        None => {
            let port = host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok());
            LOCAL.contains(&port.map_or(host, |(name, _)| name))
        }
    }
}

/// Returns whether clients must copy an argument into a header. `properties` are the argument schemas, which are
/// searched at any depth.
fn has_argument_header(properties: &Value) -> bool {
    let mut schemas = properties.as_object().into_iter().flat_map(JsonObject::values);
    schemas.any(|schema| {
        schema.get(ARGUMENT_HEADER).is_some() || schema.get("properties").is_some_and(has_argument_header)
    })
}

/// Runs a call of the protocol version without sessions and returns the response. If the call sends progress or
/// log messages, the response is a stream of events. Dropping the future or the response cancels the call.
pub(super) async fn answer(
    settings: Arc<Settings>,
    parts: Parts,
    call: RxJsonRpcMessage<RoleServer>,
) -> Response<Body> {
    let client = InitializeRequestParams::new(ClientCapabilities::default(), Implementation::default())
        .with_protocol_version(ProtocolVersion::V_2026_07_28);
    let stopped = settings.cancellation.clone();
    let (transport, mut messages) = OneshotTransport::<RoleServer>::new(with_parts(call, parts));
    let cancellation = CancellationToken::new();
    let running =
        serve_directly_with_ct(Handler::new(settings), transport, Some(client), cancellation.clone());
    let guard = cancellation.drop_guard();
    let first = tokio::select! {
        message = messages.recv() => message,
        () = stopped.cancelled() => None,
    };
    let response = match first {
        Some(first) if !is_last(&first) => {
            let messages = Messages { first: Some(first), rest: messages, _guard: guard, _running: running };
            return event_stream(messages, stopped);
        }
        first => first.and_then(|message| response(&message)),
    };
    response.unwrap_or_else(|| refusal(StatusCode::INTERNAL_SERVER_ERROR, "the server has stopped"))
}

/// Runs a call in a session and returns the response. Returns the request if the session does not exist.
pub(super) async fn answer_in_session(
    settings: &Settings,
    sessions: &Sessions,
    parts: Parts,
    (session, call): (SessionId, RxJsonRpcMessage<RoleServer>),
) -> Result<Response<Body>, Parts> {
    if !sessions.has_session(&session).await.unwrap_or_default() {
        return Err(parts);
    }
    Ok(match sessions.create_stream(&session, with_parts(call, parts)).await {
        Ok(messages) => event_stream(messages, settings.cancellation.clone()),
        // The session has ended a moment ago.
        Err(_) => refusal(StatusCode::NOT_FOUND, "Not Found: Session not found"),
    })
}

/// Attaches `parts`, the head of the HTTP request, to the request in `message`.
fn with_parts(mut message: RxJsonRpcMessage<RoleServer>, parts: Parts) -> RxJsonRpcMessage<RoleServer> {
    if let JsonRpcMessage::Request(request) = &mut message {
        request.request.extensions_mut().insert(parts);
    }
    message
}

/// Returns whether a message is the result or the error of its call.
fn is_last(message: &TxJsonRpcMessage<RoleServer>) -> bool {
    matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_))
}

/// The stream of a call's messages. The last message is the result of the call.
struct Messages {
    /// The first message, which arrived before this stream was created.
    first: Option<TxJsonRpcMessage<RoleServer>>,
    rest: Receiver<TxJsonRpcMessage<RoleServer>>,
    /// Cancels the call when the response is dropped.
    _guard: DropGuard,
    _running: RunningService<RoleServer, Handler>,
}

impl Stream for Messages {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        let message = match self.first.take() {
            Some(first) => Poll::Ready(Some(first)),
            None => self.rest.poll_recv(cx),
        };
        message.map(|message| {
            let message = message?;
            if is_last(&message) {
                self.rest.close();
            }
            Some(ServerSseMessage::from_message(message))
        })
    }
}

/// Returns a response with a failure status and a message.
pub(super) fn refusal(status: StatusCode, message: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(message.into());
    *response.status_mut() = status;
    response
}

/// Converts a message to an HTTP response. If the message is an error, the error determines the status.
fn response(message: &TxJsonRpcMessage<RoleServer>) -> Option<Response<Body>> {
    let status = match message {
        JsonRpcMessage::Error(error) => match error.error.code {
            ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
            | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
            | ErrorCode::HEADER_MISMATCH => StatusCode::BAD_REQUEST,
            ErrorCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
            _ => StatusCode::OK,
        },
        _ => StatusCode::OK,
    };
    let mut response = Response::new(Body::from(serde_json::to_vec(message).ok()?));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Some(response)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Request;
    use toolkit::{Dispatcher, ToolRegistry, tool, tools};

    /// Adds two numbers.
    #[tool]
    fn add(a: i64, b: i64) -> i64 {
        a + b
    }

    const SESSION_HEADERS: [(&str, &str); 5] = [
        ("host", "127.0.0.1:8000"),
        ("accept", "text/event-stream, application/json"),
        ("content-type", "application/json"),
        ("mcp-protocol-version", "2025-11-25"),
        ("mcp-session-id", "5"),
    ];

    const SESSION_BODY: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2},"_meta":{"progressToken":1}}}"#;

    const HEADERS: [(&str, &str); 6] = [
        ("host", "127.0.0.1:8000"),
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "add"),
    ];

    const BODY: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;

    fn is_usual(headers: &[(&str, &str)], body: &str) -> bool {
        let registry = ToolRegistry::from_tools(tools![add]).expect("legal");
        let settings = Settings::new(Dispatcher::new(registry).expect("complete"));
        let request = headers
            .iter()
            .fold(Request::post("/mcp"), |request, (name, value)| request.header(*name, *value));
        let (parts, ()) = request.body(()).expect("legal headers").into_parts();
        usual_call(&settings, &parts, body.as_bytes()).is_some()
    }

    /// Checks that a request with the headers `usual` has the usual form, but not if a header is missing, repeated or
    /// has another value. Only the header `free` may have any value.
    fn check_headers(usual: &[(&'static str, &'static str)], body: &str, free: &str) {
        assert!(is_usual(usual, body));
        for (index, (name, _)) in usual.iter().enumerate() {
            let mut headers = usual.to_vec();
            headers.remove(index);
            assert!(!is_usual(&headers, body), "without {name}");
            let twice = [usual, &usual[index..=index]].concat();
            assert!(!is_usual(&twice, body), "{name} twice");
            let mut other = usual.to_vec();
            other[index].1 = "other";
            assert_eq!(is_usual(&other, body), *name == free, "another {name}");
        }
    }

    #[test]
    fn a_usual_call_in_a_session_is_answered_directly_and_any_deviation_by_the_sdk() {
        check_headers(&SESSION_HEADERS, SESSION_BODY, "mcp-session-id");
        for (part, other) in [
            ("tools/call", "tools/list"),
            ("{\"a\":1,\"b\":2}", "[1, 2]"),
            ("\"id\":1", "\"id\":null"),
            ("\"progressToken\":1", "\"io.modelcontextprotocol/protocolVersion\":\"2025-11-25\""),
            ("\"jsonrpc\"", "\"other\":1,\"jsonrpc\""),
        ] {
            let body = SESSION_BODY.replace(part, other);
            assert!(body != SESSION_BODY && !is_usual(&SESSION_HEADERS, &body), "{other}");
        }
    }

    #[test]
    fn the_usual_form_is_answered_directly_and_any_deviation_by_the_sdk() {
        check_headers(&HEADERS, BODY, "");
        let origin = [&HEADERS[..], &[("origin", "http://localhost")]].concat();
        assert!(!is_usual(&origin, BODY));
        for (part, other) in [
            ("tools/call", "tools/list"),
            ("\"add\"", "\"sub\""),
            ("{\"a\":1,\"b\":2}", "[1, 2]"),
            ("\"id\":1", "\"id\":null"),
            ("2026-07-28", "2025-11-25"),
            ("clientCapabilities\":{}", "clientCapabilities\":5"),
            ("\"jsonrpc\"", "\"other\":1,\"jsonrpc\""),
        ] {
            assert!(BODY.contains(part) && !is_usual(&HEADERS, &BODY.replace(part, other)), "{other}");
        }
        for more in ["\"progressToken\":1", "\"io.modelcontextprotocol/logLevel\":\"info\""] {
            let with = format!("clientCapabilities\":{{}},{more}");
            assert!(is_usual(&HEADERS, &BODY.replace("clientCapabilities\":{}", &with)), "{more}");
        }
    }
}
