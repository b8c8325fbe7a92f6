//! The runs under test.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use toolkit_ai::RunContext;
use toolkit_ai::agent::{Agent, Conversation};
use toolkit_ai::context::TraceContext;
use toolkit_ai::llm::{ChatModel, ModelError, ModelOptions, ModelResponse, ModelRetry, ScriptedModel, Usage};
use toolkit_ai::llm_http::OpenAi;
use toolkit_ai::mcp::client::{McpClient, McpEndpoint, McpProtocol, McpUrl};
use toolkit_ai::mcp::server::McpServer;
use toolkit_ai::mcp::server::ServerResource;
use toolkit_ai::prelude::*;
use toolkit_ai::schemars::JsonSchema;

/// Adds.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Fails.
#[tool]
fn fails() -> Result<(), &'static str> {
    Err("no luck")
}

/// Explains a word.
#[tool(register = false)]
fn explain(word: String) -> String {
    format!("What does {word} mean?")
}

#[derive(serde::Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_ai::schemars")]
struct City {
    name: String,
}

/// An agent whose model fails once, and calls a tool, a failing one, and a missing one.
pub(crate) async fn run_agent() {
    let call = |id: &str, tool: &str, arguments: &str| ToolCall::new(id, tool, arguments);
    let calls = [call("1", "add", r#"{"a": 1, "b": 2}"#), call("2", "fails", "{}"), call("3", "nope", "{}")];
    let model = ScriptedModel::new()
        .error(ModelError::from_status(503, "busy"))
        .response(ModelResponse::calls(calls).with_usage(Usage::new(100, 10).with_reasoning(4)))
        .response(
            ModelResponse::text("3")
                .with_usage(Usage::new(120, 1).with_cached_input(80).with_cache_write(20)),
        );
    let pauses = ModelRetry::new(2).with_pauses(Default::default(), Default::default());
    let agent = Agent::builder(model)
        .name("clerk")
        .description("Adds numbers.")
        .instructions("Be brief.")
        .retry(pauses)
        .tools(ToolRegistry::from_tools(tools![add, fails]).unwrap())
        .build()
        .unwrap();
    let mut conversation = Conversation::new("talk 1");
    let answer = agent.run("1 + 2?").on(&mut conversation).traced_messages(true).await.unwrap();
    assert_eq!(answer.text, "3");
}

/// Asks a model over HTTP for a value, and returns the server's port.
pub(crate) async fn ask_model() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let answer = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = vec![0; 65_536];
        let length = stream.read(&mut request).await.unwrap();
        assert!(request[..length].starts_with(b"POST /v1/chat/completions"));
        let body = r#"{"id": "chatcmpl-1", "model": "gpt-5-2026", "choices": [{"message": {"role": "assistant",
            "content": "{\"name\": \"Oslo\"}"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 30,
            "completion_tokens": 12, "prompt_tokens_details": {"cached_tokens": 10},
            "completion_tokens_details": {"reasoning_tokens": 8}}}"#;
        let head =
            format!("content-type: application/json\r\ncontent-length: {}\r\nconnection: close", body.len());
        stream.write_all(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n{body}").as_bytes()).await.unwrap();
    };
    let client = OpenAi::new().with_key("secret").with_base_url(format!("http://127.0.0.1:{port}/v1"));
    let options = ModelOptions::new()
        .with_seed(7)
        .with_temperature(0.5)
        .with_top_p(0.9)
        .with_max_output_tokens(100)
        .with_stop("END");
    let request = toolkit_ai::llm::ModelRequest::from("Where?").with_options(options);
    let model = client.chat("gpt-5");
    let (city, ()) = tokio::join!(model.ask::<City>(request), answer);
    assert_eq!(city.unwrap().value.name, "Oslo");
    port
}

fn server() -> McpServer {
    let resources = ToolRegistry::from_tools([ServerResource::text("config://app", "app", "debug").unwrap()]);
    McpServer::new(ToolRegistry::from_tools(tools![add, fails]).unwrap())
        .unwrap()
        .with_prompts(ToolRegistry::from_tools(tools![explain]).unwrap())
        .unwrap()
        .with_resources(resources.unwrap())
        .unwrap()
}

pub(crate) async fn call_in_process() {
    let (near, far) = tokio::io::duplex(65_536);
    tokio::spawn(server().serve(far));
    let (reader, writer) = tokio::io::split(near);
    let client = McpClient::builder(McpEndpoint::streams(reader, writer)).connect().await.unwrap();
    let mut registry = ToolRegistry::new();
    registry.register_provider(client.clone()).unwrap();
    let trace = TraceContext::new("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    let run = RunContext::new().with_extension(trace);
    let dispatcher = Dispatcher::new(registry).unwrap().with_event_contents(true).with_run(run);
    dispatcher.dispatch([ToolCall::new("1", "add", r#"{"a": 1, "b": 2}"#)]).await;
    dispatcher.dispatch([ToolCall::new("2", "fails", "{}")]).await;
    client.close().await;
}

/// Makes requests in a session over HTTP, and returns the server's port.
pub(crate) async fn call_over_http() -> u16 {
    let bound = server().bind_http("127.0.0.1:0").await.unwrap();
    let url = bound.url();
    let port = bound.address().port();
    let serving = tokio::spawn(bound.run_until(std::future::pending()));
    let client =
        McpClient::builder(McpUrl::new(url)).protocol(McpProtocol::Handshake).connect().await.unwrap();
    let word = [("word".to_owned(), "tool".to_owned())];
    client.prompt("explain", word).await.unwrap();
    client.prompt("nope", []).await.unwrap_err();
    client.read_resource("config://app").await.unwrap();
    client.close().await;
    serving.abort();
    port
}
