//! Requests of the Responses API: server state, background answers and encrypted reasoning.
//!
//! By default, the provider stores nothing: a response contains the encrypted reasoning, and later requests
//! send it back. With server state, the provider stores the responses, and requests contain only new
//! messages.

use crate::apis::openai::request::{OPENAI, TIERS, write_effort};
use crate::facts::Server;
use crate::message::{Message, NativeMessages};
use crate::model::{ModelRequest, ServerState, Thinking};
use crate::request::{
    AnswerFacts, InstructionsField, OptionFields, OutputForm, RequestBuilder, RequestFacts, StoredMessages,
};
use serde_json::{Value, json};

static FACTS: RequestFacts = RequestFacts {
    instructions: InstructionsField::Field("/instructions", |text| text.into()),
    options: OptionFields {
        paths: ["temperature", "top_p", "max_output_tokens", "", "", "metadata", "safety_identifier"],
        ..OPENAI.options
    },
    output: OutputForm { write: write_output, ..OPENAI.output },
    write_thinking,
    tiers: Some(TIERS),
    write_own: |builder, _| write_state(builder),
    stored: StoredMessages { keeps_conversations: true, new_messages, resent },
    answers: AnswerFacts { signs_thinking: true, ..OPENAI.answers },
    ..OPENAI
};

pub(crate) fn facts(_: Server) -> &'static RequestFacts {
    &FACTS
}

fn write_output(builder: &mut RequestBuilder<'_>, name: &str, schema: Value) {
    let format = json!({"type": "json_schema", "name": name, "strict": true, "schema": schema});
    builder.set("/text/format", format);
}

fn write_thinking(builder: &mut RequestBuilder<'_>) {
    if builder.request.options.show_thinking {
        builder.set("/reasoning/summary", "auto");
    }
    write_effort(builder, "/reasoning/effort");
}

fn is_of_this_api(native: &NativeMessages) -> bool {
    native.format == super::FACTS.name
}

/// Returns the JSON of a stored assistant message to which the request can refer.
fn stored<'a>(request: &'a ModelRequest, message: &'a Message) -> Option<&'a NativeMessages> {
    let Message::Assistant(answer) = message else { return None };
    let native = answer.native.as_ref()?;
    if !is_of_this_api(native) || native.response_id.is_none() {
        return None;
    }
    match request.options.server_state.as_ref()? {
        ServerState::Responses => Some(native),
        ServerState::Conversation(id) if native.conversation.as_ref() == Some(id) => Some(native),
        ServerState::Conversation(_) => None,
    }
}

/// Returns the messages after the latest stored response, or all without server state.
fn new_messages(request: &ModelRequest) -> &[Message] {
    let messages = &request.messages[..];
    match messages.iter().rposition(|message| stored(request, message).is_some()) {
        Some(latest) => &messages[latest + 1..],
        None => messages,
    }
}

fn write_state(builder: &mut RequestBuilder<'_>) {
    let request = builder.request;
    let options = &request.options;
    if options.background {
        builder.set("/background", true);
    }
    // The provider must store the answer of a background request to hand it over.
    builder.set("/store", options.server_state.is_some() || options.background);
    match &options.server_state {
        None if is_reasoning(request) && !options.background => {
            builder.set("/include", json!(["reasoning.encrypted_content"]));
        }
        None => {}
        Some(ServerState::Conversation(id)) => builder.set("/conversation", id.as_str()),
        Some(ServerState::Responses) => {
            let latest = request.messages.iter().rev().find_map(|message| stored(request, message));
            if let Some(NativeMessages { response_id: Some(id), .. }) = latest {
                builder.set("/previous_response_id", id.as_str());
            }
        }
    }
}

/// Returns whether the model reasons, by the option `thinking` or the earlier messages.
///
/// Models that do not reason refuse requests for encrypted reasoning.
fn is_reasoning(request: &ModelRequest) -> bool {
    if let Some(thinking) = request.options.thinking {
        return thinking != Thinking::Off;
    }
    for message in &request.messages {
        if let Message::Assistant(answer) = message
            && let Some(native) = &answer.native
            && is_of_this_api(native)
            && (answer.usage.reasoning_tokens > 0 || native.messages.iter().any(is_reasoning_item))
        {
            return true;
        }
    }
    false
}

fn is_reasoning_item(item: &Value) -> bool {
    item.get("type").is_some_and(|kind| kind == "reasoning")
}

/// Returns the items of a received message for the next request.
///
/// The service refuses reasoning without encrypted content that it has not stored, so this is left out. So
/// are the ids of all later items: for a known id, the service would require the missing reasoning.
fn resent(request: &ModelRequest, native: &NativeMessages) -> Vec<Value> {
    if native.response_id.is_some() && request.options.server_state.is_some() {
        return native.messages.clone();
    }
    let mut items = Vec::with_capacity(native.messages.len());
    let mut is_cut = false;
    for item in &native.messages {
        // Servers other than OpenAI send the reasoning itself.
        if is_reasoning_item(item) && !has(item, "encrypted_content") && !has(item, "content") {
            is_cut = true;
            continue;
        }
        let mut resent = item.clone();
        if is_cut && let Some(fields) = resent.as_object_mut() {
            fields.shift_remove("id");
        }
        items.push(resent);
    }
    items
}

fn has(item: &Value, name: &str) -> bool {
    match item.get(name) {
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(parts)) => !parts.is_empty(),
        _ => false,
    }
}
