//! Requests of the Messages API: thinking, cache points and the container of a turn.

use crate::apis::claude::drop_sampling;
use crate::facts::Server;
use crate::json::fields::Fields;
use crate::message::{AssistantMessage, Message, NativeMessages};
use crate::model::{CachePoint, Effort, ModelRequest, PromptCache, Thinking};
use crate::request::cache::with_lifetime;
use crate::request::{
    AnswerFacts, CacheSupport, InstructionsField, ModelField, OptionFields, OutputForm, RequestBuilder,
    RequestFacts, Tier,
};
use serde_json::{Value, json};
use toolkit_core::ToolChoice;
use toolkit_schema::SchemaDialect;

/// The smallest thinking budget that the service accepts.
const LEAST_THINKING_TOKENS: u32 = 1_024;

static FACTS: RequestFacts = RequestFacts {
    provider: "anthropic",
    instructions: InstructionsField::Field("/system", |text| text.into()),
    options: OptionFields {
        paths: ["temperature", "top_p", "max_tokens", "stop_sequences", "", "", "metadata/user_id"],
        required_output_tokens: Some(8_192),
        ..OptionFields::PLAIN
    },
    output: OutputForm { dialect: SchemaDialect::AnthropicStrict, write: write_output, ..OutputForm::PLAIN },
    write_thinking,
    write_cache,
    tiers: Some((
        "/service_tier",
        [
            Tier::Named("auto"),
            Tier::Named("standard_only"),
            Tier::Missing,
            Tier::Nearest("auto", "the tier is `auto`: the account decides about priority"),
        ],
    )),
    write_own: |builder, _| write_container(builder),
    answers: AnswerFacts { signs_thinking: true, explains_refusals: true, ..AnswerFacts::PLAIN },
    ..RequestFacts::PLAIN
};

static VERTEX: RequestFacts = RequestFacts {
    model: Some(ModelField {
        path: "/anthropic_version",
        value: Some("vertex-2023-10-16"),
        ..ModelField::PLAIN
    }),
    ..FACTS
};

pub(crate) fn facts(server: Server) -> &'static RequestFacts {
    if server == Server::Vertex { &VERTEX } else { &FACTS }
}

fn write_output(builder: &mut RequestBuilder<'_>, _name: &str, schema: Value) {
    builder.set("/output_config/format", json!({"type": "json_schema", "schema": schema}));
}

/// Writes the id of the container in which Anthropic runs code for the current turn.
///
/// The provider requires it while code waits for results.
fn write_container(builder: &mut RequestBuilder<'_>) {
    let Some(id) = container(builder.request) else { return };
    // Skills that the program loads into the container are beside the id.
    let has_skills = builder.request.options.extra.get("container").is_some_and(Value::is_object);
    builder.set(if has_skills { "/container/id" } else { "/container" }, id);
}

/// Returns the id of the current turn's latest container.
///
/// No code waits in a container of an earlier turn, and it may have expired.
fn container(request: &ModelRequest) -> Option<&str> {
    for message in request.messages.iter().rev() {
        let native = match message {
            Message::User(_) => return None,
            Message::Assistant(answer) => answer.native.as_ref(),
            Message::Tool(_) => continue,
        };
        let Some(native) = native else { continue };
        if !is_of_this_api(native) {
            return None;
        }
        if native.container.is_some() {
            return native.container.as_deref();
        }
    }
    None
}

fn is_of_this_api(native: &NativeMessages) -> bool {
    native.format == super::FACTS.name
}

/// Sets `cache_control` before each cache point, on a tool or content block.
fn write_cache(builder: &mut RequestBuilder<'_>, cache: &PromptCache) -> CacheSupport {
    let marker = with_lifetime(json!({"type": "ephemeral"}), cache);
    if cache.points.is_empty() {
        builder.set("/cache_control", marker.clone());
    }
    for point in &cache.points {
        let part = match point {
            CachePoint::Tools => last_tool(&mut builder.body),
            CachePoint::System => builder.body.get_mut("system").and_then(last_block),
            CachePoint::History => builder.last_content().and_then(last_block),
        };
        if let Some(fields) = part.and_then(Value::as_object_mut) {
            fields.insert("cache_control".to_owned(), marker.clone());
        }
    }
    CacheSupport { key: false, lifetime: true, points: true }
}

/// Returns the last tool that is not deferred.
///
/// The API refuses cache points on deferred tools.
fn last_tool(body: &mut Fields) -> Option<&mut Value> {
    body.get_mut("tools")?.as_array_mut()?.iter_mut().rfind(|tool| tool["defer_loading"] != true)
}

/// Returns the last content block that accepts a cache point.
///
/// A string becomes a text block.
fn last_block(content: &mut Value) -> Option<&mut Value> {
    if let Value::String(text) = content {
        *content = json!([{"type": "text", "text": std::mem::take(text)}]);
    }
    content.as_array_mut()?.iter_mut().rfind(|block| accepts_cache_point(block))
}

/// Returns whether a content block accepts a cache point.
///
/// The API refuses them on thinking and on empty text.
fn accepts_cache_point(block: &Value) -> bool {
    match block["type"].as_str() {
        Some("thinking" | "redacted_thinking") => false,
        Some("text") => block["text"].as_str().is_some_and(|text| !text.is_empty()),
        _ => true,
    }
}

/// Returns whether the turn has calls without their signed thinking.
///
/// Only the native form of a message contains it, which is lost if a guardrail changes the message. Another
/// API has no such thinking. Later messages of a turn need none.
fn has_lost_thinking(request: &ModelRequest) -> bool {
    let mut has_calls = false;
    let mut first = None;
    for message in request.messages.iter().rev() {
        let answer = match message {
            Message::User(_) => break,
            Message::Assistant(answer) => answer,
            Message::Tool(_) => continue,
        };
        if !answer.calls.is_empty() {
            if !answer.native.as_ref().is_some_and(is_of_this_api) {
                return true;
            }
            has_calls = true;
        }
        first = Some(answer);
    }
    has_calls && !first.is_some_and(begins_with_thinking)
}

fn begins_with_thinking(message: &AssistantMessage) -> bool {
    let Some(native) = &message.native else { return false };
    let kind = native.messages.first().and_then(|first| first.pointer("/content/0/type"));
    matches!(kind.and_then(Value::as_str), Some("thinking" | "redacted_thinking"))
}

fn write_thinking(builder: &mut RequestBuilder<'_>) {
    drop_sampling(builder, ["temperature", "top_p"]);
    let options = &builder.request.options;
    let thinking = match options.thinking {
        None | Some(Thinking::Off) => {
            if options.thinking.is_some() {
                builder.set("/thinking/type", "disabled");
            }
            if options.show_thinking {
                builder.lose("show_thinking", "the API shows thinking only if the option `thinking` is set");
            }
            return;
        }
        Some(thinking) => thinking,
    };
    let is_forced = match &builder.request.tool_use.choice {
        ToolChoice::Required | ToolChoice::Tool(_) => true,
        ToolChoice::Allowed { required, .. } => *required,
        _ => false,
    };
    if is_forced && !builder.request.tools.is_empty() {
        return builder.lose("thinking", "the API refuses thinking if the tool choice forces a call");
    }
    match thinking {
        Thinking::Budget(_) if has_lost_thinking(builder.request) => {
            return builder
                .lose("thinking", "the API needs the thinking of each call, and a call has lost it");
        }
        Thinking::Budget(tokens) => {
            let max_tokens = builder.body.get("max_tokens").and_then(Value::as_u64).unwrap_or_default();
            let most = u32::try_from(max_tokens.saturating_sub(1)).unwrap_or(u32::MAX);
            if most < LEAST_THINKING_TOKENS {
                let reason = "`max_output_tokens` is too small for thinking, which needs 1,024 tokens more";
                return builder.lose("thinking", reason);
            }
            let allowed = tokens.clamp(LEAST_THINKING_TOKENS, most);
            if allowed != tokens {
                builder.lose("thinking", format!("the API allows a budget of {allowed} tokens here"));
            }
            builder.set("/thinking", json!({"type": "enabled", "budget_tokens": allowed}));
        }
        Thinking::Effort(effort) => {
            let allowed = effort.max(Effort::Low);
            if allowed != effort {
                builder.lose("thinking", "the lowest effort of the API is `low`");
            }
            builder.set("/thinking/type", "adaptive");
            builder.set("/output_config/effort", allowed.name());
        }
        Thinking::Off => {}
    }
    if builder.request.options.show_thinking {
        builder.set("/thinking/display", "summarized");
    }
    // With thinking, the service refuses a temperature below 1 and a `top_p` below 0.95.
    for (name, least) in [("temperature", 1.0), ("top_p", 0.95)] {
        if builder.body.get(name).and_then(Value::as_f64).is_some_and(|value| value < least) {
            builder.body.shift_remove(name);
            builder.lose(name, "the API refuses it together with thinking");
        }
    }
}
