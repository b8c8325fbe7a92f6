//! The body of an HTTP request. The SDK reads it after it has checked the headers.

use super::raw_arguments::RawArguments;
use super::scopes::{is_granted, scopes_of};
use super::server_settings::ServerSettings;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::StatusCode;
use axum::http::request::Parts;
use futures_util::stream;
use http_body_util::LengthLimitError;
use rmcp::model::Extensions;
use serde::Deserialize;
use std::borrow::Cow;
use std::error::Error;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::time::timeout;

/// The state of a request's body, as an extension of the request. Clones share the state.
#[derive(Clone, Default)]
pub(super) struct RequestBody(Arc<OnceLock<Received>>);

/// A body that has been read to its end.
enum Received {
    /// One message, with the arguments of a call.
    Message(Option<RawArguments>),
    /// Several messages, which the SDK does not read.
    Batch(Bytes),
    Failed(StatusCode, &'static str),
    /// The token lacks one of these scopes.
    Unauthorized(String),
}

impl RequestBody {
    /// Returns the state of a message that has been read.
    pub(super) fn of_message(text: &str) -> Self {
        Self(Arc::new(Received::Message(RawArguments::of(text.as_bytes())).into()))
    }

    /// Returns a body that reads `body` as soon as the SDK does, up to `limit` bytes and for the time `time`.
    /// `missing_scopes` returns the scopes that the client lacks.
    pub(super) fn read_later(
        &self,
        body: Body,
        limit: usize,
        time: Duration,
        missing_scopes: impl FnOnce(&[u8]) -> Option<String> + Send + 'static,
    ) -> Body {
        let state = self.0.clone();
        Body::from_stream(stream::once(async move {
            let received = match timeout(time, to_bytes(body, limit)).await {
                Ok(Ok(bytes)) => match missing_scopes(&bytes) {
                    Some(scopes) => Received::Unauthorized(scopes),
                    None if bytes.trim_ascii_start().starts_with(b"[") => Received::Batch(bytes),
                    None => {
                        let _ = state.set(Received::Message(RawArguments::of(&bytes)));
                        return Ok::<_, axum::Error>(bytes);
                    }
                },
                Ok(Err(error)) => Received::of(&error),
                Err(_) => Received::Failed(StatusCode::REQUEST_TIMEOUT, "the request did not arrive in time"),
            };
            let _ = state.set(received);
            Ok(Bytes::new())
        }))
    }

    /// Returns the arguments of the call that came with these extensions.
    pub(super) fn arguments(extensions: &Extensions) -> Option<&RawArguments> {
        let Self(state) = extensions.get::<Parts>()?.extensions.get()?;
        match state.get()? {
            Received::Message(arguments) => arguments.as_ref(),
            _ => None,
        }
    }

    pub(super) fn is_read(&self) -> bool {
        self.0.get().is_some()
    }

    /// Returns the status and the message for a body that could not be read.
    pub(super) fn failure(&self) -> Option<(StatusCode, &'static str)> {
        match self.0.get()? {
            Received::Failed(status, message) => Some((*status, message)),
            _ => None,
        }
    }

    /// Returns the scopes that the client lacks.
    pub(super) fn missing_scopes(&self) -> Option<&str> {
        match self.0.get()? {
            Received::Unauthorized(scopes) => Some(scopes),
            _ => None,
        }
    }

    pub(super) fn batch(&self) -> Option<&Bytes> {
        match self.0.get()? {
            Received::Batch(bytes) => Some(bytes),
            _ => None,
        }
    }
}

impl Received {
    fn of(error: &axum::Error) -> Self {
        let is_limit = |source: &(dyn Error + 'static)| source.is::<LengthLimitError>();
        if error.source().is_some_and(is_limit) {
            Self::Failed(StatusCode::PAYLOAD_TOO_LARGE, "the request is too large")
        } else {
            Self::Failed(StatusCode::BAD_REQUEST, "the request ended too early, or is not valid HTTP")
        }
    }
}

/// Returns the scopes that the message or the batch in `body` needs, if one of them is not in `granted`.
pub(super) fn missing_scopes(settings: &ServerSettings, granted: &str, body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        method: Option<Cow<'a, str>>,
        #[serde(borrow)]
        params: Option<Params<'a>>,
    }
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow)]
        name: Option<Cow<'a, str>>,
    }
    let messages: Vec<Message<'_>> = match serde_json::from_slice(body) {
        Ok(message) => vec![message],
        Err(_) => serde_json::from_slice(body).ok()?,
    };
    let registry = settings.dispatcher.registry();
    let names = settings.names(&registry);
    let calls = messages.into_iter().filter(|message| message.method.as_deref() == Some("tools/call"));
    let mut missing = calls.filter_map(|call| {
        let tool = registry.get(names.unspell(&call.params?.name?))?;
        let is_granted = is_granted(tool.definition(), || granted.to_owned());
        scopes_of(tool.definition()).filter(|_| !is_granted).map(str::to_owned)
    });
    missing.next()
}
