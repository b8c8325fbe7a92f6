//! Server state and reasoning in requests, and the containers in which a provider runs code.
//!
//! By default, the provider of the Responses API stores nothing. A response then contains the encrypted reasoning, and
//! later requests send it back. With server state, the provider stores the responses, and requests contain only the new
//! messages.

use super::draft::Draft;
use crate::ApiFormat;
use crate::message::{Message, NativeMessages};
use crate::model::{ModelRequest, ServerState, Thinking};
use serde_json::{Value, json};

/// Returns the JSON of an assistant message as received, if the provider has stored the message and the request can
/// refer to it.
fn stored<'a>(request: &'a ModelRequest, message: &'a Message) -> Option<&'a NativeMessages> {
    let Message::Assistant(message) = message else { return None };
    let native = message.native.as_ref().filter(|native| {
        native.format == ApiFormat::OpenAiResponses.name() && native.response_id.is_some()
    })?;
    match request.options.server_state.as_ref()? {
        ServerState::Responses => Some(native),
        ServerState::Conversation(id) => (native.conversation.as_ref() == Some(id)).then_some(native),
    }
}

/// Returns the messages after the latest response that the provider has stored. Without server state, returns
/// all messages.
pub(super) fn new_messages(format: ApiFormat, request: &ModelRequest) -> &[Message] {
    let messages = &request.messages[..];
    if format != ApiFormat::OpenAiResponses {
        return messages;
    }
    let latest = messages.iter().rposition(|message| stored(request, message).is_some());
    latest.and_then(|at| messages.get(at + 1..)).unwrap_or(messages)
}

/// Writes the id of the container in which Anthropic runs code for the current turn. While code waits for results, the
/// provider refuses a request without this id.
///
/// Only messages after the latest user message count. No code waits in an earlier container, and it may have expired.
fn container(draft: &mut Draft<'_>) {
    let turn = draft.request.messages.rsplit(|message| matches!(message, Message::User(_))).next();
    let native = turn.unwrap_or_default().iter().rev().filter_map(|message| match message {
        Message::Assistant(message) => message.native.as_ref(),
        _ => None,
    });
    let mut native = native.take_while(|native| native.format == ApiFormat::Anthropic.name());
    let id = native.find_map(|native| native.container.as_deref());
    let Some(id) = id else { return };
    // The program may load skills into the container. They are beside the id.
    let has_skills = draft.request.options.extra.get("container").is_some_and(Value::is_object);
    draft.set(if has_skills { "/container/id" } else { "/container" }, id);
}

/// Writes the request fields for server state and reasoning.
pub(super) fn write(draft: &mut Draft<'_>) {
    let (request, options) = (draft.request, &draft.request.options);
    if draft.format == ApiFormat::Anthropic {
        container(draft);
    }
    if draft.format == ApiFormat::GeminiInteractions {
        // The history contains all steps, so the provider need not store them.
        draft.set("/store", false);
    }
    if draft.format != ApiFormat::OpenAiResponses {
        if options.server_state.is_some() {
            draft.lose("server_state", "the API keeps no conversations, so the whole history is sent");
        }
        if options.background {
            draft.lose("background", "the API has no background mode");
        }
        return;
    }
    if options.background {
        draft.set("/background", true);
    }
    // The provider can hand over the answer of a background request only if it stores the answer.
    draft.set("/store", options.server_state.is_some() || options.background);
    match &options.server_state {
        None if is_reasoning(request) && !options.background => {
            draft.set("/include", json!(["reasoning.encrypted_content"]));
        }
        None => {}
        Some(ServerState::Conversation(id)) => draft.set("/conversation", id.as_str()),
        Some(ServerState::Responses) => {
            let mut latest = request.messages.iter().rev().filter_map(|message| stored(request, message));
            if let Some(id) = latest.next().and_then(|native| native.response_id.as_deref()) {
                draft.set("/previous_response_id", id);
            }
        }
    }
}

/// Returns whether the model reasons, as set by the option `thinking`. Without this option, returns whether the model
/// has reasoned before. Models that do not reason refuse requests for encrypted reasoning.
fn is_reasoning(request: &ModelRequest) -> bool {
    match request.options.thinking {
        Some(thinking) => thinking != Thinking::Off,
        None => {
            let messages = request.messages.iter();
            messages
                .filter_map(|message| match message {
                    Message::Assistant(message) => Some((message, message.native.as_ref()?)),
                    _ => None,
                })
                .filter(|(_, native)| native.format == ApiFormat::OpenAiResponses.name())
                .any(|(message, native)| {
                    message.usage.reasoning_tokens > 0 || native.messages.iter().any(is_reasoning_item)
                })
        }
    }
}

fn is_reasoning_item(item: &Value) -> bool {
    item.get("type").is_some_and(|kind| kind == "reasoning")
}

/// Returns the items of a received message in a form suitable for the next request.
///
/// The service refuses a reasoning item without encrypted content, unless the service has stored the item.
/// Such a reasoning item is left out. The ids of all later items are left out too: for an item with a known
/// id, the service would require the missing reasoning.
pub(super) fn sendable(format: ApiFormat, request: &ModelRequest, native: &NativeMessages) -> Vec<Value> {
    let is_kept = native.response_id.is_some() && request.options.server_state.is_some();
    if format != ApiFormat::OpenAiResponses || is_kept {
        return native.messages.clone();
    }
    let has = |item: &Value, name: &str| match item.get(name) {
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(parts)) => !parts.is_empty(),
        _ => false,
    };
    let mut items = Vec::with_capacity(native.messages.len());
    let mut is_cut = false;
    for item in &native.messages {
        // Servers other than OpenAI send the reasoning itself.
        if is_reasoning_item(item) && !has(item, "encrypted_content") && !has(item, "content") {
            is_cut = true;
            continue;
        }
        let mut item = item.clone();
        if let Some(fields) = item.as_object_mut().filter(|_| is_cut) {
            fields.shift_remove("id");
        }
        items.push(item);
    }
    items
}
