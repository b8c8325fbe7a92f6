//! Outputs of tools as bodies of responses.

use super::problem_details::ProblemDetails;
use data_encoding::BASE64;
use http::Response;
use http::header::{CONTENT_TYPE, HeaderValue};
use serde::Serialize;
use toolkit_core::output::MediaData;
use toolkit_core::output::serde::tool_output;
use toolkit_core::{Content, Media, ToolError, ToolOutput};
use toolkit_http::server::HttpBody;

pub(super) type Outcome = Result<ToolOutput, ToolError>;

/// Returns the response to a call: JSON, text, bytes of a media item, a list of contents, or a problem.
pub(super) fn response(outcome: Outcome) -> Response<HttpBody> {
    let output = match outcome {
        Ok(output) => output,
        Err(error) => return ProblemDetails::from(&error).into_response(),
    };
    if output.structured().is_none() && output.message().is_empty() {
        match output.content() {
            [Content::Text(text)] => return typed("text/plain; charset=utf-8", text.clone()),
            [Content::Image(media) | Content::Audio(media) | Content::File(media)] => {
                if let Some(response) = bytes(media) {
                    return response;
                }
            }
            _ => {}
        }
    }
    typed("application/json", json(&output))
}

/// Returns the bytes of a media item, unless it has only a URL.
fn bytes(media: &Media) -> Option<Response<HttpBody>> {
    let MediaData::Base64(data) = &media.data else { return None };
    let bytes = BASE64.decode(data.as_bytes()).ok()?;
    let media_type = HeaderValue::from_str(&media.media_type).ok()?;
    Some(with_type(media_type, bytes.into()))
}

pub(super) fn typed(media_type: &'static str, body: String) -> Response<HttpBody> {
    with_type(HeaderValue::from_static(media_type), body.into())
}

fn with_type(media_type: HeaderValue, body: HttpBody) -> Response<HttpBody> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    response
}

/// Returns an output as JSON: its structured value, its JSON or text, or an object with the list `content`.
pub(super) fn json(output: &ToolOutput) -> String {
    #[derive(Serialize)]
    #[serde(transparent)]
    struct Whole<'a>(#[serde(serialize_with = "tool_output::serialize")] &'a ToolOutput);
    match (output.structured(), output.content()) {
        (Some(value), _) => value.to_string(),
        (None, [Content::Json(json)]) => json.as_str().to_owned(),
        (None, [Content::Text(text)]) if output.message().is_empty() => {
            serde_json::to_string(text).unwrap_or_default()
        }
        _ => serde_json::to_string(&Whole(output)).unwrap_or_default(),
    }
}
