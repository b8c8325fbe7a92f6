//! Conversion of complete responses from the JSON of an API.

use crate::facts::{ApiFormat, Server};
use crate::json::WireError;
use crate::message::{AssistantMessage, ModelResponse, NativeMessages};
use crate::model::{ModelError, ServerState};
use crate::response::{FinishReason, Response};
use serde_json::Value;

/// Parses the complete body of a response.
///
/// # Errors
/// [`ModelError`] if the body is not of this format, reports a failure, or has no content.
pub fn parse_response(format: ApiFormat, body: &Value) -> Result<ModelResponse, ModelError> {
    read_response(format, body, None)
}

/// Parses a complete body. With `state`, the provider has stored the response.
pub(super) fn read_response(
    format: ApiFormat,
    body: &Value,
    state: Option<&ServerState>,
) -> Result<ModelResponse, ModelError> {
    match format.parse_response(body) {
        Ok(response) => Ok(model_response(format, response, state)?.answered_by(body)),
        Err(error) => match blocked(&error, format, body) {
            Some(response) => Ok(response),
            None => Err(error.into()),
        },
    }
}

/// Returns the response for a blocked prompt or answer, whose codec reports an error.
pub(super) fn blocked(error: &WireError, format: ApiFormat, body: &Value) -> Option<ModelResponse> {
    if !error.is_blocked() {
        return None;
    }
    let response = ModelResponse::text(error.report()?).with_finish(FinishReason::Refused);
    Some(response.with_usage(format.parse_usage(body)).answered_by(body))
}

/// Returns whether a refusal explains the text.
pub(super) fn is_beside_text(format: ApiFormat, text: &str) -> bool {
    !text.is_empty() && format.request_facts(Server::Own).answers.explains_refusals
}

/// Converts a response. With `state`, the provider has stored it.
pub(super) fn model_response(
    format: ApiFormat,
    response: Response,
    state: Option<&ServerState>,
) -> Result<ModelResponse, ModelError> {
    let Response { text, reasoning, refusal, calls, hosted, mut finish, usage, native, id, .. } = response;
    // OpenAI reports a refusal in a field, with the finish reason of a complete answer.
    if !refusal.is_empty() && finish == FinishReason::Stop {
        finish = FinishReason::Refused;
    }
    let mut native = NativeMessages::new(format.name(), native);
    if state.is_some() && !id.is_empty() {
        native.response_id = Some(id.clone());
    }
    if let Some(ServerState::Conversation(id)) = state {
        native.conversation = Some(id.clone());
    }
    native.container = Some(response.container).filter(|container| !container.is_empty());
    let expiry = response.container_expires_at;
    native.container_expires_at = Some(expiry).filter(|expiry| !expiry.is_empty());
    let text = if is_beside_text(format, &text) { text } else { text + &refusal };
    // If the messages are empty, as after a block during thinking, a later request contains the text.
    let is_sendable = !native.messages.is_empty() || native.response_id.is_some() || text.is_empty();
    let message = AssistantMessage {
        text,
        reasoning,
        calls,
        native: if is_sendable { Some(native) } else { None },
        ..AssistantMessage::default()
    };
    ModelResponse { message, finish, usage, hosted, id, ..ModelResponse::default() }.unless_empty()
}

impl ModelResponse {
    pub(super) fn answered_by(mut self, body: &Value) -> Self {
        self.model.clear();
        for field in ["model", "modelVersion"] {
            if let Some(Value::String(name)) = body.get(field) {
                self.model.clone_from(name);
                break;
            }
        }
        self
    }
}
