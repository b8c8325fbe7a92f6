//! Requests with only an API's standard fields.

use serde_json::{Map, Value, json};
use std::sync::Arc;
use toolkit_agent::Agent;
use toolkit_core::{ClosureTool, ToolChoice, ToolConfig, ToolRegistry};
use toolkit_llm::ApiFormat;
use toolkit_llm::model::{Effort, OutputFormat, PromptCache, ServiceTier};
use toolkit_llm::{Message, ModelOptions, ModelRequest, ScriptedModel, transport};

/// The common fields of servers with Chat Completions.
const STANDARD: [&str; 11] = [
    "model",
    "messages",
    "stream",
    "temperature",
    "top_p",
    "max_tokens",
    "stop",
    "seed",
    "response_format",
    "tools",
    "tool_choice",
];

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

fn tools() -> Arc<ToolRegistry> {
    let add = ClosureTool::new("add", "Adds.", |Add { a, b }: Add| a + b).unwrap();
    Arc::new(ToolRegistry::from_tools([add.map_metadata(|metadata| metadata.with_strict(true))]).unwrap())
}

/// Each option with its loss's or field's path.
fn options() -> Vec<(Change, &'static str, Option<&'static str>)> {
    vec![
        (|options| options.with_temperature(0.5), "temperature", Some("/temperature")),
        (|options| options.with_top_p(0.9), "top_p", Some("/top_p")),
        (|options| options.with_max_output_tokens(9), "max_output_tokens", Some("/max_tokens")),
        (|options| options.with_stop("END"), "stop", Some("/stop/0")),
        (|options| options.with_seed(7), "seed", Some("/seed")),
        (|options| options.with_output(OutputFormat::of::<Add>()), "output", Some("/response_format")),
        (|options| options.with_thinking(Effort::High), "thinking", None),
        (|options| options.with_show_thinking(true), "show_thinking", None),
        (|options| options.with_prompt_cache(PromptCache::new().with_key("k")), "prompt_cache", None),
        (|options| options.with_service_tier(ServiceTier::Flex), "service_tier", None),
        (|options| options.with_metadata("team", "a"), "metadata", None),
        (|options| options.with_user_id("u"), "user_id", None),
        (|options| options.with_background(true), "background", None),
    ]
}

type Change = fn(ModelOptions) -> ModelOptions;

fn encode(
    tools: &Arc<ToolRegistry>,
    options: ModelOptions,
    stream: bool,
) -> (Map<String, Value>, Vec<String>) {
    let request = ModelRequest::new([Message::user("hi")])
        .with_tools(tools.clone())
        .with_tool_use(ToolConfig::from(ToolChoice::Required).with_parallel(false))
        .with_options(options.with_standard_fields(true));
    let encoded = transport::encode_request(ApiFormat::OpenAiChat, "m", &request, stream);
    (encoded.body, encoded.losses.into_iter().map(|loss| loss.path).collect())
}

/// Every combination of options is sent or reported.
#[test]
fn requests_have_only_standard_fields_and_report_everything_else() {
    let all = options();
    let tools = tools();
    for chosen in 0..1_u32 << all.len() {
        let chosen: Vec<_> = all
            .iter()
            .enumerate()
            .filter(|(at, _)| chosen >> at & 1 == 1)
            .map(|(_, option)| option)
            .collect();
        let options = chosen.iter().fold(ModelOptions::new(), |options, (change, ..)| change(options));
        let (body, losses) = encode(&tools, options, chosen.len() % 2 == 1);
        assert!(body.keys().all(|name| STANDARD.contains(&name.as_str())), "{body:?}");
        let body = Value::from(body);
        for (_, name, path) in chosen {
            let is_reported = losses.iter().any(|loss| loss.starts_with(&format!("/options/{name}")));
            assert_eq!(is_reported, path.is_none(), "{name}: {losses:?}");
            assert!(path.is_none_or(|path| body.pointer(path).is_some()), "{name}: {body}");
        }
    }
}

#[test]
fn tools_have_a_name_a_description_and_parameters() {
    let (body, losses) = encode(&tools(), ModelOptions::new(), true);
    let function = body["tools"][0]["function"].as_object().unwrap();
    assert_eq!(function.keys().collect::<Vec<_>>(), ["name", "description", "parameters"]);
    assert_eq!(body["tool_choice"], "required");
    assert_eq!(losses, ["/stream_options/include_usage", "/tool_use/parallel"]);
    // Fields that the server knows are added by hand.
    let options = ModelOptions::new().with_extra("stream_options", json!({"include_usage": true}));
    assert_eq!(encode(&tools(), options, true).0["stream_options"], json!({"include_usage": true}));
}

#[tokio::test]
async fn the_option_of_an_agent_reaches_the_request() {
    let model = ScriptedModel::new().text("done");
    let options = ModelOptions::new().with_standard_fields(true);
    let agent = Agent::builder(model.clone()).options(options).build().unwrap();
    agent.run("hi").await.unwrap();
    assert!(model.requests()[0].options.standard_fields);
}
