//! Failures of single HTTP requests.

use crate::client::transport::SESSION_LOST;
use rmcp::service::ServiceError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde::de::Error as _;
use std::error::Error;
use std::io;
use std::time::Duration;
use toolkit_core::redaction::Redactor;
use toolkit_http::client::HttpError;

pub(crate) type HttpFault = StreamableHttpError<HttpError>;

/// Returns an error of the SDK without secrets. The SDK cuts long answers.
pub(crate) fn redacted_fault(fault: HttpFault, redactor: &Redactor) -> HttpFault {
    match fault {
        HttpFault::UnexpectedServerResponse(text) => {
            HttpFault::UnexpectedServerResponse(redactor.redact_cut(&text).into())
        }
        HttpFault::UnexpectedContentType(Some(text)) => {
            HttpFault::UnexpectedContentType(Some(redactor.redact(&text)))
        }
        HttpFault::AuthRequired(mut refusal) => {
            refusal.www_authenticate_header = redactor.redact(&refusal.www_authenticate_header);
            HttpFault::AuthRequired(refusal)
        }
        HttpFault::InsufficientScope(mut refusal) => {
            refusal.www_authenticate_header = redactor.redact(&refusal.www_authenticate_header);
            refusal.required_scope = refusal.required_scope.map(|scope| redactor.redact(&scope));
            HttpFault::InsufficientScope(refusal)
        }
        HttpFault::HttpStatus(mut failure) => {
            failure.retry_after = failure.retry_after.map(|pause| redactor.redact(&pause));
            HttpFault::HttpStatus(failure)
        }
        HttpFault::Deserialize(error) => {
            HttpFault::Deserialize(serde_json::Error::custom(redactor.redact(&error.to_string())))
        }
        HttpFault::Io(error) => {
            HttpFault::Io(io::Error::new(error.kind(), redactor.redact(&error.to_string())))
        }
        other => other,
    }
}

/// The failure of one request, while the connection stays usable.
pub(crate) enum Failure {
    /// The server, or a proxy before it, answered with this HTTP status.
    Status {
        status: u16,
        /// The requested pause; `None` if it is missing or not a number.
        pause: Option<Duration>,
    },
    NoAccess,
    /// The answer is not an answer of the protocol.
    Invalid,
    /// The session has ended, and the server did not process the request.
    Expired,
}

/// Returns whether a server has ended the session instead of answering.
pub(crate) fn is_expired(error: &ServiceError) -> bool {
    match error {
        ServiceError::McpError(error) => error.code == SESSION_LOST,
        ServiceError::TransportSend(failed) => {
            matches!(Failure::from_error(&*failed.error), Some(Failure::Expired))
        }
        _ => false,
    }
}

/// Reads the status in a text such as `HTTP 413 Payload Too Large: the body`.
fn written_status(text: &str) -> Option<u16> {
    text.strip_prefix("HTTP ")?.get(..3)?.parse().ok()
}

impl Failure {
    /// Classifies an error; `None` if the connection may be lost.
    pub(crate) fn from_error(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut cause = Some(error);
        while let Some(error) = cause {
            match error.downcast_ref() {
                Some(HttpFault::HttpStatus(failure)) => {
                    let after = failure.retry_after.as_deref();
                    let pause = after.and_then(|after| after.trim().parse().ok()).map(Duration::from_secs);
                    return Some(Self::Status { status: failure.status, pause });
                }
                Some(HttpFault::UnexpectedServerResponse(text)) => {
                    return Some(match written_status(text) {
                        Some(status) => Self::Status { status, pause: None },
                        None => Self::Invalid,
                    });
                }
                Some(HttpFault::AuthRequired(_) | HttpFault::InsufficientScope(_)) => {
                    return Some(Self::NoAccess);
                }
                // A source has no token.
                Some(HttpFault::Io(error)) if error.kind() == io::ErrorKind::PermissionDenied => {
                    return Some(Self::NoAccess);
                }
                Some(HttpFault::UnexpectedContentType(_) | HttpFault::Deserialize(_)) => {
                    return Some(Self::Invalid);
                }
                Some(HttpFault::SessionExpired) => return Some(Self::Expired),
                _ => cause = error.source(),
            }
        }
        None
    }
}
