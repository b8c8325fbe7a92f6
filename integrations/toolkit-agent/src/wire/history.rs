//! The conversation as the messages of a request.

use crate::message::Message;
use crate::model::ModelRequest;
use serde_json::Value;
use toolkit_core::name::WireNames;
use toolkit_wire::ApiFormat;

/// What was said, with an answer to every call: what the model said through the same API goes back as it came.
pub(super) fn messages(format: ApiFormat, request: &ModelRequest, names: &WireNames) -> Vec<Value> {
    let writer = format.history(names);
    let messages = request.messages.iter().flat_map(|message| match message {
        Message::User(said) => vec![format.encode_user(&said.content)],
        Message::Assistant(said) => match &said.native {
            Some(native) if native.format == format.name() => native.messages.clone(),
            _ => writer.encode_assistant(&said.text, &said.calls),
        },
        Message::Tool(given) => writer.encode_results(&given.results),
    });
    format.repair_history(messages.collect())
}
