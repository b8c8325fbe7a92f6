//! The cache points of requests.

use crate::facts::ApiFormat;
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
