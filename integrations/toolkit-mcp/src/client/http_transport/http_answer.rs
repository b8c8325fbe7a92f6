//! What a server answers to a message over HTTP.

use crate::client::failures::HttpFault;
use crate::client::tools::{RawLists, cut_deep_values};
use crate::client::transport::SESSION_LOST;
use crate::error_data::readable_error;
use crate::line_transport::{TOO_LARGE, read};
use http::StatusCode;
use http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::common::http_header::JSON_MIME_TYPE;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpResponseLimits,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, from_str};
use toolkit_http::client::{BoundedBody, HttpResponse};

/// The limit in bytes of an unreadable answer.
const SHOWN: usize = 256;

/// A posted message, as far as its answer depends on it.
pub(super) struct Posted {
    id: Option<RequestId>,
    pub(super) has_session: bool,
    pub(super) has_token: bool,
    is_discover: bool,
    is_list: bool,
    lists: RawLists,
}

impl Posted {
    pub(super) fn new(message: &ClientJsonRpcMessage, lists: RawLists) -> Self {
        let mut posted = Self {
            id: None,
            has_session: false,
            has_token: false,
            is_discover: false,
            is_list: false,
            lists,
        };
        if let ClientJsonRpcMessage::Request(request) = message {
            posted.id = Some(request.id.clone());
            posted.is_discover = matches!(request.request, ClientRequest::DiscoverRequest(_));
            posted.is_list = matches!(request.request, ClientRequest::ListToolsRequest(_));
        }
        posted
    }

    /// Reads the answer of a server that takes the message; `None` if there is nothing to read.
    pub(super) async fn answer(
        &self,
        response: HttpResponse,
        limits: StreamableHttpResponseLimits,
    ) -> Result<Option<ServerJsonRpcMessage>, HttpFault> {
        if !has_media_type(&response, JSON_MIME_TYPE) {
            if self.id.is_none() {
                return Ok(None);
            }
            return Err(HttpFault::UnexpectedContentType(Some(media_type(&response).to_owned())));
        }
        let body = Body::read(response.body, limits.max_json_response_size).await?;
        if body.is_cut {
            return Err(HttpFault::ResponseBodyTooLarge { max_size: limits.max_json_response_size });
        }
        match self.message(&body.text) {
            Ok(message) if self.is_about_session(&message) => Err(HttpFault::SessionExpired),
            Ok(message) => Ok(Some(self.addressed(message))),
            Err(_) if self.id.is_none() => Ok(None),
            Err(error) => {
                let text = body.shortened(SHOWN).text;
                Err(HttpFault::UnexpectedServerResponse(format!("it is no message: {error}: {text}").into()))
            }
        }
    }

    /// Returns the error of the protocol in the answer of a server that refuses the message.
    pub(super) async fn refusal(
        &self,
        response: HttpResponse,
        limits: StreamableHttpResponseLimits,
    ) -> Result<ServerJsonRpcMessage, HttpFault> {
        let status = response.status;
        if let Some(refused) = refusal(&response) {
            return Err(refused);
        }
        if status == StatusCode::NOT_FOUND && self.has_session {
            return Err(HttpFault::SessionExpired);
        }
        let is_json = has_media_type(&response, JSON_MIME_TYPE);
        let mut unavailable = status_error(&response);
        if (!is_json || status == StatusCode::TOO_MANY_REQUESTS)
            && let Some(fault) = unavailable.take()
        {
            return Err(fault);
        }
        let is_page = has_media_type(&response, "text/html");
        let is_access = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        let body = Body::read(response.body, limits.max_json_response_size).await?;
        // The server has not run a call. A refused token may belong to a session of a login.
        if self.has_session
            && status.is_client_error()
            && !is_page
            && !(is_access && self.has_token)
            && names_session(&body.text)
        {
            return Err(HttpFault::SessionExpired);
        }
        if is_json
            && !is_access
            && let Ok(JsonRpcMessage::Error(mut error)) = read::<RoleClient>(body.text.as_bytes())
        {
            // Many servers do not know the id, as they have not read the body.
            error.id = self.id.clone().or(error.id);
            return Ok(JsonRpcMessage::Error(error));
        }
        let shown = body.shortened(limits.max_error_response_size);
        let text = format!("HTTP {status}: {}", shown.text);
        if self.is_discover && !self.has_session && status.is_client_error() && !is_access {
            let refused = ErrorData::invalid_request(format!("server/discover rejected with {text}"), None);
            return Ok(JsonRpcMessage::error(refused, self.id.clone()));
        }
        Err(unavailable.unwrap_or(HttpFault::UnexpectedServerResponse(text.into())))
    }

    /// Returns the text that replaces an event with the answer, if the SDK would not read it.
    pub(super) fn event(&self, data: &str) -> Option<String> {
        let list = if self.is_list { cut_deep_values(data) } else { None };
        if self.is_list {
            self.lists.keep(list.as_deref().unwrap_or(data));
        }
        // Few events are parsed twice.
        let error = if data.contains("\"error\"") { BareError::read(data) } else { None };
        let Some(error) = error else { return list };
        let mut message = error.into_message();
        if self.is_about_session(&message)
            && let JsonRpcMessage::Error(lost) = &mut message
        {
            lost.error.code = SESSION_LOST;
        }
        serde_json::to_string(&self.addressed(message)).ok()
    }

    pub(super) fn too_large(&self) -> Option<String> {
        let error = ErrorData::new(TOO_LARGE, "a message is too large", None);
        let message: ServerJsonRpcMessage = JsonRpcMessage::error(error, Some(self.id.clone()?));
        serde_json::to_string(&message).ok()
    }

    fn message(&self, text: &str) -> serde_json::Result<ServerJsonRpcMessage> {
        let list = if self.is_list { cut_deep_values(text) } else { None };
        let text = list.as_deref().unwrap_or(text);
        if self.is_list {
            self.lists.keep(text);
        }
        let error = match from_str(text) {
            Ok(message) => return Ok(message),
            Err(error) => error,
        };
        if let Ok(message) = read::<RoleClient>(text.as_bytes()) {
            return Ok(message);
        }
        BareError::read(text).map(BareError::into_message).ok_or(error)
    }

    /// Returns whether the answer is an error without a request, about an unknown session.
    fn is_about_session(&self, message: &ServerJsonRpcMessage) -> bool {
        let JsonRpcMessage::Error(error) = message else { return false };
        self.has_session && error.id.is_none() && names_session(&error.error.message)
    }

    /// Adds the id of the message if the answer has none.
    fn addressed(&self, mut message: ServerJsonRpcMessage) -> ServerJsonRpcMessage {
        if let JsonRpcMessage::Error(error) = &mut message
            && error.id.is_none()
        {
            error.id.clone_from(&self.id);
        }
        message
    }
}

#[derive(Deserialize)]
struct BareError {
    id: Option<Value>,
    method: Option<IgnoredAny>,
    result: Option<IgnoredAny>,
    error: Option<Value>,
}

impl BareError {
    fn read(text: &str) -> Option<Self> {
        let answer: Self = from_str(text).ok()?;
        let is_error = answer.method.is_none() && answer.result.is_none() && answer.error.is_some();
        if is_error { Some(answer) } else { None }
    }

    fn into_message(self) -> ServerJsonRpcMessage {
        let id = self.id.and_then(|id| serde_json::from_value(id).ok());
        JsonRpcMessage::error(readable_error(self.error.unwrap_or_default()), id)
    }
}

struct Body {
    text: String,
    is_cut: bool,
}

impl Body {
    async fn read(mut body: BoundedBody, limit: usize) -> Result<Self, HttpFault> {
        let mut bytes = Vec::new();
        let mut is_cut = false;
        while let Some(chunk) = body.chunk().await {
            let chunk = chunk.map_err(HttpFault::Client)?;
            let kept = chunk.len().min(limit - bytes.len());
            bytes.extend_from_slice(&chunk[..kept]);
            if kept < chunk.len() {
                is_cut = true;
                break;
            }
        }
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
        Ok(Self { text, is_cut })
    }

    fn shortened(mut self, limit: usize) -> Self {
        let end = (0..=limit.min(self.text.len())).rev().find(|end| self.text.is_char_boundary(*end));
        self.text.truncate(end.unwrap_or(0));
        self
    }
}

/// Returns whether a text says that the server does not know the session. Each server has its own words, such
/// as `Session not found`, `No valid session ID provided` and `Server not initialized`.
fn names_session(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.contains("session") || text.contains("not initialized")
}

pub(crate) fn refusal(response: &HttpResponse) -> Option<HttpFault> {
    let challenge = response.headers.get(WWW_AUTHENTICATE)?.to_str().unwrap_or_default().to_owned();
    match response.status {
        StatusCode::UNAUTHORIZED => Some(HttpFault::AuthRequired(AuthRequiredError::new(challenge))),
        StatusCode::FORBIDDEN => {
            Some(HttpFault::InsufficientScope(InsufficientScopeError::new(challenge, None)))
        }
        _ => None,
    }
}

pub(super) fn status_error(response: &HttpResponse) -> Option<HttpFault> {
    let status = response.status;
    if status != StatusCode::TOO_MANY_REQUESTS && !status.is_server_error() {
        return None;
    }
    let pause = response.headers.get(RETRY_AFTER).and_then(|pause| pause.to_str().ok()).map(str::to_owned);
    Some(HttpStatusError::new(status.as_u16(), pause).into())
}

/// Returns the media type as written, without parameters; empty if there is none.
pub(crate) fn media_type(response: &HttpResponse) -> &str {
    let kind = response.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim()
}

/// Ignores the case of letters.
pub(super) fn has_media_type(response: &HttpResponse, expected: &str) -> bool {
    media_type(response).eq_ignore_ascii_case(expected)
}
