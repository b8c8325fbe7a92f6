//! Conversion of `genai` errors to `ModelError`s.

use crate::fault;
use genai::webc::{self, StreamTimeout};
use genai::{BoxError, Error};
use toolkit_core::redaction::{Redacted, Redactor, Unread};
use toolkit_http::client::{redacted_headers, root_cause, shown};
use toolkit_llm::WireError;
use toolkit_llm::{ModelError, ModelErrorKind};

/// Converts an error, and removes the `secrets` from its message.
pub(super) fn of_genai(error: Error, secrets: &Redactor) -> ModelError {
    let error = convert(error, secrets);
    let message = secrets.redact(error.message());
    error.with_message(message)
}

/// Converts an error. Removes secrets only from response bodies, before these are shortened.
fn convert(error: Error, secrets: &Redactor) -> ModelError {
    let kind = match error {
        Error::WebModelCall { webc_error, .. } | Error::WebAdapterCall { webc_error, .. } => {
            return of_web(webc_error, secrets);
        }
        Error::HttpError { status, headers, body, .. } => {
            return fault::of_status(status, &redacted_headers(&headers, secrets), &redacted(&body, secrets));
        }
        Error::WebStream { error, .. } => return of_stream(error, secrets),
        // An error within a stream is usually a temporary failure.
        Error::ChatResponse { body, .. } => {
            return match WireError::of_failure(&body) {
                Some(error) => ModelError::of_wire(ModelErrorKind::Unavailable, &error),
                None => {
                    let text = format!("the service reported an error: {body}");
                    ModelError::new(ModelErrorKind::Unavailable, text).classified()
                }
            };
        }
        Error::ChatResponseGeneration { cause, .. } => {
            let text = format!("the response is not understood: {cause}");
            return ModelError::new(ModelErrorKind::InvalidResponse, text);
        }
        Error::RequiresApiKey { .. }
        | Error::NoAuthResolver { .. }
        | Error::NoAuthData { .. }
        | Error::Resolver { .. } => ModelErrorKind::Unauthorized,
        Error::NoChatResponse { .. }
        | Error::InvalidJsonResponseElement { .. }
        | Error::StreamParse { .. }
        | Error::JsonValueExt(_)
        | Error::SerdeJson(_) => ModelErrorKind::InvalidResponse,
        Error::MessageRoleNotSupported { .. }
        | Error::MessageContentTypeNotSupported { .. }
        | Error::AdapterNotSupported { .. } => ModelErrorKind::InvalidRequest,
        _ => ModelErrorKind::Other,
    };
    ModelError::new(kind, error.to_string())
}

fn redacted(body: &str, secrets: &Redactor) -> Redacted {
    Unread::new(body).text(secrets)
}

fn of_web(error: webc::Error, secrets: &Redactor) -> ModelError {
    let invalid = |text: String| ModelError::new(ModelErrorKind::InvalidResponse, text);
    match error {
        webc::Error::ResponseFailedStatus { status, headers, body } => {
            fault::of_status(status, &redacted_headers(&headers, secrets), &redacted(&body, secrets))
        }
        webc::Error::Reqwest(error) => of_reqwest(&error),
        webc::Error::ResponseFailedInvalidJson { body, cause } => {
            fault::no_json(&cause, &redacted(&body, secrets))
        }
        webc::Error::ResponseFailedNotJson { body, .. } if body.trim().is_empty() => {
            fault::no_json(&"no content", &Redacted::default())
        }
        webc::Error::ResponseFailedNotJson { content_type, body } => invalid(format!(
            "the model's server has sent {content_type}, no JSON: {}",
            shown(&redacted(&body, secrets))
        )),
        other => invalid(other.to_string()),
    }
}

pub(super) fn of_reqwest(error: &reqwest::Error) -> ModelError {
    let converted = fault::broken(error, error.is_connect());
    if error.is_timeout() {
        converted.with_kind(ModelErrorKind::TimedOut)
    } else if error.is_builder() {
        converted.with_kind(ModelErrorKind::InvalidRequest)
    } else {
        converted
    }
}

fn of_stream(error: BoxError, secrets: &Redactor) -> ModelError {
    if let Some(error) = error.downcast_ref::<reqwest::Error>() {
        return of_reqwest(error);
    }
    match error.downcast::<Error>() {
        Ok(error) => convert(*error, secrets),
        Err(silence) if silence.is::<StreamTimeout>() => {
            ModelError::new(ModelErrorKind::TimedOut, format!("the model's server is silent: {silence}"))
        }
        Err(error) => ModelError::new(ModelErrorKind::Connection, root_cause(&*error)),
    }
}
