//! Conversion of requests to `genai`.

use crate::settings::Settings;
use genai::adapter::AdapterKind;
use genai::chat::{
    Binary, CacheControl, ChatMessage, ChatOptions, ChatRequest, ChatResponseFormat, ContentPart, JsonSpec,
    ReasoningEffort, ServiceTier, Tool, ToolCall, ToolChoice, ToolResponse,
};
use serde_json::{Map, Value};
use toolkit_core as core;
use toolkit_core::name::WireNames;
use toolkit_core::output::MediaData;
use toolkit_core::schema::SchemaLoss;
use toolkit_core::{Content, Media, ToolOutput, ToolResult};
use toolkit_llm::hosted::HostedTool;
use toolkit_llm::model::{RequestLoss, Thinking};
use toolkit_llm::transport::native_losses;
use toolkit_llm::{ApiFormat, DefinitionLoss, DefinitionOptions, Definitions};
use toolkit_llm::{AssistantMessage, Message};
use toolkit_llm::{ModelRequest, model as service};

/// The rules for tool names, valid for all providers.
const NAMES: ApiFormat = ApiFormat::OpenAiChat;
/// The rules for schemas, which `genai` adapts to each provider.
const SCHEMAS: ApiFormat = ApiFormat::Anthropic;

/// Returns the format name of messages of this API.
pub(super) fn native_format(adapter: AdapterKind) -> String {
    format!("genai:{adapter}")
}

pub(super) fn names(request: &ModelRequest) -> WireNames {
    request.tools.wire_names(&NAMES)
}

pub(super) fn chat(request: &ModelRequest, adapter: AdapterKind) -> ChatRequest {
    let names = names(request);
    let mut messages = Vec::new();
    for message in request.messages.iter() {
        match message {
            Message::User(said) => messages.push(ChatMessage::user(parts(&said.content))),
            Message::Assistant(said) => messages.push(assistant(said, &names, adapter)),
            Message::Tool(given) => messages.extend(results(&given.results, &names)),
        }
    }
    let mut chat = ChatRequest::new(messages);
    if !request.instructions.is_empty() {
        chat = chat.with_system(request.instructions.as_str());
    }
    let tools = tools(request, &names);
    if !tools.is_empty() {
        chat = chat.with_tools(tools);
    }
    chat
}

fn parts(contents: &[Content]) -> Vec<ContentPart> {
    contents.iter().map(part).collect()
}

fn part(content: &Content) -> ContentPart {
    let binary = match content {
        Content::Image(media) | Content::Audio(media) | Content::File(media) => binary(media),
        _ => None,
    };
    match binary {
        Some(binary) => ContentPart::Binary(binary),
        None => ContentPart::Text(content.to_text().into_owned()),
    }
}

fn binary(media: &Media) -> Option<Binary> {
    let kind = media.media_type.as_str();
    let name = media.name.clone();
    match &media.data {
        MediaData::Base64(data) => Some(Binary::from_base64(kind, data.as_str(), name)),
        MediaData::Url(url) => Some(Binary::from_url(kind, url.as_str(), name)),
    }
}

/// Encodes an assistant message, with the unchanged JSON of an answer from the same API.
fn assistant(said: &AssistantMessage, names: &WireNames, adapter: AdapterKind) -> ChatMessage {
    if let Some(native) = &said.native
        && native.format == native_format(adapter)
        && let Some(message) = native.messages.first()
        && let Ok(message) = serde_json::from_value(message.clone())
    {
        return message;
    }
    let mut parts = Vec::new();
    if !said.text.is_empty() {
        parts.push(ContentPart::Text(said.text.clone()));
    }
    for call in &said.calls {
        parts.push(ContentPart::ToolCall(call_of(call, names)));
    }
    ChatMessage::assistant(parts)
}

fn call_of(call: &core::ToolCall, names: &WireNames) -> ToolCall {
    let arguments = serde_json::from_str(call.arguments.as_str()).unwrap_or_default();
    ToolCall {
        call_id: call.id.as_str().to_owned(),
        fn_name: names.spell(&call.name).to_owned(),
        fn_arguments: sendable(arguments),
        thought_signatures: None,
    }
}

/// Replaces arguments that are not an object with an empty one. A provider would refuse them, and the result
/// of the call reports the error.
pub(super) fn sendable(arguments: Value) -> Value {
    if arguments.is_object() { arguments } else { Map::new().into() }
}

/// Encodes the results as a tool message. Images and files follow in a user message.
fn results(results: &[ToolResult], names: &WireNames) -> Vec<ChatMessage> {
    let mut texts = Vec::with_capacity(results.len());
    let mut media = Vec::new();
    for result in results {
        let response = ToolResponse::new(result.call_id.as_str(), result.to_text());
        texts.push(ContentPart::ToolResponse(response.with_fn_name(names.spell(&result.name))));
        for content in result.output().map_or(&[][..], ToolOutput::content) {
            if let part @ ContentPart::Binary(_) = part(content) {
                media.push(part);
            }
        }
    }
    let mut messages = vec![ChatMessage::tool(texts)];
    if !media.is_empty() {
        messages.push(ChatMessage::user(media));
    }
    messages
}

/// Returns the definitions without references.
fn definitions(request: &ModelRequest) -> Definitions {
    // Not all providers behind `genai` follow references.
    let inlined = SCHEMAS.with_options(DefinitionOptions::default().with_inline_references(true));
    request.tools.definitions(inlined)
}

fn tools(request: &ModelRequest, names: &WireNames) -> Vec<Tool> {
    if request.tools.is_empty() {
        return Vec::new();
    }
    let spelled = request.tools.wire_names(&SCHEMAS);
    let definitions = definitions(request).to_value();
    let mut tools = Vec::new();
    for definition in definitions.as_array().into_iter().flatten() {
        let Some(Value::String(name)) = definition.get("name") else { continue };
        let Some(schema) = definition.get("input_schema") else { continue };
        let own_name = spelled.unspell(name);
        if !is_allowed(own_name, &request.tool_use.choice) {
            continue;
        }
        let mut tool = Tool::new(names.spell(own_name)).with_schema(schema.clone());
        if let Some(Value::String(text)) = definition.get("description") {
            tool = tool.with_description(text);
        }
        tools.push(tool);
    }
    tools
}

/// Returns the options and tools that `genai` cannot send.
pub(super) fn losses(request: &ModelRequest, adapter: AdapterKind) -> Vec<RequestLoss> {
    let options = &request.options;
    let cache = options.prompt_cache.as_ref();
    let settings = [
        ("metadata", !options.metadata.is_empty()),
        ("user_id", options.user_id.is_some()),
        ("server_state", options.server_state.is_some()),
        ("background", options.background),
        ("show_thinking", options.show_thinking),
        ("standard_fields", options.standard_fields),
        ("prompt_cache/points", cache.is_some_and(|cache| !cache.points.is_empty())),
        ("service_tier", options.service_tier.as_ref().is_some_and(|wanted| tier(wanted).is_none())),
        ("thinking", options.thinking.is_some_and(|wanted| effort(wanted).is_none())),
    ];
    let mut losses = Vec::new();
    for (option, is_set) in settings {
        if is_set {
            losses.push(SchemaLoss::new(format!("/options/{option}"), option, UNSENT));
        }
    }
    for name in options.hosted.iter().map(HostedTool::name) {
        losses.push(SchemaLoss::new(format!("/tools/{name}"), name, UNSENT));
    }
    if request.tool_use.parallel.is_some() {
        losses.push(SchemaLoss::new("/tool_use/parallel", "parallel", UNSENT));
    }
    if !request.tools.is_empty() {
        let definitions = definitions(request);
        for DefinitionLoss { tool, loss, .. } in &definitions.report().losses {
            if is_allowed(tool, &request.tool_use.choice) {
                let path = format!("/tools/{tool}{}", loss.path);
                losses.push(SchemaLoss::new(path, loss.keyword.as_str(), loss.reason.as_str()));
            }
        }
    }
    let names = names(request);
    let writer = NAMES.history(&names);
    for (index, message) in request.messages.iter().enumerate() {
        let Message::Assistant(said) = message else { continue };
        let native = said.native.as_ref();
        let is_own = native.is_some_and(|native| native.format == native_format(adapter));
        // `genai` sends media items of the model only to this API.
        if is_own && adapter == AdapterKind::GeminiIx {
            continue;
        }
        let mut found = Vec::new();
        if !is_own {
            found = writer.call_losses(&said.calls);
            // `genai` has its own rules for ids.
            found.retain(|loss| loss.path.ends_with("/caller"));
        }
        found.extend(native_losses(&writer, native));
        for mut loss in found {
            loss.path.insert_str(0, &format!("/messages/{index}"));
            losses.push(loss);
        }
    }
    losses.into_iter().map(RequestLoss::from).collect()
}

const UNSENT: &str = "the crate `genai` has no such setting";

fn is_allowed(name: &str, choice: &core::ToolChoice) -> bool {
    match choice {
        core::ToolChoice::Allowed { names, .. } => names.iter().any(|allowed| allowed == name),
        _ => true,
    }
}

pub(super) fn options(request: &ModelRequest, settings: &Settings) -> ChatOptions {
    let limits = &settings.limits;
    let wanted = &request.options;
    let mut options = ChatOptions {
        temperature: wanted.temperature,
        top_p: wanted.top_p,
        max_tokens: wanted.max_output_tokens,
        stop_sequences: wanted.stop.clone(),
        seed: wanted.seed,
        tool_choice: choice(request),
        reasoning_effort: wanted.thinking.and_then(effort),
        service_tier: wanted.service_tier.as_ref().and_then(tier),
        prompt_cache_key: wanted.prompt_cache.as_ref().and_then(|cache| cache.key.clone()),
        cache_control: match &wanted.prompt_cache {
            None => None,
            Some(cache) if cache.long_lifetime => Some(CacheControl::Ephemeral1h),
            Some(_) => Some(CacheControl::Ephemeral),
        },
        ..ChatOptions::default()
    }
    .with_stream_header_timeout(limits.idle.min(limits.total))
    .with_stream_read_timeout(limits.idle)
    .with_capture_usage(true)
    .with_capture_content(true)
    .with_capture_reasoning_content(true)
    .with_capture_tool_calls(true);
    if let Some(output) = &wanted.output {
        let form = JsonSpec::new(output.name.as_str(), output.schema.clone());
        options.response_format = Some(ChatResponseFormat::JsonSpec(form));
    }
    if !wanted.extra.is_empty() {
        options.extra_body = Some(wanted.extra.clone().into());
    }
    if !settings.headers.is_empty() {
        options.extra_headers = Some(settings.headers.clone().into());
    }
    options
}

fn effort(thinking: Thinking) -> Option<ReasoningEffort> {
    match thinking {
        Thinking::Off => Some(ReasoningEffort::Zero),
        Thinking::Budget(tokens) => Some(ReasoningEffort::Budget(tokens)),
        Thinking::Effort(effort) => {
            Some(ReasoningEffort::from_keyword(effort.name()).unwrap_or(ReasoningEffort::Medium))
        }
        _ => None,
    }
}

fn tier(tier: &service::ServiceTier) -> Option<ServiceTier> {
    match tier {
        service::ServiceTier::Auto => Some(ServiceTier::Auto),
        service::ServiceTier::Standard => Some(ServiceTier::Default),
        service::ServiceTier::Flex => Some(ServiceTier::Flex),
        _ => None,
    }
}

fn choice(request: &ModelRequest) -> Option<ToolChoice> {
    if request.tools.is_empty() {
        return None;
    }
    match &request.tool_use.choice {
        core::ToolChoice::None => Some(ToolChoice::None),
        core::ToolChoice::Required | core::ToolChoice::Allowed { required: true, .. } => {
            Some(ToolChoice::Required)
        }
        core::ToolChoice::Tool(name) => Some(ToolChoice::tool(names(request).spell(name))),
        _ => None,
    }
}
