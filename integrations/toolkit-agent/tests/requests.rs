//! Request bodies: options, reasoning, and conversations at the provider.

use crate::support::{Script, reloaded, tools};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use toolkit_agent::guardrail::{GuardContext, Guardrail, Verdict};
use toolkit_agent::{Agent, AgentOutput, Conversation, Limits};
use toolkit_core::{Content, Media, ToolChoice};
use toolkit_llm::ApiFormat;
use toolkit_llm::ApiFormat::{Anthropic, Bedrock, Cohere, Gemini, Ollama, OpenAiChat, OpenAiResponses};
use toolkit_llm::model::{Effort, Fallback, PromptCache, Retrying, ServerState, ServiceTier, Thinking};
use toolkit_llm::transport::{self, EventStream, Transport, WireModel};
use toolkit_llm::{
    AssistantMessage, ChatModel, Message, ModelError, ModelOptions, ModelRequest, ModelResponse, ModelRetry,
    NativeMessages, Price, Usage,
};

const MODEL: &str = "gemini-3-flash";

fn request(options: ModelOptions) -> ModelRequest {
    ModelRequest::new([Message::user("hi")]).with_options(options)
}

fn losses(format: ApiFormat, request: &ModelRequest) -> Vec<String> {
    let encoded = transport::encode_request(format, MODEL, request, false);
    encoded.losses.into_iter().map(|loss| loss.path).collect()
}

fn options() -> Vec<(&'static str, ModelOptions)> {
    let new = ModelOptions::new;
    vec![
        ("temperature", new().with_temperature(0.5)),
        ("top_p", new().with_top_p(0.9)),
        ("max_output_tokens", new().with_max_output_tokens(9)),
        ("stop", new().with_stop("END")),
        ("seed", new().with_seed(7)),
        ("thinking", new().with_thinking(Thinking::Off)),
        ("thinking", new().with_thinking(Effort::Minimal)),
        ("thinking", new().with_thinking(Effort::High)),
        ("thinking", new().with_thinking(Effort::Max)),
        ("thinking", new().with_thinking(Thinking::Budget(5_000))),
        ("show_thinking", new().with_show_thinking(true).with_thinking(Effort::High)),
        ("show_thinking", new().with_show_thinking(true)),
        ("prompt_cache", new().with_prompt_cache(PromptCache::new().with_key("k"))),
        ("prompt_cache", new().with_prompt_cache(PromptCache::new().with_long_lifetime(true))),
        ("service_tier", new().with_service_tier(ServiceTier::Standard)),
        ("service_tier", new().with_service_tier(ServiceTier::Flex)),
        ("service_tier", new().with_service_tier(ServiceTier::Priority)),
        ("service_tier", new().with_service_tier(ServiceTier::Other("scale".to_owned()))),
        ("metadata", new().with_metadata("team", "search")),
        ("user_id", new().with_user_id("u1")),
        ("server_state", new().with_server_state(ServerState::Responses)),
        ("server_state", new().with_server_state(ServerState::Conversation("conv_1".to_owned()))),
        ("background", new().with_background(true)),
    ]
}

#[test]
fn every_option_is_sent_or_reported() {
    for &format in ApiFormat::ALL {
        for (name, options) in options() {
            let mut plain = options.clone();
            if name == "show_thinking" {
                plain.show_thinking = false;
            } else {
                plain = ModelOptions::new();
            }
            let encoded = transport::encode_request(format, MODEL, &request(options.clone()), false);
            let is_sent =
                encoded.body != transport::encode_request(format, MODEL, &request(plain), false).body;
            let path = format!("/options/{name}");
            let is_reported = encoded.losses.iter().any(|loss| loss.path.starts_with(&path));
            // They always show the thinking.
            let is_default = matches!(format, Ollama | Cohere) && name == "show_thinking";
            assert!(is_sent || is_reported || is_default, "{format}: {options:?}");
            let others: Vec<_> = encoded.losses.iter().filter(|loss| !loss.path.starts_with(&path)).collect();
            let is_beside = name == "show_thinking" || others.is_empty();
            assert!(is_beside, "{format}: {others:?}");
        }
    }
}

/// Nothing of a whole request is dropped silently, for any API and server.
#[test]
fn instructions_tools_and_messages_reach_the_body_of_every_api() {
    use transport::Server::{Mistral, Own, Standard, Vertex};
    let servers = [Own, Standard, Mistral, Vertex];
    for (format, server) in
        ApiFormat::ALL.iter().copied().flat_map(|format| servers.map(|server| (format, server)))
    {
        for has_tools in [false, true] {
            let options = ModelOptions::new().with_thinking(Effort::High).with_temperature(1.0);
            let mut request = request(options).with_instructions("Be very brief.");
            if has_tools {
                request = request.with_tools(tools());
                request.tool_use.choice = ToolChoice::Tool("add".to_owned());
            }
            let model = WireModel::new(format, MODEL, Script::default()).with_server(server);
            for stream in [false, true] {
                let encoded = model.encode(&request, stream);
                let body = Value::from(encoded.body).to_string();
                let case = format!("{format} {server:?} {has_tools} {stream}: {body}");
                assert!(body.contains("Be very brief."), "{case}");
                assert!(body.contains(r#""hi""#), "{case}");
                let lost: Vec<&str> = encoded.losses.iter().map(|loss| loss.path.as_str()).collect();
                let is_known = |path: &&str| {
                    ["/options/", "/stream_options/", "/tool_use/"]
                        .iter()
                        .any(|known| path.starts_with(known))
                };
                assert!(lost.iter().all(is_known), "{case} {lost:?}");
                let has_choice = !lost.iter().any(|path| path.starts_with("/tool_use/"));
                let named = usize::from(has_tools) + usize::from(has_tools && has_choice);
                assert_eq!(body.matches(r#""add""#).count(), named, "{case}");
            }
            assert!(!model.provider().is_empty(), "{format} {server:?}: name its provider");
        }
    }
}

#[test]
fn options_have_the_fields_of_each_api() {
    let high = || ModelOptions::new().with_thinking(Effort::High).with_show_thinking(true);
    let budget = || ModelOptions::new().with_thinking(Thinking::Budget(4_000));
    let off = || ModelOptions::new().with_thinking(Thinking::Off);
    let cache =
        || ModelOptions::new().with_prompt_cache(PromptCache::new().with_key("k").with_long_lifetime(true));
    let flex = || ModelOptions::new().with_service_tier(ServiceTier::Flex);
    let labels = || ModelOptions::new().with_metadata("a", "b").with_user_id("u");
    for (format, options, path, value) in [
        (OpenAiChat, high(), "/reasoning_effort", json!("high")),
        (OpenAiResponses, high(), "/reasoning", json!({"summary": "auto", "effort": "high"})),
        (Anthropic, high(), "/thinking", json!({"type": "adaptive", "display": "summarized"})),
        (Anthropic, high(), "/output_config", json!({"effort": "high"})),
        (
            Gemini,
            high(),
            "/generationConfig/thinkingConfig",
            json!({"thinkingLevel": "HIGH", "includeThoughts": true}),
        ),
        (Ollama, high(), "/think", json!("high")),
        (OpenAiChat, budget(), "/reasoning_effort", json!("medium")),
        (Anthropic, budget(), "/thinking", json!({"type": "enabled", "budget_tokens": 4_000})),
        (Anthropic, budget(), "/max_tokens", json!(12_192)),
        (Gemini, budget(), "/generationConfig/thinkingConfig", json!({"thinkingBudget": 4_000})),
        (Ollama, budget(), "/think", json!(true)),
        (OpenAiResponses, off(), "/reasoning/effort", json!("none")),
        (Anthropic, off(), "/thinking", json!({"type": "disabled"})),
        (Gemini, off(), "/generationConfig/thinkingConfig", json!({"thinkingLevel": "MINIMAL"})),
        (Ollama, off(), "/think", json!(false)),
        (OpenAiChat, cache(), "/prompt_cache_key", json!("k")),
        (OpenAiResponses, cache(), "/prompt_cache_retention", json!("24h")),
        (Anthropic, cache(), "/cache_control", json!({"type": "ephemeral", "ttl": "1h"})),
        (OpenAiChat, flex(), "/service_tier", json!("flex")),
        (Gemini, flex(), "/serviceTier", json!("flex")),
        (OpenAiResponses, labels(), "/metadata", json!({"a": "b"})),
        (OpenAiResponses, labels(), "/safety_identifier", json!("u")),
        (Anthropic, labels(), "/metadata", json!({"user_id": "u"})),
        (Gemini, labels(), "/labels", json!({"a": "b"})),
    ] {
        let body = Value::from(transport::encode_request(format, MODEL, &request(options), false).body);
        assert_eq!(body.pointer(path), Some(&value), "{format}: {body}");
    }
    // Earlier models know only budgets.
    let body = Value::from(transport::encode_request(Gemini, "gemini-2.5-pro", &request(high()), false).body);
    let config = json!({"thinkingBudget": 24_576, "includeThoughts": true});
    assert_eq!(body["generationConfig"]["thinkingConfig"], config);
}

#[test]
fn settings_that_anthropic_refuses_together_are_not_sent_together() {
    let thinking = ModelOptions::new().with_thinking(Thinking::Budget(9_000));
    let warm = request(thinking.clone().with_temperature(0.2).with_top_p(0.5));
    let body = transport::encode_request(Anthropic, "m", &warm, false).body;
    assert!(!body.contains_key("temperature") && !body.contains_key("top_p"), "{body:?}");
    assert_eq!(losses(Anthropic, &warm), ["/options/temperature", "/options/top_p"]);

    let small = request(thinking.clone().with_max_output_tokens(4_000));
    let body = transport::encode_request(Anthropic, "m", &small, false).body;
    assert_eq!((&body["max_tokens"], &body["thinking"]["budget_tokens"]), (&json!(4_000), &json!(3_999)));
    let tiny = request(thinking.clone().with_max_output_tokens(500));
    assert!(!transport::encode_request(Anthropic, "m", &tiny, false).body.contains_key("thinking"));
    assert_eq!(losses(Anthropic, &tiny), ["/options/thinking"]);

    let forced = request(thinking).with_tools(tools()).with_tool_use(ToolChoice::Required);
    let body = transport::encode_request(Anthropic, "m", &forced, false).body;
    assert_eq!(body["tool_choice"]["type"], "any");
    assert!(!body.contains_key("thinking"));
    assert_eq!(losses(Anthropic, &forced), ["/options/thinking"]);
}

#[test]
fn lost_media_and_tool_settings_are_reported() {
    let sound = Content::from(Media::new("audio/midi", b"MThd"));
    let message = toolkit_llm::UserMessage::new([Content::Text("Listen.".to_owned()), sound]);
    let request = ModelRequest::new([Message::user("hi"), Message::User(message)])
        .with_tools(tools())
        .with_tool_use(ToolChoice::Required);
    for &format in ApiFormat::ALL {
        let lost = losses(format, &request);
        assert!(lost.contains(&"/messages/1/1".to_owned()), "{format}: {lost:?}");
        assert_eq!(lost.contains(&"/tool_use/choice".to_owned()), format == Ollama, "{lost:?}");
    }
}

/// A message of the Responses API.
fn thought(items: Value) -> Message {
    let Value::Array(items) = items else { panic!("{items}") };
    let native = NativeMessages::new(OpenAiResponses.name(), items);
    let mut message = AssistantMessage::text("Hello.");
    message.native = Some(native);
    Message::Assistant(message)
}

fn said() -> Value {
    json!({"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "Hello."}]})
}

#[test]
fn encrypted_reasoning_is_requested_only_from_models_that_reason() {
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gA"});
    let plain = || vec![Message::user("hi"), thought(json!([said()])), Message::user("And?")];
    let reasoned = || vec![Message::user("hi"), thought(json!([reasoning, said()])), Message::user("And?")];
    let mut counted = plain();
    if let Message::Assistant(message) = &mut counted[1] {
        message.usage = Usage::new(1, 9).with_reasoning(5);
    }
    let mut foreign = reasoned();
    if let Message::Assistant(message) = &mut foreign[1] {
        message.native.as_mut().unwrap().format = Anthropic.name().to_owned();
    }
    let none = ModelOptions::new;
    for (messages, options, is_included) in [
        (vec![Message::user("hi")], none(), false),
        (plain(), none(), false),
        (foreign, none(), false),
        (reasoned(), none(), true),
        (counted, none(), true),
        (plain(), none().with_thinking(Effort::Low), true),
        (plain(), none().with_thinking(Thinking::Budget(2_000)), true),
        (reasoned(), none().with_thinking(Thinking::Off), false),
        // A provider that stores the response keeps its reasoning.
        (reasoned(), none().with_server_state(ServerState::Responses), false),
    ] {
        let request = ModelRequest::new(messages).with_options(options);
        let body = transport::encode_request(OpenAiResponses, "m", &request, false).body;
        let expected = is_included.then(|| json!(["reasoning.encrypted_content"]));
        assert_eq!(body.get("include"), expected.as_ref(), "{request:?}");
        assert_eq!(body["store"], request.options.server_state.is_some());
    }
    // User fields join ours.
    let extra =
        none().with_thinking(Effort::Low).with_extra("include", json!(["message.output_text.logprobs"]));
    let body = transport::encode_request(OpenAiResponses, "m", &request(extra), false).body;
    assert_eq!(body["include"], json!(["reasoning.encrypted_content", "message.output_text.logprobs"]));
}

/// The service finds neither reasoning that it did not store nor its content.
#[test]
fn reasoning_that_cannot_be_found_again_is_left_out() {
    let call =
        json!({"type": "function_call", "id": "fc_1", "call_id": "c", "name": "add", "arguments": "{}"});
    let result =
        json!({"type": "function_call_output", "call_id": "c", "output": "[No output available yet]"});
    let body = |reasoning: Value| {
        let request = ModelRequest::new([Message::user("hi"), thought(json!([reasoning, call]))]);
        transport::encode_request(OpenAiResponses, "m", &request, false).body["input"].clone()
    };
    let lost =
        json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}]});
    let items = body(lost.clone());
    let mut without_id = call.clone();
    without_id.as_object_mut().unwrap().remove("id");
    assert_eq!(items.as_array().unwrap()[1..], [without_id, result]);
    for (name, value) in [
        ("encrypted_content", json!("gA")),
        // Other servers send the reasoning.
        ("content", json!([{"type": "reasoning_text", "text": "Hm."}])),
    ] {
        let mut kept = lost.clone();
        kept[name] = value;
        assert_eq!(body(kept.clone()).as_array().unwrap()[1..3], [kept, call.clone()]);
    }
}

fn response(id: &str, output: Value) -> Value {
    json!({"id": id, "object": "response", "status": "completed", "output": output})
}

fn call(id: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "add", "arguments": "{\"a\": 1, \"b\": 2}"})
}

#[tokio::test]
async fn with_server_state_only_new_items_are_sent() {
    let states = [ServerState::Responses, ServerState::Conversation("conv_1".to_owned())];
    for state in states {
        let server = Script::new([
            response("resp_1", json!([call("c1"), call("c2")])),
            response("resp_2", json!([said()])),
            response("resp_3", json!([said()])),
        ]);
        let model = WireModel::new(OpenAiResponses, "m", server.clone());
        let options = ModelOptions::new().with_server_state(state.clone());
        let agent = Agent::builder(model).options(options).tools(tools()).streaming(false).build().unwrap();
        let mut conversation = Conversation::default();
        agent.run("What is 1 + 2?").on(&mut conversation).await.unwrap();
        let mut conversation = reloaded(&conversation);
        agent.run("Thanks!").on(&mut conversation).await.unwrap();
        let asked = server.asked();
        let kinds = |body: &Value| -> Vec<Value> {
            body["input"].as_array().unwrap().iter().map(|item| item["type"].clone()).collect()
        };
        assert_eq!(kinds(&asked[0]), ["message"]);
        assert_eq!(kinds(&asked[1]), ["function_call_output", "function_call_output"]);
        assert_eq!(kinds(&asked[2]), ["message"]);
        assert_eq!(asked[2]["input"][0]["content"][0]["text"], "Thanks!");
        assert!(asked.iter().all(|body| body["store"] == true && body["tools"].is_array()));
        let field = |name: &str| asked.iter().map(|body| body[name].clone()).collect::<Vec<_>>();
        match state {
            ServerState::Responses => {
                assert_eq!(field("previous_response_id"), [Value::Null, json!("resp_1"), json!("resp_2")]);
            }
            _ => assert_eq!(field("conversation"), ["conv_1", "conv_1", "conv_1"]),
        }
        let messages = conversation.messages().to_vec();
        let whole =
            transport::encode_request(OpenAiResponses, "m", &ModelRequest::new(messages.clone()), false).body;
        assert_eq!(whole["input"].as_array().map(Vec::len), Some(8), "{whole:?}");
        let options = ModelOptions::new().with_server_state(ServerState::Responses);
        let request = ModelRequest::new(messages).with_options(options);
        assert_eq!(losses(Anthropic, &request), ["/options/server_state"]);
        let history = transport::encode_request(Anthropic, "m", &request, false).body["messages"].clone();
        assert_eq!(history.as_array().map(Vec::len), Some(6), "{history}");
    }
}

proptest! {
    #![proptest_config(crate::support::cases(40))]

    /// Over all requests of a conversation, the provider receives each item of the history exactly once.
    #[test]
    fn the_provider_receives_every_new_item_once(calls in prop::collection::vec(0..3_usize, 1..6)) {
        let replies = calls.iter().enumerate().map(|(turn, count)| {
            let output = match count {
                0 => json!([said()]),
                count => (0..*count).map(|at| call(&format!("c{turn}_{at}"))).collect(),
            };
            response(&format!("resp_{turn}"), output)
        });
        let last = response("resp_last", json!([said()]));
        let server = Script::new(replies.chain([last]));
        let model = WireModel::new(OpenAiResponses, "m", server.clone());
        let options = ModelOptions::new().with_server_state(ServerState::Responses);
        let agent = Agent::builder(model).options(options).tools(tools()).streaming(false).build().unwrap();
        let mut conversation = Conversation::default();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for input in 0..calls.iter().filter(|count| **count == 0).count() + 1 {
            runtime.block_on(agent.run(format!("Question {input}")).on(&mut conversation).into_future()).unwrap();
        }
        let asked = server.asked();
        let sent: Vec<Value> = asked.iter().flat_map(|body| body["input"].as_array().cloned().unwrap()).collect();
        let messages = ModelRequest::new(conversation.messages().to_vec());
        let whole = transport::encode_request(OpenAiResponses, "m", &messages, false).body["input"].clone();
        let is_ours = |item: &&Value| {
            item["role"] == "user" || item["type"] == "function_call_output"
        };
        let expected: Vec<Value> = whole.as_array().unwrap().iter().filter(is_ours).cloned().collect();
        prop_assert_eq!(sent, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_background_response_is_fetched_when_it_is_finished() {
    let waiting =
        |status: &str| json!({"id": "resp_1", "object": "response", "status": status, "output": []});
    for streaming in [false, true] {
        let said = response("resp_1", json!([said()]));
        let server = Script::new([waiting("queued"), Value::Null, waiting("in_progress"), Value::Null, said]);
        let model = WireModel::new(OpenAiResponses, "m", server.clone());
        let options = ModelOptions::new().with_background(true);
        let agent = Agent::builder(model).options(options).streaming(streaming).build().unwrap();
        assert_eq!(agent.run("hi").await.unwrap().text, "Hello.");
        let asked = server.asked();
        assert_eq!((&asked[0]["background"], &asked[0]["store"]), (&json!(true), &json!(true)));
        assert_eq!(asked[1..], [(); 4].map(|()| json!({"retrieve": "resp_1"})));
    }
}

#[tokio::test(start_paused = true)]
async fn a_background_response_is_not_paid_for_twice() {
    let queued = || json!({"id": "resp_1", "object": "response", "status": "queued", "output": []});
    let failing = || std::iter::once(queued()).chain(std::iter::repeat_n(Value::Null, 50));
    let slow = || std::iter::repeat_n(queued(), 50);
    let limits = Limits::default().with_model_timeout(Duration::from_secs(60));
    let cases: [(Vec<Value>, Limits); 2] =
        [(failing().collect(), Limits::default()), (slow().collect(), limits)];
    for (replies, limits) in cases {
        for streaming in [false, true] {
            let server = Script::new(replies.clone());
            let model = WireModel::new(OpenAiResponses, "m", server.clone());
            let options = ModelOptions::new().with_background(true);
            let agent = Agent::builder(model).options(options).streaming(streaming).limits(limits.clone());
            let failed = agent.build().unwrap().run("hi").await.unwrap_err();
            let sent = server.asked().iter().filter(|asked| asked.get("retrieve").is_none()).count();
            assert_eq!((sent, failed.output.model_calls), (1, 1), "{failed}");
        }
    }
    let model = WireModel::new(OpenAiResponses, "m", Script::new(failing()));
    let request =
        ModelRequest::new([Message::user("hi")]).with_options(ModelOptions::new().with_background(true));
    let failed = model.respond(request).await.unwrap_err();
    let expected =
        "background response `resp_1` cannot be retrieved: the server restarts; it may still be running";
    assert_eq!((failed.message(), failed.is_retryable()), (expected, false));
}

/// A transport that counts requests and never answers.
#[derive(Clone, Default)]
struct Silent(Arc<AtomicU32>);

impl Transport for Silent {
    async fn send(&self, _: Value) -> Result<Value, ModelError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        std::future::pending().await
    }

    async fn stream(&self, body: Value) -> Result<EventStream, ModelError> {
        self.send(body).await.map(|_| unreachable!())
    }
}

/// Another request costs a second answer only if the provider goes on with the first.
#[tokio::test(start_paused = true)]
async fn a_request_is_repeated_after_a_timeout_unless_it_runs_in_the_background() {
    let limits = || Limits::default().with_model_timeout(Duration::from_secs(60));
    for &format in ApiFormat::ALL {
        for (background, streaming) in (0..4).map(|case| (case & 1 == 1, case & 2 == 2)) {
            let asked = Silent::default();
            let other = Silent::default();
            let model = WireModel::new(format, "m", asked.clone());
            // This holds in every wrapper, and before every fallback.
            let fallback = Fallback::new(WireModel::new(OpenAiResponses, "m", other));
            let model =
                Retrying::new(Fallback::new(Arc::new(model).boxed()).or(fallback), ModelRetry::default());
            let options = ModelOptions::new().with_background(background);
            let agent = Agent::builder(model).options(options).streaming(streaming).limits(limits());
            agent.retry(ModelRetry::new(2)).build().unwrap().run("hi").await.unwrap_err();
            let is_running = background && format == OpenAiResponses;
            let expected = if is_running { 1 } else { 2 };
            assert_eq!(asked.0.load(Ordering::Relaxed), expected, "{format} {background} {streaming}");
        }
    }
}

#[test]
fn cache_writes_have_their_own_price() {
    let price = Price::per_million(4.0, 10.0).with_cached_input(1.0).with_cache_write(5.0);
    let usage = Usage::new(1_000_000, 0).with_cached_input(500_000).with_cache_write(200_000);
    assert_eq!(price.cost(usage), 0.5 + 1.0 + 1.2);
}

#[test]
fn a_thinking_budget_is_lost_after_a_call_without_its_thinking() {
    let thought = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
    let hidden = json!({"type": "redacted_thinking", "data": "x"});
    let used = json!({"type": "tool_use", "id": "c", "name": "add", "input": {"a": 1, "b": 2}});
    let native = |format: ApiFormat, content: &[&Value]| {
        let message = json!({"role": "assistant", "content": content});
        Some(NativeMessages::new(format.name(), vec![message]))
    };
    let plain = || native(Anthropic, &[&used]);
    let with_thought = || native(Anthropic, &[&thought, &used]);
    let turns = [
        (vec![with_thought()], false),
        (vec![native(Anthropic, &[&hidden, &used])], false),
        // Only the turn's beginning needs thinking.
        (vec![with_thought(), plain()], false),
        (vec![None], true),
        (vec![plain()], true),
        (vec![plain(), with_thought()], true),
        (vec![with_thought(), None], true),
        (vec![native(OpenAiChat, &[&thought, &used])], true),
        (vec![with_thought(), native(Bedrock, &[&used])], true),
    ];
    for (turn, is_lost) in turns {
        for (thinking, is_lost) in
            [(Thinking::Budget(5_000), is_lost), (Thinking::Effort(Effort::High), false)]
        {
            let mut asked = request(ModelOptions::new().with_thinking(thinking)).with_tools(tools());
            for native in turn.clone() {
                let call = toolkit_core::ToolCall::new("c", "add", r#"{"a": 1, "b": 2}"#);
                let result = toolkit_core::ToolResult::of(&call, Ok("3".into()));
                let mut said = ModelResponse::calls([call]).message;
                said.native = native;
                asked.messages.push(Message::Assistant(said));
                asked.messages.push(Message::Tool(toolkit_llm::ToolMessage::new(vec![result])));
            }
            let encoded = transport::encode_request(Anthropic, MODEL, &asked, false);
            let losses = encoded.losses.iter().filter(|loss| loss.path == "/options/thinking").count();
            assert_eq!(losses, usize::from(is_lost), "{thinking:?} {turn:?}");
            assert_eq!(encoded.body.contains_key("thinking"), !is_lost, "{thinking:?} {turn:?}");
        }
    }
}

/// The provider's conversation has the answer, and with its id would also get inputs twice.
#[tokio::test]
async fn a_withheld_answer_ends_the_use_of_a_conversation_kept_by_the_provider() {
    let answer = |id: &str, text: &str| {
        let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
        let item = json!({"type": "message", "id": format!("msg_{id}"), "role": "assistant",
            "status": "completed", "content": content});
        response(id, json!([item]))
    };
    let output = Guardrail::new("no secrets", |output: &AgentOutput, _: &GuardContext| {
        if output.text.contains("secret") { Verdict::Block("No.".to_owned()) } else { Verdict::Pass }
    });
    let reply = Guardrail::new("no secrets", |response: &ModelResponse, _: &GuardContext| {
        if response.message.text.contains("secret") {
            Verdict::Block("No.".to_owned())
        } else {
            Verdict::Pass
        }
    });
    for (guard, state) in [
        (output.clone(), ServerState::Responses),
        (reply.clone(), ServerState::Responses),
        (output, ServerState::Conversation("conv_1".to_owned())),
        (reply, ServerState::Conversation("conv_1".to_owned())),
    ] {
        let replies = [("1", "Hello."), ("2", "my secret"), ("3", "Bye."), ("4", "Well.")];
        let server = Script::new(replies.map(|(id, text)| answer(id, text)));
        let model = WireModel::new(OpenAiResponses, "m", server.clone());
        let options = ModelOptions::new().with_server_state(state.clone());
        let agent = Agent::builder(model).options(options).streaming(false).guardrail(guard);
        let agent = agent.build().unwrap();
        let mut conversation = Conversation::default();
        for input in ["one", "two", "three", "four"] {
            agent.run(input).on(&mut conversation).await.unwrap();
            conversation = reloaded(&conversation);
        }
        let asked = server.asked();
        let texts = |body: &Value| -> Vec<Value> {
            let items = body["input"].as_array().unwrap().iter();
            items.map(|item| item.pointer("/content/0/text").unwrap_or(&item["content"]).clone()).collect()
        };
        let is_conversation = matches!(state, ServerState::Conversation(_));
        let after = |id: &str| (Value::Null, json!(id));
        let begun = if is_conversation { (json!("conv_1"), Value::Null) } else { after("1") };
        let states: Vec<_> = asked
            .iter()
            .map(|body| (body["conversation"].clone(), body["previous_response_id"].clone()))
            .collect();
        let third = if is_conversation { (Value::Null, Value::Null) } else { after("1") };
        assert_eq!(states[1..], [begun, third, after("3")], "{state:?}");
        let history = if is_conversation { vec!["one", "Hello."] } else { vec![] };
        assert_eq!(texts(&asked[2]), [history, vec!["two", "No.", "three"]].concat(), "{state:?}");
        assert_eq!(texts(&asked[3]), ["four"], "{state:?}");
    }
}
