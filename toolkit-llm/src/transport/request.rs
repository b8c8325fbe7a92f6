//! The body of a request.

use super::{extra, settings};
use crate::definitions::{DefinitionLoss, DefinitionOptions};
use crate::facts::{ApiFormat, Server};
use crate::format::HistoryWriter;
use crate::hosted::HostedTool;
use crate::json::fields::list;
use crate::message::{Message, NativeMessages};
use crate::model::ModelRequest;
use crate::request::{InstructionsField, RequestBuilder};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use toolkit_core::ToolConfig;
use toolkit_core::name::WireNames;
use toolkit_core::schema::SchemaLoss;

/// The body of a request, and what the API cannot express of the request.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct EncodedRequest {
    /// The JSON body.
    pub body: Map<String, Value>,
    /// The parts of the request that the API cannot express.
    ///
    /// Paths are `/options/…` for options, `/tool_use/…` for tool settings, and `/messages/3…` for the
    /// message with the index 3. For a tool definition, the path is `/tools/`, the name of the tool, and the
    /// path in the definition.
    pub losses: Vec<SchemaLoss>,
}

/// Returns the JSON body of a request, and the losses. With `stream`, it asks for a streamed answer.
///
/// For Gemini, the body contains neither `model` nor `stream`: both belong in the URL.
///
/// ```
/// use toolkit_ai::llm::{Message, ModelOptions, ModelRequest, transport};
/// use toolkit_ai::llm::model::Thinking;
/// use toolkit_ai::llm::ApiFormat;
///
/// let options = ModelOptions::new().with_thinking(Thinking::Budget(4_000)).with_seed(7);
/// let request = ModelRequest::new([Message::user("hi")]).with_options(options);
/// let encoded = transport::encode_request(ApiFormat::Anthropic, "claude-sonnet-4-5", &request, false);
/// assert_eq!(encoded.body["thinking"]["budget_tokens"], 4_000);
/// assert_eq!(encoded.losses[0].path, "/options/seed"); // Anthropic has no seed
/// ```
#[must_use]
pub fn encode_request(
    format: ApiFormat,
    model: &str,
    request: &ModelRequest,
    stream: bool,
) -> EncodedRequest {
    encode_for(Server::Own, format, model, request, stream)
}

/// Encodes a request in the form that the server accepts.
pub(super) fn encode_for(
    server: Server,
    format: ApiFormat,
    model: &str,
    request: &ModelRequest,
    stream: bool,
) -> EncodedRequest {
    let server = match server {
        Server::Own if request.options.standard_fields => Server::Standard,
        server => server,
    };
    let facts = format.request_facts(server);
    let mut builder = RequestBuilder::new(format, facts, server, model, request);
    if let Some(field) = facts.model {
        builder.set(field.path, field.value.unwrap_or(model));
        if stream || field.streams_by_default {
            builder.set("/stream", stream);
        }
    }
    let names = request.tools.wire_names(&format);
    let mut messages = history(&mut builder, &names);
    let instructions = request.instructions.as_str();
    if let InstructionsField::Message = facts.instructions
        && !instructions.is_empty()
    {
        messages.insert(0, json!({"role": "system", "content": instructions}));
    }
    builder.set(format.facts().fields.messages, messages);
    if let InstructionsField::Field(path, content) = facts.instructions
        && !instructions.is_empty()
    {
        builder.set(path, content(instructions));
    }
    (facts.write_own)(&mut builder, stream);
    tools(&mut builder, &names);
    settings::write(&mut builder);
    let RequestBuilder { mut body, mut losses, server, .. } = builder;
    extra::merge(&mut body, &request.options.extra, facts.has_two_spellings);
    // The user's own fields may name stored messages, so the repair comes last.
    losses.extend(format.repair_request(&mut body));
    if let (Server::Mistral, Some(Value::Array(messages))) = (server, body.get_mut("messages")) {
        let writer = format.history(&names).with_mistral(true);
        *messages = writer.separate_results(std::mem::take(messages));
    }
    EncodedRequest { body, losses }
}

/// Writes all tools and the tool settings into the body.
fn tools(builder: &mut RequestBuilder<'_>, names: &WireNames) {
    let format = builder.format;
    let request = builder.request;
    let hosted = &request.options.hosted;
    let how = DefinitionOptions::default()
        .with_inline_references(request.options.inline_references)
        .with_standard_fields(builder.server.has_standard_tools());
    let configured = format.with_options(how);
    let mut definitions = request.tools.definitions(configured.clone());
    if !hosted.is_empty() {
        definitions = definitions.with_hosted(hosted);
    }
    let wanted = if request.tools.is_empty() {
        ToolConfig::default()
    } else {
        request.tool_use.clone().with_kinds_of(request.tools.iter_definitions())
    };
    let config = configured.encode_tool_config(&wanted, names);
    format.set_tools(&mut builder.body, &definitions, &config);
    builder.body.extend(HostedTool::request_fields(hosted, format));
    for mut loss in config.losses {
        loss.path.insert_str(0, "/tool_use");
        builder.losses.push(loss);
    }
    for DefinitionLoss { tool, loss } in &definitions.report().losses {
        let path = format!("/tools/{tool}{}", loss.path);
        builder.losses.push(SchemaLoss::new(path, loss.keyword.as_str(), loss.reason.as_str()));
    }
}

/// Encodes the messages. Assistant messages from the same API are sent back unchanged.
fn history(builder: &mut RequestBuilder<'_>, names: &WireNames) -> Vec<Value> {
    let format = builder.format;
    let request = builder.request;
    let is_mistral = builder.server == Server::Mistral;
    let writer = format.history(names).with_model(builder.model).with_mistral(is_mistral);
    let new = (builder.facts.stored.new_messages)(request);
    let mut messages = Vec::new();
    for (index, message) in request.messages.iter().enumerate().skip(request.messages.len() - new.len()) {
        let losses = match message {
            Message::User(message) => {
                messages.push(writer.encode_user(&message.content));
                writer.user_losses(&message.content)
            }
            Message::Assistant(message) => {
                let losses = writer.call_losses(&message.calls);
                // Mistral refuses call ids of other servers with the same API.
                let may_resend = !is_mistral || losses.is_empty();
                match &message.native {
                    Some(native) if may_resend && native.format == format.name() => {
                        messages.extend((builder.facts.stored.resent)(request, native));
                        Vec::new()
                    }
                    native => {
                        messages.extend(writer.encode_assistant(&message.text, &message.calls));
                        [losses, native_losses(&writer, native.as_ref())].concat()
                    }
                }
            }
            Message::Tool(message) => {
                messages.extend(writer.encode_results(&message.results));
                writer.result_losses(&message.results)
            }
        };
        for mut loss in losses {
            loss.path.insert_str(0, &format!("/messages/{index}"));
            builder.losses.push(loss);
        }
    }
    messages
}

/// Returns the losses when a message becomes text and calls.
#[must_use]
pub fn native_losses(writer: &HistoryWriter<'_>, native: Option<&NativeMessages>) -> Vec<SchemaLoss> {
    let Some(native) = native else { return Vec::new() };
    if let Ok(format) = native.format.parse::<ApiFormat>() {
        return writer.native_losses(format, &native.messages);
    }
    // The client for `genai` writes parts as objects with a single field. Other formats are unknown.
    if !native.format.starts_with("genai:") {
        return Vec::new();
    }
    let mut kinds = BTreeSet::new();
    for part in native.messages.iter().flat_map(|message| list(message, "content")) {
        let Value::Object(fields) = part else { continue };
        if let Some(kind) = fields.keys().next()
            && matches!(kind.as_str(), "Binary" | "Custom")
        {
            kinds.insert(kind.as_str());
        }
    }
    let reason = "the message is replaced by its text and its calls";
    let mut losses = Vec::with_capacity(kinds.len());
    for kind in kinds {
        losses.push(SchemaLoss::new(format!("/{kind}"), kind, reason));
    }
    losses
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{AssistantMessage, ToolMessage};
    use toolkit_core::{ToolCall, ToolOutput, ToolResult};

    /// A cancelled turn leaves a call without a result.
    #[test]
    fn mistral_gets_a_message_of_the_model_between_results_and_the_user() {
        let calls = vec![ToolCall::new("a1b2c3d4e", "now", "{}")];
        let assistant = AssistantMessage { calls, ..AssistantMessage::default() };
        let messages = [Message::user("When?"), Message::Assistant(assistant), Message::user("Go on.")];
        let request = ModelRequest::new(messages);
        for (server, expected) in [
            (Server::Mistral, vec!["user", "assistant", "tool", "assistant", "user"]),
            (Server::Own, vec!["user", "assistant", "tool", "user"]),
        ] {
            let encoded = encode_for(server, ApiFormat::OpenAiChat, "m", &request, false);
            let body = Value::from(encoded.body);
            let roles = body["messages"].as_array().into_iter().flatten();
            let roles: Vec<&str> = roles.filter_map(|message| message["role"].as_str()).collect();
            assert_eq!(roles, expected, "{body}");
        }
    }

    #[test]
    fn mistral_gets_ids_of_nine_characters_for_calls_of_other_servers() {
        for id in ["call_Ab12", "a1b2c3d4e"] {
            let calls = vec![ToolCall::new(id, "now", "{}")];
            let mut writer = ApiFormat::OpenAiChat.history(&WireNames::default()).encode_calls(&calls);
            writer[0]["annotations"] = json!([{"type": "url_citation"}]);
            let assistant = AssistantMessage {
                native: Some(NativeMessages::new(ApiFormat::OpenAiChat.name(), writer)),
                calls,
                ..AssistantMessage::default()
            };
            let result = ToolResult::new(id.into(), "now", Ok(ToolOutput::text("noon")));
            let messages = [
                Message::user("When?"),
                Message::Assistant(assistant),
                Message::Tool(ToolMessage::new(vec![result])),
            ];
            let request = ModelRequest::new(messages);
            let encoded = encode_for(Server::Mistral, ApiFormat::OpenAiChat, "m", &request, false);
            let body = Value::from(encoded.body);
            let called = body["messages"][1]["tool_calls"][0]["id"].as_str();
            let is_nine = |id: &str| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
            assert!(called.is_some_and(is_nine), "{body}");
            assert_eq!(called, body["messages"][2]["tool_call_id"].as_str());
            let lost = encoded.losses.iter().any(|loss| loss.path == "/messages/1/annotations");
            assert_eq!(
                (lost, encoded.losses.is_empty()),
                (called != Some(id), called == Some(id)),
                "{:?}",
                encoded.losses
            );
        }
    }
}
