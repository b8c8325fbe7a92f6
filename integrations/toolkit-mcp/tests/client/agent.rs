//! Agents take the tools of servers like any others.

use super::bare::Bare;
use super::within;
use toolkit_agent::Agent;
use toolkit_ai::{ClosureTool, LiveRegistry, ToolRegistry};
use toolkit_llm::ScriptedModel;
use toolkit_mcp::client::McpClient;

#[tokio::test]
async fn an_agent_calls_tools_of_a_server_beside_its_own() {
    let client = McpClient::builder(Bare::new().endpoint()).namespace("shop").connect().await.unwrap();
    let own = ClosureTool::without_arguments("own", "Ours.", || "ours").unwrap();
    let live = LiveRegistry::new(ToolRegistry::from_tools([own]).unwrap()).unwrap();
    let _following = client.follow(&live).unwrap();
    let model = ScriptedModel::new()
        .call("shop-add", r#"{"a": "2", "b": 3}"#)
        .call("shop-fail", "{}")
        .call("own", "{}")
        .text("Five.");
    let agent = Agent::builder(model.clone()).tools(live).build().unwrap();
    let output = within(agent.run("What is 2 + 3?").into_future()).await.unwrap();
    assert_eq!((output.text.as_str(), output.tool_calls), ("Five.", 3));
    let last = format!("{:?}", model.requests().last().unwrap());
    for part in ["the shop is closed", "ours"] {
        assert!(last.contains(part), "{last}");
    }
}

#[tokio::test]
async fn an_agent_takes_a_client_beside_its_own_tools() {
    let client = McpClient::builder(Bare::new().endpoint()).namespace("shop").connect().await.unwrap();
    let own = ClosureTool::without_arguments("own", "Ours.", || "ours").unwrap();
    let model = ScriptedModel::new().call("shop-add", r#"{"a": 2, "b": 3}"#).call("own", "{}").text("Five.");
    let agent = Agent::builder(model).tools([own]).tools(&client).build().unwrap();
    let output = within(agent.run("What is 2 + 3?").into_future()).await.unwrap();
    assert_eq!((output.text.as_str(), output.tool_calls), ("Five.", 2));
    let twice = Agent::builder(ScriptedModel::new()).tools(&client).tools(client.clone()).build();
    assert!(twice.unwrap_err().to_string().contains("`shop-add`"));
}
