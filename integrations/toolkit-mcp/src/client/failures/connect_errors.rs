//! Failures of transports and handshakes as errors for the program: what is wrong, and what to do next.

#[cfg(feature = "client-http")]
use super::failure::{Failure, HttpFault};
use crate::mcp_error::{McpError, McpErrorKind};
use rmcp::model::{ErrorCode, ErrorData};
use rmcp::service::ServiceError;
use std::error::Error;
#[cfg(feature = "client-http")]
use std::io;
use toolkit_core::foreign::clean;
#[cfg(feature = "client-http")]
use toolkit_http::client::{HttpError, HttpErrorKind};

/// Returns the messages of an error and its causes, each once.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let error = without_wrapper(error);
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let part = error.to_string();
        if !text.contains(&part) {
            text = format!("{text}: {part}");
        }
        cause = error.source();
    }
    text
}

/// Returns the error without the wrappers of the SDK, which name its types or hide the cause.
fn without_wrapper<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    if let Some(ServiceError::TransportSend(failed)) = error.downcast_ref() {
        return without_wrapper(&*failed.error);
    }
    #[cfg(feature = "client-http")]
    if let Some(HttpFault::Client(failed)) = error.downcast_ref() {
        return failed;
    }
    error
}

/// Creates the error for a server that cannot be reached. The last cause says the most.
pub(crate) fn unreachable(error: &(dyn Error + 'static)) -> McpError {
    let mut last = without_wrapper(error);
    while let Some(cause) = last.source() {
        last = cause;
    }
    #[cfg(feature = "client-http")]
    if let Some(failed) = last.downcast_ref::<HttpError>() {
        if failed.kind() == HttpErrorKind::InvalidRequest {
            return McpError::new(McpErrorKind::Connection, failed.reason());
        }
        return unreachable_because(failed.reason());
    }
    unreachable_because(&last.to_string())
}

fn unreachable_because(reason: &str) -> McpError {
    // The TLS library has no kind for a peer without TLS, and its type is not one of our dependencies.
    let text = if reason.contains("InvalidContentType") {
        "the server speaks no TLS at this address; write `http://` if that is meant".to_owned()
    } else {
        format!("the server cannot be reached: {reason}; check the address, and that the server runs")
    };
    McpError::new(McpErrorKind::Connection, text)
}

pub(crate) fn refused(method: &str, error: &ErrorData) -> McpError {
    let feature = method.split('/').next().unwrap_or_default();
    if error.code == ErrorCode::METHOD_NOT_FOUND && matches!(feature, "prompts" | "resources") {
        return McpError::new(
            McpErrorKind::Protocol,
            format!("the server has no {feature}: it does not know `{method}`"),
        );
    }
    let message = clean(&error.message);
    let text = format!("the server refused `{method}`: {message} (code {})", error.code.0);
    McpError::new(McpErrorKind::Protocol, text)
}

/// Returns whether a response may be the answer of an earlier server to an unknown request.
#[cfg(feature = "client-http")]
pub(crate) fn ends_probe(error: &(dyn Error + 'static)) -> bool {
    match Failure::from_error(error) {
        Some(Failure::Status { status, .. }) => !matches!(status, 401 | 403 | 429),
        Some(Failure::Invalid) => true,
        _ => false,
    }
}

#[cfg(not(feature = "client-http"))]
pub(crate) fn ends_probe(_: &(dyn Error + 'static)) -> bool {
    false
}

pub(crate) fn of_transport(error: &(dyn Error + 'static)) -> McpError {
    #[cfg(feature = "client-http")]
    if let Some(failure) = Failure::from_error(without_wrapper(error)) {
        return of_http(&failure, without_wrapper(error));
    }
    unreachable(error)
}

#[cfg(feature = "client-http")]
fn of_http(failure: &Failure, error: &(dyn Error + 'static)) -> McpError {
    let refuses = "the server refuses access without valid credentials";
    let (kind, text) = match *failure {
        Failure::NoAccess | Failure::Status { status: 401, .. } => {
            let text = match error.downcast_ref() {
                Some(HttpFault::Io(missing)) if missing.kind() == io::ErrorKind::PermissionDenied => {
                    missing.to_string()
                }
                _ if cfg!(feature = "auth") => format!("{refuses}; set a token, or use `McpUrl::with_login`"),
                _ => format!("{refuses}; set a token"),
            };
            (McpErrorKind::Unauthorized, text)
        }
        Failure::Status { status, .. } => {
            let line = status_line(status, error);
            let advice = match status {
                300..=399 => "redirects are not followed, so use the final URL",
                403 if line.contains("the host of the request is not allowed") => {
                    "the server must allow the host of the URL, as with `McpServer::with_allowed_hosts`"
                }
                403 => "check the credentials",
                404 => "check the URL, whose path is often `/mcp`",
                429 | 500..=599 => "try again later",
                _ => "check the URL",
            };
            (McpErrorKind::Connection, format!("the server answered with {line}; {advice}"))
        }
        Failure::Expired => (McpErrorKind::Connection, "the server has ended the session".to_owned()),
        Failure::Invalid => {
            let text = format!("the server's answer is not a message of the protocol: {}", chain(error));
            (McpErrorKind::Protocol, clean(&text) + "; check the URL")
        }
    };
    McpError::new(kind, text)
}

/// Returns the status with the beginning of the page, if the SDK has read it.
#[cfg(feature = "client-http")]
fn status_line(status: u16, error: &(dyn Error + 'static)) -> String {
    if let Some(HttpFault::UnexpectedServerResponse(text)) = error.downcast_ref() {
        return clean(text.trim_end_matches([':', ' ', '\n']));
    }
    let name = http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    format!("HTTP {status} {}", name.unwrap_or_default()).trim_end().to_owned()
}
