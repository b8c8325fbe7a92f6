//! Direct answers to HTTP calls in their usual form, without the HTTP service of the SDK.
//!
//! The SDK tries every kind of message in turn, and writes a message as JSON again to compare it with the
//! headers. Both steps can be avoided for a call in its usual form, with the protocol version without
//! sessions. Any other request, including every request that must be refused, is left to the SDK.

use super::handler::Handler;
use super::lines::CallLine;
use super::service::refusal;
use super::settings::Settings;
use axum::body::Body;
use axum::http::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, ORIGIN};
use axum::http::request::Parts;
use axum::http::{Response, StatusCode};
use rmcp::RoleServer;
use rmcp::model::{
    ClientCapabilities, ErrorCode, GetExtensions, Implementation, InitializeRequestParams, JsonObject,
    JsonRpcMessage, ProtocolVersion, RequestMetaObject,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage, serve_directly_with_ct};
use rmcp::transport::OneshotTransport;
use serde_json::Value;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The usual values of the header `Accept`.
const ACCEPTED: [&str; 2] = ["application/json, text/event-stream", "text/event-stream, application/json"];

/// The usual hosts in requests to a server without a list of allowed hosts.
const LOCAL: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// The schema keyword that makes clients copy an argument into a header.
const ARGUMENT_HEADER: &str = "x-mcp-header";

/// Returns the call contained in a request. Returns `None` unless the request has the usual form and its
/// response is a single message.
pub(super) fn usual_call(
    settings: &Settings,
    parts: &Parts,
    body: &[u8],
) -> Option<RxJsonRpcMessage<RoleServer>> {
    let headers = &parts.headers;
    let version = ProtocolVersion::V_2026_07_28;
    let is_usual = is_usual_host(only(headers, HOST.as_str())?, settings.http.hosts.as_deref())
        && !headers.contains_key(ORIGIN)
        && ACCEPTED.contains(&only(headers, ACCEPT.as_str())?)
        && only(headers, CONTENT_TYPE.as_str())? == "application/json"
        && only(headers, "mcp-protocol-version")? == version.as_str()
        && only(headers, "mcp-method")? == "tools/call";
    if !is_usual {
        return None;
    }
    let call: CallLine<'_> = serde_json::from_slice(body).ok()?;
    let name = only(headers, "mcp-name")?;
    if !call.has_object() || call.name() != name || name.starts_with("=?") {
        return None;
    }
    let meta = RequestMetaObject::from(call.meta()?.clone());
    // Progress and log messages make the response a stream of events.
    let is_single = meta.get_progress_token().is_none() && meta.log_level().is_none();
    let is_complete =
        meta.protocol_version() == Some(version.clone()) && meta.missing_required_keys(&version).is_empty();
    let tools = settings.tools(&settings.dispatcher.registry());
    let has_headers = |schema: &JsonObject| schema.get("properties").is_some_and(has_argument_header);
    if !is_single || !is_complete || has_headers(&tools.get(name)?.input_schema) {
        return None;
    }
    Some(call.into_message())
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

/// Returns whether any of these properties, at any depth, is copied into a header.
fn has_argument_header(properties: &Value) -> bool {
    let mut schemas = properties.as_object().into_iter().flat_map(JsonObject::values);
    schemas.any(|schema| {
        schema.get(ARGUMENT_HEADER).is_some() || schema.get("properties").is_some_and(has_argument_header)
    })
}

/// Runs a call and returns the response. Dropping the future cancels the call.
pub(super) async fn answer(
    settings: Arc<Settings>,
    parts: Parts,
    mut call: RxJsonRpcMessage<RoleServer>,
) -> Response<Body> {
    if let JsonRpcMessage::Request(request) = &mut call {
        request.request.extensions_mut().insert(parts);
    }
    let client = InitializeRequestParams::new(ClientCapabilities::default(), Implementation::default())
        .with_protocol_version(ProtocolVersion::V_2026_07_28);
    let stopped = settings.cancellation.clone();
    let (transport, mut messages) = OneshotTransport::<RoleServer>::new(call);
    let cancellation = CancellationToken::new();
    let running =
        serve_directly_with_ct(Handler::new(settings), transport, Some(client), cancellation.clone());
    let guard = cancellation.drop_guard();
    let message = tokio::select! {
        message = messages.recv() => message,
        () = stopped.cancelled() => None,
    };
    drop(guard);
    drop(running);
    let response = message.and_then(|message| response(&message));
    response.unwrap_or_else(|| refusal(StatusCode::INTERNAL_SERVER_ERROR, "the server has stopped"))
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

    #[test]
    fn the_usual_form_is_answered_directly_and_any_deviation_by_the_sdk() {
        assert!(is_usual(&HEADERS, BODY));
        for (index, (name, _)) in HEADERS.into_iter().enumerate() {
            let mut headers = HEADERS.to_vec();
            headers.remove(index);
            assert!(!is_usual(&headers, BODY), "without {name}");
            let twice = [&HEADERS[..], &HEADERS[index..=index]].concat();
            assert!(!is_usual(&twice, BODY), "{name} twice");
            let mut other = HEADERS.to_vec();
            other[index].1 = "other";
            assert!(!is_usual(&other, BODY), "another {name}");
        }
        let origin = [&HEADERS[..], &[("origin", "http://localhost")]].concat();
        assert!(!is_usual(&origin, BODY));
        for (part, other) in [
            ("tools/call", "tools/list"),
            ("\"add\"", "\"sub\""),
            ("{\"a\":1,\"b\":2}", "[1, 2]"),
            ("\"id\":1", "\"id\":null"),
            ("2026-07-28", "2025-11-25"),
            ("clientCapabilities\":{}", "clientCapabilities\":5"),
            ("clientCapabilities\":{}", "clientCapabilities\":{},\"progressToken\":1"),
            (
                "clientCapabilities\":{}",
                "clientCapabilities\":{},\"io.modelcontextprotocol/logLevel\":\"info\"",
            ),
            ("\"jsonrpc\"", "\"other\":1,\"jsonrpc\""),
        ] {
            assert!(BODY.contains(part) && !is_usual(&HEADERS, &BODY.replace(part, other)), "{other}");
        }
    }
}
