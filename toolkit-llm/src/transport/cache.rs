//! Writes the settings for prompt caching, and the cache points of a request.

use super::draft::{Draft, Server};
use crate::ApiFormat;
use crate::model::{CachePoint, PromptCache};
use serde_json::{Map, Value, json};

/// Writes the settings for prompt caching into the request body. The body must already contain the tools, instructions
/// and messages, because cache points are written into them.
pub(super) fn write(draft: &mut Draft<'_>) {
    let Some(cache) = &draft.request.options.prompt_cache else { return };
    let mut has_key = false;
    let mut has_lifetime = false;
    let mut has_points = false;
    match draft.format {
        _ if draft.is_standard_chat() => return draft.lose_as_extra("prompt_cache"),
        ApiFormat::OpenAiChat | ApiFormat::OpenAiResponses => {
            if let Some(key) = &cache.key {
                draft.set("/prompt_cache_key", key.as_str());
            }
            (has_key, has_lifetime) = (true, draft.server != Server::Mistral);
            if cache.long_lifetime && has_lifetime {
                draft.set("/prompt_cache_retention", "24h");
            }
        }
        ApiFormat::Anthropic => {
            (has_lifetime, has_points) = (true, true);
            let marker = with_lifetime(json!({"type": "ephemeral"}), cache);
            if cache.points.is_empty() {
                draft.set("/cache_control", marker);
            } else {
                cache.points.iter().for_each(|point| mark(&mut draft.body, *point, &marker));
            }
        }
        ApiFormat::Bedrock => {
            has_points = true;
            has_lifetime = !cache.points.is_empty();
            let block = json!({"cachePoint": with_lifetime(json!({"type": "default"}), cache)});
            cache.points.iter().for_each(|point| append(&mut draft.body, *point, &block));
        }
        _ => {}
    }
    if cache.key.is_some() && !has_key {
        draft.lose("prompt_cache/key", "the API has no keys for caches");
    }
    if cache.long_lifetime && !has_lifetime {
        draft.lose("prompt_cache/long_lifetime", "the API has no lifetime for cached prompts");
    }
    if !cache.points.is_empty() && !has_points {
        draft.lose("prompt_cache/points", "the API has no cache points; the provider decides what is cached");
    }
}

/// Adds the long lifetime to a cache point, if the settings ask for it.
fn with_lifetime(mut point: Value, cache: &PromptCache) -> Value {
    if let (true, Some(fields)) = (cache.long_lifetime, point.as_object_mut()) {
        fields.insert("ttl".to_owned(), "1h".into());
    }
    point
}

/// Sets `cache_control` on the last tool or content block before a cache point, for Anthropic.
fn mark(body: &mut Map<String, Value>, point: CachePoint, marker: &Value) {
    let part = match point {
        CachePoint::Tools => {
            let tools = body.get_mut("tools").and_then(Value::as_array_mut);
            // The API refuses cache points on deferred tools.
            tools.and_then(|tools| tools.iter_mut().rfind(|tool| tool["defer_loading"] != true))
        }
        CachePoint::System => body.get_mut("system").and_then(last_block),
        CachePoint::History => {
            let messages = body.get_mut("messages").and_then(Value::as_array_mut);
            messages.and_then(|messages| messages.last_mut()?.get_mut("content")).and_then(last_block)
        }
    };
    if let Some(fields) = part.and_then(Value::as_object_mut) {
        fields.insert("cache_control".to_owned(), marker.clone());
    }
}

/// Returns the last content block that accepts a cache point. A string becomes a list with one text block.
fn last_block(content: &mut Value) -> Option<&mut Value> {
    if let Value::String(text) = content {
        *content = json!([{"type": "text", "text": std::mem::take(text)}]);
    }
    // The API refuses cache points on thinking and on empty text.
    let accepts = |block: &Value| match block["type"].as_str() {
        Some("thinking" | "redacted_thinking") => false,
        Some("text") => block["text"].as_str().is_some_and(|text| !text.is_empty()),
        _ => true,
    };
    content.as_array_mut()?.iter_mut().rfind(|block| accepts(block))
}

/// Adds a `cachePoint` block at the position of a cache point, for Bedrock.
fn append(body: &mut Map<String, Value>, point: CachePoint, block: &Value) {
    let blocks = match point {
        CachePoint::Tools => body.get_mut("toolConfig").and_then(|config| config.get_mut("tools")),
        CachePoint::System => body.get_mut("system"),
        CachePoint::History => {
            let messages = body.get_mut("messages").and_then(Value::as_array_mut);
            messages.and_then(|messages| messages.last_mut()?.get_mut("content"))
        }
    };
    if let Some(blocks) = blocks.and_then(Value::as_array_mut).filter(|blocks| !blocks.is_empty()) {
        blocks.push(block.clone());
    }
}

#[cfg(test)]
mod tests {
    use crate::ApiFormat;
    use crate::message::{AssistantMessage, Message, NativeMessages, UserMessage};
    use crate::model::{CachePoint, ModelOptions, ModelRequest, PromptCache};
    use crate::transport::encode_request;
    use serde_json::{Value, json};
    use toolkit_core::{ClosureTool, ToolRegistry};

    #[derive(serde::Deserialize, toolkit_core::schemars::JsonSchema)]
    #[schemars(crate = "toolkit_core::schemars")]
    struct Nothing {}

    fn body(format: ApiFormat, cache: PromptCache, messages: Vec<Message>) -> (Value, Vec<String>) {
        let tools = ["a", "b"].map(|name| ClosureTool::new(name, "", |_: Nothing| "").unwrap());
        let request = ModelRequest::new(messages)
            .with_instructions("Be brief.")
            .with_tools(ToolRegistry::from_tools(tools).unwrap())
            .with_options(ModelOptions::new().with_prompt_cache(cache));
        let encoded = encode_request(format, "m", &request, false);
        let losses = encoded.losses.into_iter().map(|loss| loss.path).collect();
        (encoded.body.into(), losses)
    }

    const ALL: [CachePoint; 3] = [CachePoint::Tools, CachePoint::System, CachePoint::History];

    #[test]
    fn anthropic_marks_the_last_part_before_each_point() {
        let cache = PromptCache::new().with_points(ALL).with_long_lifetime(true);
        let (body, losses) = body(ApiFormat::Anthropic, cache, vec![Message::user("hi")]);
        let marker = json!({"type": "ephemeral", "ttl": "1h"});
        assert_eq!(body["system"], json!([{"type": "text", "text": "Be brief.", "cache_control": marker}]));
        assert_eq!(body["tools"][0]["cache_control"], Value::Null);
        assert_eq!(body["tools"][1]["cache_control"], marker);
        assert_eq!(body["messages"][0]["content"][0]["cache_control"], marker);
        assert_eq!(body["cache_control"], Value::Null);
        assert_eq!(losses, [""; 0]);
    }

    #[test]
    fn without_points_anthropic_chooses() {
        let (body, _) = body(ApiFormat::Anthropic, PromptCache::new(), vec![Message::user("hi")]);
        assert_eq!(body["cache_control"], json!({"type": "ephemeral"}));
        assert_eq!(body["system"], "Be brief.");
    }

    #[test]
    fn thinking_and_empty_text_are_not_marked() {
        let native = json!({"role": "assistant", "content": [
            {"type": "text", "text": "I think."}, {"type": "text", "text": ""},
            {"type": "thinking", "thinking": "hm", "signature": "s"},
        ]});
        let message = AssistantMessage {
            native: Some(NativeMessages::new("anthropic", vec![native])),
            paused: true,
            ..AssistantMessage::text("I think.")
        };
        let messages = vec![Message::user("hi"), Message::Assistant(message)];
        let (body, _) =
            body(ApiFormat::Anthropic, PromptCache::new().with_points([CachePoint::History]), messages);
        let content = body["messages"][1]["content"].as_array().unwrap();
        let marked: Vec<&Value> = content.iter().filter(|block| !block["cache_control"].is_null()).collect();
        assert_eq!(marked.len(), 1, "{content:?}");
        assert_eq!(marked[0]["text"], "I think.");
    }

    #[test]
    fn bedrock_gets_blocks_and_other_apis_report_a_loss() {
        let cache = PromptCache::new().with_points(ALL);
        let hi = || vec![Message::User(UserMessage::from("hi"))];
        let (sent, losses) = body(ApiFormat::Bedrock, cache.clone(), hi());
        let block = json!({"cachePoint": {"type": "default"}});
        assert_eq!(sent["system"][1], block);
        assert_eq!(sent["toolConfig"]["tools"][2], block);
        assert_eq!(sent["messages"][0]["content"][1], block);
        assert_eq!(losses, [""; 0]);
        for format in [ApiFormat::OpenAiChat, ApiFormat::OpenAiResponses, ApiFormat::Gemini] {
            assert_eq!(body(format, cache.clone(), hi()).1, ["/options/prompt_cache/points"], "{format:?}");
        }
    }

    #[test]
    fn points_without_their_part_change_nothing() {
        for format in [ApiFormat::Anthropic, ApiFormat::Bedrock] {
            let options = ModelOptions::new().with_prompt_cache(PromptCache::new().with_points(ALL));
            let request = ModelRequest::new([]).with_options(options);
            let body = Value::from(encode_request(format, "m", &request, false).body);
            assert!(!body.to_string().contains("cache"), "{body}");
        }
    }
}
