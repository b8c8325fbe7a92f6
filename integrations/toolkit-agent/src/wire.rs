//! Requests in the JSON of a provider's API, and models that speak it.
//!
//! `toolkit_wire` reads and writes definitions, calls, results, responses and streams; this module adds the
//! other fields of a request.

mod request;
mod transport;

pub use request::request_body;
pub use transport::{EventStream, Fragment, Transport, WireModel};

use crate::message::{AssistantMessage, NativeMessages};
use crate::model::{ModelError, ModelResponse};
use serde_json::Value;
use toolkit_wire::{ApiFormat, Response};

/// Reads a whole response.
///
/// # Errors
/// [`ModelError`] if the body is not a response of this format, reports a failure, or says nothing.
pub fn parse_response(format: ApiFormat, body: &Value) -> Result<ModelResponse, ModelError> {
    model_response(format, format.parse_response(body)?)
}

fn model_response(format: ApiFormat, response: Response) -> Result<ModelResponse, ModelError> {
    let Response { text, reasoning, refusal, calls, finish, usage, native, .. } = response;
    let message = AssistantMessage {
        text: text + &refusal,
        reasoning,
        calls,
        native: Some(NativeMessages::new(format.name(), native)),
        ..AssistantMessage::default()
    };
    ModelResponse { message, finish, usage }.unless_empty()
}
