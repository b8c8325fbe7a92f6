//! Requests and responses of the clients.

use crate::faults::server::{Reply, Server, respond};
use serde_json::{Value, json};
use std::sync::Arc;
use toolkit_agent::{Agent, AgentBuilder, RunOutput};
use toolkit_core::{
    ClosureTool, Content, Media, ToolChoice, ToolConfig, ToolOutput, ToolRegistry, ToolResult,
};
use toolkit_llm::ApiFormat;
use toolkit_llm::hosted::anthropic;
use toolkit_llm::model::ServiceTier;
use toolkit_llm::transport::encode_request;
use toolkit_llm::{
    AssistantMessage, ChatModel, Message, ModelError, ModelErrorKind, ModelOptions, ModelRequest,
    NativeMessages, ToolMessage,
};
use toolkit_llm_http::{Anthropic, Gemini, GenAi, OpenAi};

fn reply(body: Value) -> Reply {
    Arc::new(move |_| respond("200 OK", "content-type: application/json\r\n", body.to_string()))
}

/// Creates an illegally named tool, and an image in an output.
fn photograph() -> ToolRegistry {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Photograph {
        of: String,
    }
    let tool = ClosureTool::new("camera.photograph", "Takes a photo.", |Photograph { of }: Photograph| {
        let picture = Media::new("image/png", b"\x89PNG");
        ToolOutput::new(vec![Content::Text(format!("A photo of {of}.")), picture.into()])
    });
    let other = ClosureTool::new("wait", "Waits.", |Photograph { of }: Photograph| of);
    ToolRegistry::from_tools([tool.unwrap(), other.unwrap()]).unwrap()
}

/// Runs an agent against these replies, and returns output and requests.
async fn exchange(
    agent: impl FnOnce(&str) -> AgentBuilder,
    replies: impl IntoIterator<Item = Value>,
) -> (RunOutput, Vec<Value>) {
    let server = Server::start(replies.into_iter().map(reply).collect()).await;
    let agent = agent(&server.url).tools(photograph()).streaming(false).build().unwrap();
    let output = agent.run("A photo of a cat, please.").await.unwrap();
    let asked = server.asked().iter().map(|asked| serde_json::from_str(&asked.body).unwrap()).collect();
    (output, asked)
}

fn chat(message: Value) -> Value {
    json!({"id": "c", "object": "chat.completion", "model": "m",
           "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
}

fn gemini(part: Value) -> Value {
    let content = json!({"role": "model", "parts": [part]});
    json!({"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]})
}

fn holds(body: &Value, text: &str) -> bool {
    body.to_string().contains(text)
}

#[tokio::test]
async fn genai_carries_names_results_and_images() {
    let function = json!({"name": "camera_photograph", "arguments": "{\"of\": \"a cat\"}"});
    let call = json!({"id": "call_1", "type": "function", "function": function});
    let (output, asked) = exchange(
        |url| Agent::builder(GenAi::new().with_base_url(format!("{url}/v1")).model("openai::m")),
        [
            chat(json!({"role": "assistant", "content": null, "tool_calls": [call]})),
            chat(json!({"role": "assistant", "content": "Here it is."})),
        ],
    )
    .await;
    assert_eq!((output.text.as_str(), output.tool_calls), ("Here it is.", 1));
    let Message::Assistant(said) = &output.messages[1] else { panic!("{:?}", output.messages) };
    assert_eq!(said.calls[0].name, "camera.photograph");
    assert_eq!(asked[0]["tools"][0]["function"]["name"], "camera_photograph");
    let messages = asked[1]["messages"].as_array().unwrap();
    let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "user"]);
    assert_eq!(messages[1]["tool_calls"][0]["function"]["name"], "camera_photograph");
    assert_eq!(messages[2]["tool_call_id"], "call_1");
    assert!(holds(&messages[2], "A photo of a cat."), "{}", messages[2]);
    assert!(holds(&messages[3], "data:image/png;base64,iVBORw=="), "{}", messages[3]);
}

/// Gemini rejects a history without them.
#[tokio::test]
async fn thought_signatures_return_to_the_provider() {
    type Make = fn(&str) -> AgentBuilder;
    let direct: Make = |url| Agent::builder(Gemini::new().with_base_url(url).model("m"));
    let through_genai: Make = |url| Agent::builder(GenAi::new().with_base_url(url).model("gemini::m"));
    for agent in [direct, through_genai] {
        let call = json!({"name": "camera_photograph", "args": {"of": "a cat"}});
        let (output, asked) = exchange(
            agent,
            [
                gemini(json!({"functionCall": call, "thoughtSignature": "c2lnbmVk"})),
                gemini(json!({"text": "Here."})),
            ],
        )
        .await;
        assert_eq!((output.text.as_str(), output.tool_calls), ("Here.", 1));
        assert!(holds(&asked[1], "c2lnbmVk"), "{}", asked[1]);
        assert!(holds(&asked[1], "A photo of a cat."), "{}", asked[1]);
    }
}

/// Servers reject a history with them.
#[tokio::test]
async fn malformed_arguments_get_an_error_and_are_not_sent_back() {
    let function = json!({"name": "wait", "arguments": "{\"of\": "});
    let call = json!({"id": "call_1", "type": "function", "function": function});
    let (output, asked) = exchange(
        |url| Agent::builder(OpenAi::new().with_base_url(format!("{url}/v1/")).chat("m")),
        [
            chat(json!({"role": "assistant", "content": null, "tool_calls": [call]})),
            chat(json!({"role": "assistant", "content": "Sorry."})),
        ],
    )
    .await;
    assert_eq!(output.text, "Sorry.");
    let sent = asked[1]["messages"][1]["tool_calls"][0]["function"]["arguments"].as_str().unwrap();
    assert!(serde_json::from_str::<Value>(sent).unwrap().is_object(), "{sent}");
    assert!(holds(&asked[1]["messages"][2], "Error parsing JSON arguments"), "{}", asked[1]);
}

#[tokio::test]
async fn tool_config_and_options_reach_genai() {
    let agent = |url: &str| {
        Agent::builder(GenAi::new().with_base_url(format!("{url}/v1")).model("openai::m"))
            .instructions("Be brief.")
            .tool_config(ToolChoice::Allowed { names: vec!["camera.photograph".to_owned()], required: true })
            .options(ModelOptions::new().with_temperature(0.5).with_stop("END").with_extra("top_k", 7))
    };
    let (_, asked) = exchange(agent, [chat(json!({"role": "assistant", "content": "No."}))]).await;
    let body = &asked[0];
    assert_eq!(body["messages"][0], json!({"role": "system", "content": "Be brief."}));
    assert_eq!(body["tools"].as_array().map(Vec::len), Some(1));
    assert_eq!(body["tools"][0]["function"]["parameters"]["required"], json!(["of"]));
    assert_eq!((&body["tool_choice"], &body["temperature"]), (&json!("required"), &json!(0.5)));
    assert_eq!((&body["stop"], &body["top_k"]), (&json!(["END"]), &json!(7)));
}

#[tokio::test]
async fn settings_that_genai_lacks_are_reported() {
    let server = Server::start(vec![reply(chat(json!({"role": "assistant", "content": "Hi."})))]).await;
    let model = GenAi::new().with_base_url(format!("{}/v1", server.url)).model("openai::m");
    let ask = async |request: ModelRequest| {
        let response = model.respond(request).await.unwrap();
        response.losses.into_iter().map(|loss| loss.path).collect::<Vec<_>>()
    };
    let native = json!({"role": "assistant", "content": [
        {"type": "server_tool_use", "id": "s_1", "name": "web_search", "input": {}},
        {"type": "text", "text": "Hello."},
    ]});
    let mut earlier = AssistantMessage::text("Hello.");
    earlier.native = Some(NativeMessages::new("anthropic", vec![native]));
    let messages = [Message::user("hi"), Message::Assistant(earlier), Message::user("hi")];
    assert_eq!(ask(ModelRequest::new([Message::user("hi")])).await, [""; 0]);
    let options = ModelOptions::new()
        .with_temperature(0.5)
        .with_user_id("u")
        .with_metadata("team", "a")
        .with_service_tier(ServiceTier::Priority)
        .with_background(true)
        .with_hosted(anthropic::web_search());
    let request = ModelRequest::new(messages)
        .with_tools(photograph())
        .with_tool_use(ToolConfig::default().with_parallel(false))
        .with_options(options);
    assert_eq!(
        ask(request).await,
        [
            "/options/metadata",
            "/options/user_id",
            "/options/background",
            "/options/service_tier",
            "/tools/web_search",
            "/tool_use/parallel",
            "/messages/1/server_tool_use",
        ]
    );
}

/// `genai` does not send an image back, so it is lost, also for a single provider.
#[tokio::test]
async fn an_answer_of_media_alone_arrives_through_genai() {
    let image = json!({"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}});
    let said = json!({"role": "assistant", "content": "A cat."});
    let replies = [gemini(image), gemini(json!({"text": "A cat."})), chat(said)];
    let server = Server::start(replies.into_iter().map(reply).collect()).await;
    let client = GenAi::new().with_base_url(&server.url);
    let drawn = client.model("gemini::m").respond(ModelRequest::new([Message::user("Draw.")])).await.unwrap();
    let messages = [Message::user("Draw."), Message::Assistant(drawn.message), Message::user("What is it?")];
    let request = ModelRequest::new(messages);
    let mut losses = Vec::new();
    for name in ["gemini::m", "openai::m"] {
        losses.extend(client.model(name).respond(request.clone()).await.unwrap().losses);
    }
    let direct = encode_request(ApiFormat::Gemini, "m", &request, false);
    let paths = losses.iter().map(|loss| &loss.path).chain(direct.losses.iter().map(|loss| &loss.path));
    assert_eq!(paths.collect::<Vec<_>>(), ["/messages/1/Binary"; 3]);
}

/// A message without its native form still has its calls' caller.
#[tokio::test]
async fn callers_are_reported_as_lost_by_genai() {
    let server = Server::start(vec![reply(chat(json!({"role": "assistant", "content": "Hi."})))]).await;
    let model = GenAi::new().with_base_url(format!("{}/v1", server.url)).model("openai::m");
    let native = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t_1", "name": "look",
        "input": {}, "caller": {"type": "code_execution_20260120", "tool_id": "c_1"}}]});
    let calls = ApiFormat::Anthropic.parse_calls(&native).unwrap();
    let result = ToolResult::of(&calls[0], Ok("a cat".into()));
    for kept in [None, Some(NativeMessages::new("anthropic", vec![native]))] {
        let mut said = AssistantMessage::default().with_calls(calls.clone());
        said.native = kept;
        let messages = [
            Message::user("hi"),
            Message::Assistant(said),
            Message::Tool(ToolMessage::new(vec![result.clone()])),
        ];
        let response = model.respond(ModelRequest::new(messages)).await.unwrap();
        let paths: Vec<&str> = response.losses.iter().map(|loss| loss.path.as_str()).collect();
        assert_eq!(paths, ["/messages/1/0/caller"]);
    }
}

#[tokio::test]
async fn a_missing_key_fails_before_any_request() {
    async fn ask(model: impl ChatModel) -> ModelError {
        model.respond(ModelRequest::new([Message::user("hi")])).await.unwrap_err()
    }
    for (error, variable) in [
        (ask(OpenAi::new().chat("m")).await, "OPENAI_API_KEY"),
        (ask(OpenAi::new().responses("m")).await, "OPENAI_API_KEY"),
        (ask(Anthropic::new().model("m")).await, "ANTHROPIC_API_KEY"),
        (ask(Gemini::new().model("m")).await, "GEMINI_API_KEY"),
    ] {
        assert_eq!(error.kind(), ModelErrorKind::Unauthorized);
        assert!(error.message().contains(variable), "{error}");
    }
}

/// `genai` ignores the base URL for some providers, which must not get the key.
#[tokio::test]
async fn genai_refuses_models_for_which_the_base_url_has_no_effect() {
    for name in ["glm-4.6", "zai::glm-4.6", "zai_coding::glm-4.6", "baidu::glm-4.6"] {
        let model = GenAi::new().with_key("secret").with_base_url("http://127.0.0.1:9/v1").model(name);
        let request = || ModelRequest::new([Message::user("hi")]);
        let whole = model.respond(request()).await.unwrap_err();
        let streamed = model.stream(request()).await.map(drop).unwrap_err();
        for error in [whole, streamed] {
            assert_eq!(error.kind(), ModelErrorKind::InvalidRequest, "{error}");
            let told = [format!("`{name}`"), "`openai::glm-4.6`".to_owned()];
            assert!(told.iter().all(|part| error.message().contains(part)), "{error}");
        }
    }
    let server = Server::start(vec![reply(chat(json!({"role": "assistant", "content": "Hello."})))]).await;
    let model = GenAi::new().with_base_url(format!("{}/v1", server.url)).model("openai::glm-4.6");
    let answer = model.respond(ModelRequest::new([Message::user("hi")])).await.unwrap();
    assert_eq!(answer.message.text, "Hello.");
}

#[test]
fn a_gemini_model_in_another_folder_has_its_own_path() {
    let gemini = Gemini::new().with_key("secret").with_base_url("http://localhost/v1");
    for (name, path) in [
        ("gemini-3", "/v1/models/gemini-3:generateContent"),
        ("models/gemini-3", "/v1/models/gemini-3:generateContent"),
        ("tunedModels/mine", "/v1/tunedModels/mine:generateContent"),
    ] {
        let shown = format!("{:?}", gemini.model(name));
        assert!(shown.contains(path), "{shown}");
    }
}

#[test]
fn debug_output_hides_keys() {
    let shown = [
        format!("{:?}", OpenAi::new().with_key("secret").with_header("x-token", "secret").chat("m")),
        format!("{:?}", OpenAi::new().with_key("secret")),
        format!("{:?}", Anthropic::new().with_key("secret").with_base_url("http://localhost").model("m")),
        format!("{:?}", Gemini::new().with_key("secret").with_base_url("http://localhost").model("m")),
        format!("{:?}", GenAi::new().with_key("secret").model("openai::m")),
    ];
    for text in shown {
        assert!(!text.contains("secret"), "{text}");
    }
}
