//! The arguments of calls as clients write them.

use rmcp::model::{CallToolRequest, CallToolRequestParams, InputResponses, JsonObject, RequestMetaObject};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;

/// The arguments of a call as the client wrote them, so that the tool reads all digits of their numbers.
#[derive(Debug, Clone)]
pub(crate) struct RawArguments(Arc<str>);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallParams<'a> {
    #[serde(rename = "_meta")]
    meta: Option<JsonObject>,
    name: String,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    input_responses: Option<InputResponses>,
    request_state: Option<String>,
}

impl RawArguments {
    #[cfg(feature = "server-http")]
    pub(crate) fn from_body(body: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Body<'a> {
            #[serde(borrow)]
            params: Params<'a>,
        }
        #[derive(Deserialize)]
        struct Params<'a> {
            #[serde(borrow)]
            arguments: Option<&'a RawValue>,
        }
        let body: Body<'_> = serde_json::from_slice(body).ok()?;
        Some(Self(body.params.arguments?.get().into()))
    }

    #[cfg(test)]
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the arguments as written if the transport has stored them, or else the parsed ones.
    pub(crate) fn text(raw: Option<&Self>, parsed: Option<JsonObject>) -> Arc<str> {
        match (raw, parsed) {
            (Some(Self(text)), _) => text.clone(),
            (None, None) => "{}".into(),
            (None, Some(arguments)) => Value::Object(arguments).to_string().into(),
        }
    }
}

/// Reads the parameters of a call; `None` if they are malformed.
pub(crate) fn call(params: &str) -> Option<CallToolRequest> {
    let params: CallParams<'_> = serde_json::from_str(params).ok()?;
    if params.arguments.is_some_and(|arguments| !arguments.get().starts_with('{')) {
        return None;
    }
    let mut request = CallToolRequest::new(CallToolRequestParams::new(params.name));
    request.params.input_responses = params.input_responses;
    request.params.request_state = params.request_state;
    if let Some(meta) = params.meta {
        request.extensions.insert(RequestMetaObject::from(meta));
    }
    if let Some(arguments) = params.arguments {
        request.extensions.insert(RawArguments(arguments.get().into()));
    }
    Some(request)
}
