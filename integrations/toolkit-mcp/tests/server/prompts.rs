//! Prompts: a registry whose tools are published as prompts.

use super::client::Client;
use serde_json::{Value, json};
use toolkit_ai::{Content, LiveRegistry, Media, ToolError, ToolParams, ToolRegistry, tool, tools};
use toolkit_mcp::server::McpServer;
use toolkit_mcp::server::{Caller, Elicited, PromptMessages};

#[derive(ToolParams)]
enum Tone {
    Kind,
    Strict,
}

/// Reviews a file.
///
/// :param path: The path of the file
#[tool(register = false, title = "Review")]
fn review(path: String, lines: Option<u32>, tone: Option<Tone>) -> PromptMessages {
    let tone = if matches!(tone, Some(Tone::Strict)) { "Be strict." } else { "Be kind." };
    PromptMessages::new()
        .user(format!("Review {path}, {} lines.", lines.unwrap_or_default()))
        .assistant(tone)
        .user(Media::new("image/png", b"png"))
}

/// Greets the program of the user.
#[tool(register = false)]
fn greet(#[state] caller: &Caller) -> Result<Vec<Content>, ToolError> {
    let name = caller.client_name().ok_or_else(|| ToolError::failed("nobody to greet"))?;
    Ok(vec![Content::text(format!("Hello, {name}!")), Content::text("How are you?")])
}

/// Asks for a topic.
#[tool(register = false)]
async fn ask(#[state] caller: &Caller) -> Result<String, ToolError> {
    let form = json!({"type": "object", "properties": {"topic": {"type": "string"}}, "required": ["topic"]});
    match caller.elicit("topic", "Which topic?", form).await? {
        Elicited::Accepted(answer) => Ok(format!("Write about {}.", answer["topic"])),
        _ => Err(ToolError::failed("there is no topic")),
    }
}

fn server() -> McpServer {
    let prompts = ToolRegistry::from_tools(tools![review, greet, ask]).expect("legal");
    McpServer::new(ToolRegistry::new()).expect("complete").with_prompts(prompts).expect("complete")
}

async fn prompt(client: &mut Client, name: &str, arguments: Value) -> Result<Value, Value> {
    client.request("prompts/get", json!({"name": name, "arguments": arguments})).await
}

#[tokio::test]
async fn prompts_are_listed_with_their_arguments() {
    let mut client = Client::connect(server());
    let capabilities = client.initialize(json!({})).await["capabilities"].take();
    assert_eq!(capabilities["prompts"], json!({}));
    let list = client.request("prompts/list", json!({})).await.expect("a list");
    let expected = json!([
        {"name": "ask", "description": "Asks for a topic.", "arguments": []},
        {"name": "greet", "description": "Greets the program of the user.", "arguments": []},
        {
            "name": "review",
            "title": "Review",
            "description": "Reviews a file.",
            "arguments": [
                {"name": "path", "description": "The path of the file", "required": true},
                {"name": "lines", "required": false},
                {"name": "tone", "required": false},
            ],
        },
    ]);
    assert_eq!(list["prompts"], expected);
    let reference = json!({"type": "ref/prompt", "name": "review"});
    let params = json!({"ref": reference, "argument": {"name": "tone", "value": "s"}});
    let completed = client.request("completion/complete", params).await.expect("values");
    assert_eq!(completed["completion"]["values"], json!(["Strict"]));
}

#[tokio::test]
async fn the_output_of_a_prompt_becomes_messages() {
    let mut client = Client::session(server(), json!({})).await;
    let text = |text: &str| json!({"type": "text", "text": text});
    let arguments = json!({"path": "a.rs", "lines": "12", "tone": "Strict"});
    let result = prompt(&mut client, "review", arguments).await.expect("messages");
    let expected = json!({
        "description": "Reviews a file.",
        "messages": [
            {"role": "user", "content": text("Review a.rs, 12 lines.")},
            {"role": "assistant", "content": text("Be strict.")},
            {"role": "user", "content": {"type": "image", "data": "cG5n", "mimeType": "image/png"}},
        ],
    });
    assert_eq!(result, expected);
    let result = prompt(&mut client, "greet", json!({})).await.expect("messages");
    let expected =
        ["Hello, tester!", "How are you?"].map(|line| json!({"role": "user", "content": text(line)}));
    assert_eq!(result["messages"], json!(expected));
}

#[tokio::test]
async fn a_prompt_that_cannot_be_made_is_an_error_with_a_reason() {
    let mut client = Client::session(server(), json!({})).await;
    for (name, arguments, code, message) in [
        ("none", json!({}), -32_602, "Prompt `none` not found"),
        ("review", json!({"lines": "two"}), -32_602, "`path`: required"),
        ("ask", json!({}), -32_603, "the client does not support"),
    ] {
        let error = prompt(&mut client, name, arguments).await.expect_err(name);
        assert_eq!(error["code"], code, "{error}");
        assert!(error["message"].as_str().is_some_and(|text| text.contains(message)), "{error}");
    }
}

#[tokio::test]
async fn a_prompt_asks_the_user_in_both_versions() {
    let mut client = Client::stateless(server(), json!({"elicitation": {}}));
    let question = prompt(&mut client, "ask", json!({})).await.expect("a question");
    assert_eq!(question["resultType"], "input_required");
    let answers = json!({"topic": {"action": "accept", "content": {"topic": "rust"}}});
    let params = json!({"name": "ask", "inputResponses": answers, "requestState": question["requestState"]});
    let result = client.request("prompts/get", params).await.expect("messages");
    assert_eq!(result["messages"][0]["content"]["text"], "Write about \"rust\".");

    let mut client = Client::session(server(), json!({"elicitation": {}})).await;
    let id = client.start("prompts/get", json!({"name": "ask"})).await;
    let question = client.next("elicitation/create").await;
    let answer = json!({"action": "accept", "content": {"topic": "rust"}});
    client.send(json!({"jsonrpc": "2.0", "id": question["id"], "result": answer})).await;
    let result = client.finish(id).await.expect("messages");
    assert_eq!(result["messages"][0]["content"]["text"], "Write about \"rust\".");
}

#[tokio::test]
async fn changed_prompts_are_announced() {
    let registry = ToolRegistry::from_tools(tools![review]).expect("legal");
    let live = LiveRegistry::new(registry).expect("complete");
    let server =
        McpServer::new(ToolRegistry::new()).expect("complete").with_prompts(&live).expect("complete");
    let mut client = Client::connect(server);
    let capabilities = client.initialize(json!({})).await["capabilities"].take();
    assert_eq!(capabilities["prompts"], json!({"listChanged": true}));
    client.request("prompts/list", json!({})).await.expect("a list");
    live.change(|registry| registry.unregister("review")).expect("it changes");
    client.next("notifications/prompts/list_changed").await;
    let list = client.request("prompts/list", json!({})).await.expect("a list");
    assert_eq!(list["prompts"], json!([]));
}
