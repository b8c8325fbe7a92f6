//! Requests and responses in the JSON of a provider's API, and models that speak it.
//!
//! Definitions, calls, results and streams are written and read by `toolkit_core`'s rooms; here is what stands around
//! them in the body of a request, and what else a response says.

mod body;
mod history;
mod reply;
mod transport;

pub use transport::{EventStream, Fragment, Transport, WireModel};

use crate::model::{ModelError, ModelRequest, ModelResponse};
use serde_json::{Map, Value};
use toolkit_wire::ApiFormat;

/// The body of a request for this model, whole or (`stream`) for an answer that comes piece by piece.
///
/// Gemini's API has the name of the model, and whether it streams, in its address, not in the body.
///
/// ```
/// use toolkit_agent::{Message, ModelRequest, wire};
/// use toolkit::ApiFormat;
///
/// let request = ModelRequest::new([Message::user("hi")]).with_instructions("Be brief.");
/// let body = wire::request_body(ApiFormat::OpenAiChat, "gpt-5", &request, false);
/// assert_eq!(body["messages"][0]["content"], "Be brief.");
/// assert_eq!(body["messages"][1]["content"], "hi");
/// ```
#[must_use]
pub fn request_body(
    format: ApiFormat,
    model: &str,
    request: &ModelRequest,
    stream: bool,
) -> Map<String, Value> {
    body::request_body(format, model, request, stream)
}

/// Reads a whole response.
///
/// # Errors
/// [`ModelError`] if it is not what the format says, reports a failure, or says nothing.
pub fn parse_response(format: ApiFormat, body: &Value) -> Result<ModelResponse, ModelError> {
    reply::parse_response(format, body)
}
