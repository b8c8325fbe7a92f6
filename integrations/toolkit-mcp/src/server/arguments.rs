//! The arguments of a call as JSON text.

use rmcp::model::{Extensions, JsonObject};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;

/// The arguments of a request as the client wrote them, stored with the parsed request.
#[derive(Debug, Clone)]
pub(super) struct RawArguments(pub(super) Arc<str>);

/// Returns the member `arguments` of a `tools/call` request as it is written in `message`.
pub(super) fn raw_arguments(message: &[u8]) -> Option<Arc<str>> {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        params: Params<'a>,
    }
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow)]
        arguments: Option<&'a RawValue>,
    }
    let message: Message<'_> = serde_json::from_slice(message).ok()?;
    message.params.arguments.map(|arguments| arguments.get().into())
}

/// Returns the arguments as JSON text: the text that the client wrote, if the transport has stored it, or else the
/// parsed arguments.
pub(super) fn text(extensions: &Extensions, parsed: Option<JsonObject>) -> Arc<str> {
    let raw: Option<&RawArguments> = extensions.get();
    #[cfg(feature = "server-http")]
    let raw = raw.or_else(|| extensions.get::<axum::http::request::Parts>()?.extensions.get());
    if let Some(RawArguments(text)) = raw {
        return text.clone();
    }
    match parsed {
        None => "{}".into(),
        Some(arguments) => Value::Object(arguments).to_string().into(),
    }
}
