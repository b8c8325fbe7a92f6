//! The provider's own tools, in requests and events.

mod turns;

use crate::support::Script;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use toolkit_agent::{Agent, RunEvent};
use toolkit_core::middleware::{Approval, PermissionRule, Permissions};
use toolkit_core::schemars::{self, JsonSchema};
use toolkit_core::{ClosureTool, Tool, ToolRegistry};
use toolkit_llm::ApiFormat;
use toolkit_llm::ModelOptions;
use toolkit_llm::hosted::{anthropic, openai};
use toolkit_llm::transport::WireModel;

#[derive(Deserialize, JsonSchema)]
struct Run {
    command: String,
}

#[tokio::test]
async fn hosted_calls_are_events_and_a_paused_turn_goes_on() {
    let search =
        json!({"type": "server_tool_use", "id": "s_1", "name": "web_search", "input": {"query": "x"}});
    let message = |content: Value, reason: &str| json!({"type": "message", "role": "assistant", "content": content, "stop_reason": reason});
    let responses = [
        message(json!([search]), "pause_turn"),
        message(
            json!([{"type": "tool_use", "id": "t_1", "name": "bash", "input": {"command": "ls"}}]),
            "tool_use",
        ),
        message(json!([{"type": "text", "text": "Done."}]), "end_turn"),
    ];
    let transport = Script::new(responses);
    let bash = ClosureTool::new("bash", "Runs.", |Run { command }: Run| format!("ran {command}")).unwrap();
    let agent = Agent::builder(WireModel::new(ApiFormat::Anthropic, "m", transport.clone()))
        .tools(ToolRegistry::from_tools(vec![Arc::new(bash) as Arc<dyn Tool>]).unwrap())
        .options(ModelOptions::new().with_hosted(anthropic::web_search()).with_hosted(anthropic::bash()))
        .streaming(false)
        .build()
        .unwrap();
    let mut stream = agent.run("go").stream();
    let mut hosted = Vec::new();
    let mut answer = String::new();
    while let Some(event) = stream.next().await {
        match event.unwrap() {
            RunEvent::HostedCall { call, .. } => hosted.push(call.name.clone()),
            RunEvent::Finished { output, .. } => answer = output.text.clone(),
            _ => {}
        }
    }
    assert_eq!((hosted.as_slice(), answer.as_str()), (&["web_search".to_owned()][..], "Done."));
    let requests = transport.asked();
    let [first, second, third] = requests.as_slice() else { panic!("three requests") };
    let types: Vec<&Value> = first["tools"].as_array().unwrap().iter().map(|tool| &tool["type"]).collect();
    assert_eq!(types, ["web_search_20250305", "bash_20250124"]);
    // The paused message goes back as it came.
    assert_eq!(second["messages"][1], json!({"role": "assistant", "content": [search]}));
    assert_eq!(second["messages"].as_array().unwrap().len(), 2);
    let result = &third["messages"].as_array().unwrap().last().unwrap()["content"][0];
    assert_eq!((&result["type"], &result["content"]), (&json!("tool_result"), &json!("ran ls")));
}

fn search(number: usize) -> Value {
    json!({"type": "server_tool_use", "id": format!("s_{number}"), "name": "web_search", "input": {"query": "x"}})
}

fn message(content: &Value, reason: &str, streamed: bool) -> Value {
    if !streamed {
        return json!({"type": "message", "role": "assistant", "content": [content], "stop_reason": reason});
    }
    json!([
        {"type": "message_start", "message": {"type": "message", "role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": content},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason}},
        {"type": "message_stop"},
    ])
}

fn searching_agent(transport: &Script, streamed: bool) -> Agent {
    Agent::builder(WireModel::new(ApiFormat::Anthropic, "m", transport.clone()))
        .options(ModelOptions::new().with_hosted(anthropic::web_search()))
        .streaming(streamed)
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_turn_that_is_paused_several_times_goes_on_streamed_or_not() {
    for streamed in [false, true] {
        for pauses in 1..4 {
            let paused = (0..pauses).map(|number| message(&search(number), "pause_turn", streamed));
            let done = message(&json!({"type": "text", "text": "Done."}), "end_turn", streamed);
            let transport = Script::new(paused.chain([done]));
            let output = searching_agent(&transport, streamed).run("go").await.unwrap();
            assert_eq!((output.text.as_str(), output.model_calls as usize), ("Done.", pauses + 1));
            for (number, request) in transport.asked().iter().enumerate() {
                let roles: Vec<&Value> =
                    request["messages"].as_array().unwrap().iter().map(|message| &message["role"]).collect();
                assert_eq!(roles, [vec!["user"], vec!["assistant"; number]].concat(), "{streamed}");
                for (sent, number) in request["messages"].as_array().unwrap()[1..].iter().zip(0..) {
                    assert_eq!(sent["content"], json!([search(number)]));
                }
            }
        }
    }
}

#[derive(Deserialize, JsonSchema)]
struct McpApproval {
    server_label: String,
    name: String,
    arguments: String,
}

/// Returns answers to a request for approval, and the items sent after it.
async fn approve(tools: ToolRegistry, permissions: Option<Permissions>, streamed: bool) -> (String, Value) {
    let request = json!({"id": "mcpr_1", "type": "mcp_approval_request", "server_label": "docs", "name": "delete_page",
        "arguments": "{\"page\":7}"});
    let text = json!({"id": "m", "type": "message", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "Done.", "annotations": []}]});
    let response = |item: &Value| {
        let body = json!({"id": "r", "object": "response", "status": "completed", "output": [item]});
        if streamed {
            json!([
                {"type": "response.output_item.added", "output_index": 0, "item": item},
                {"type": "response.output_item.done", "output_index": 0, "item": item},
                {"type": "response.completed", "response": body},
            ])
        } else {
            body
        }
    };
    let transport = Script::new([response(&request), response(&text)]);
    let server = openai::mcp("docs", "https://docs.example/mcp").with("require_approval", "always");
    let mut agent = Agent::builder(WireModel::new(ApiFormat::OpenAiResponses, "m", transport.clone()))
        .tools(tools)
        .options(ModelOptions::new().with_hosted(server.clone()))
        .streaming(streamed);
    if let Some(permissions) = permissions {
        agent = agent.middleware(permissions);
    }
    let output = agent.build().unwrap().run("Delete page 7.").await.unwrap();
    let requests = transport.asked();
    // The tool that answers is not offered to the model.
    assert_eq!(requests[0]["tools"], json!([server.definition]));
    let input = requests[1]["input"].as_array().unwrap();
    assert_eq!((input.len(), &input[1]), (3, &request), "{input:?}");
    (output.text, input[2].clone())
}

fn approver() -> ToolRegistry {
    let tool = ClosureTool::new(
        "mcp_approval",
        "Approves a call.",
        |McpApproval { server_label, name, arguments }| {
            server_label == "docs" && name == "delete_page" && arguments == r#"{"page":7}"#
        },
    );
    ToolRegistry::from_tools([tool.unwrap()]).unwrap()
}

#[tokio::test]
async fn requests_for_the_approval_of_mcp_calls_are_answered_by_a_tool() {
    let answer = |approve: bool, reason: &str| {
        let mut item =
            json!({"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": approve});
        if !reason.is_empty() {
            item["reason"] = json!(reason);
        }
        item
    };
    for streamed in [false, true] {
        assert_eq!(approve(approver(), None, streamed).await, ("Done.".to_owned(), answer(true, "")));
        // Permissions ask a human, as for any tool.
        for (approval, expected) in [
            (Approval::Approve, answer(true, "")),
            (Approval::Deny("Page 7 stays.".to_owned()), answer(false, "Page 7 stays.")),
        ] {
            let rule = PermissionRule::ask("MCP").for_tool("mcp_approval").unwrap();
            let permissions = Permissions::new().rule(rule).with_handler(move |request| {
                assert_eq!(request.arguments["name"], "delete_page");
                std::future::ready(approval.clone())
            });
            let (_, item) = approve(approver(), Some(permissions), streamed).await;
            assert_eq!((&item["type"], &item["approve"]), (&expected["type"], &expected["approve"]));
            let reason = item["reason"].as_str().unwrap_or_default();
            assert!(reason.contains(expected["reason"].as_str().unwrap_or_default()), "{item}");
        }
        let (text, item) = approve(ToolRegistry::new(), None, streamed).await;
        assert_eq!((text.as_str(), &item["approve"]), ("Done.", &json!(false)));
        assert!(item["reason"].as_str().unwrap().contains("mcp_approval"), "{item}");
    }
}

#[tokio::test]
async fn losses_of_requests_are_events_once_for_each_agent_of_a_run() {
    let call = json!({"type": "tool_use", "id": "t_1", "name": "bash", "input": {"command": "ls"}});
    let text = json!({"type": "text", "text": "Done."});
    for streamed in [false, true] {
        let responses = [message(&call, "tool_use", streamed), message(&text, "end_turn", streamed)];
        let transport = Script::new(responses.iter().cloned().chain(responses.iter().cloned()));
        let bash =
            ClosureTool::new("bash", "Runs.", |Run { command }: Run| format!("ran {command}")).unwrap();
        let agent = Agent::builder(WireModel::new(ApiFormat::Anthropic, "m", transport.clone()))
            .name("worker")
            .tools(ToolRegistry::from_tools([bash]).unwrap())
            .options(ModelOptions::new().with_seed(7).with_hosted(openai::web_search()))
            .streaming(streamed)
            .build()
            .unwrap();
        // Each run reports losses once, for two requests.
        for _ in 0..2 {
            let mut stream = agent.run("go").stream();
            let mut reported = Vec::new();
            while let Some(event) = stream.next().await {
                if let RunEvent::RequestLosses { agent, losses, .. } = event.unwrap() {
                    assert_eq!(agent, "worker");
                    reported.push(losses.iter().map(|loss| loss.path.clone()).collect::<Vec<_>>());
                }
            }
            let [losses] = reported.as_slice() else { panic!("reported {} times", reported.len()) };
            assert!(losses.contains(&"/options/seed".to_owned()), "{losses:?}");
            assert!(losses.iter().any(|path| path.starts_with("/tools/web_search")), "{losses:?}");
        }
    }
}
