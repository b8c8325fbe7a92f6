//! The body of an HTTP request. The SDK reads it after it has checked the headers.

use super::auth::{is_granted, scopes_of};
use super::protocol::RawArguments;
use super::server_settings::{HttpSettings, ServerSettings};
use bytes::Bytes;
use futures_util::stream;
use http::request::Parts;
use rmcp::model::Extensions;
use serde::Deserialize;
use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::{Arc, OnceLock};
use toolkit_http::server::{HttpBody, Refusal};

/// The state of a request's body, an extension of the request. Clones share it.
#[derive(Clone, Default)]
pub(super) struct RequestBody(Arc<OnceLock<Received>>);

/// A body that has been read to its end.
pub(super) enum Received {
    /// One message, with the arguments of a call.
    Message(Option<RawArguments>),
    /// Several messages, which the SDK does not read.
    Batch(Bytes),
    Failed(Refusal),
    /// The token lacks one of these scopes.
    Unauthorized(String),
}

impl RequestBody {
    pub(super) fn of_message(text: &str) -> Self {
        Self(Arc::new(Received::Message(RawArguments::from_body(text.as_bytes())).into()))
    }

    /// Returns a body that reads `body` as soon as the SDK does, within the limits of the guards. `granted`
    /// has the scopes of the client, if its token has scopes.
    pub(super) fn read_later(
        &self,
        body: HttpBody,
        settings: Arc<ServerSettings>,
        granted: Option<String>,
    ) -> HttpBody {
        let state = self.0.clone();
        HttpBody::from_stream(stream::once(async move {
            let HttpSettings { guards, oauth, .. } = &settings.http;
            let read = if oauth.is_some() {
                guards.read_authenticated_body(body).await
            } else {
                guards.read_body(body).await
            };
            let received = match read {
                Ok(bytes) => match missing_scopes(&settings, granted.as_deref(), &bytes) {
                    Some(scopes) => Received::Unauthorized(scopes),
                    None if bytes.trim_ascii_start().starts_with(b"[") => Received::Batch(bytes),
                    None => {
                        let _ = state.set(Received::Message(RawArguments::from_body(&bytes)));
                        return Ok::<_, Infallible>(bytes);
                    }
                },
                Err(refusal) => Received::Failed(refusal),
            };
            let _ = state.set(received);
            Ok(Bytes::new())
        }))
    }

    pub(super) fn arguments(extensions: &Extensions) -> Option<&RawArguments> {
        let Self(state) = extensions.get::<Parts>()?.extensions.get()?;
        if let Received::Message(arguments) = state.get()? { arguments.as_ref() } else { None }
    }

    /// Returns what was received; `None` until the body is read.
    pub(super) fn received(&self) -> Option<&Received> {
        self.0.get()
    }
}

/// Returns the scopes that `body` needs, if one of them is not in `granted`.
fn missing_scopes(settings: &ServerSettings, granted: Option<&str>, body: &[u8]) -> Option<String> {
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
    let granted = granted?;
    let messages: Vec<Message<'_>> = match serde_json::from_slice(body) {
        Ok(message) => vec![message],
        Err(_) => serde_json::from_slice(body).ok()?,
    };
    let registry = settings.dispatcher.registry();
    let names = settings.names(&registry);
    for message in messages {
        if message.method.as_deref() != Some("tools/call") {
            continue;
        }
        let Some(Params { name: Some(name) }) = message.params else { continue };
        let Some(tool) = registry.get(names.unspell(&name)) else { continue };
        if !is_granted(tool.definition(), || granted.to_owned()) {
            return scopes_of(tool.definition()).map(str::to_owned);
        }
    }
    None
}
