//! Session values, of which pages see those that the program names.

use crate::page_support::{Page, all};
use serde_json::{Value, json};
use toolkit_agent::Agent;
use toolkit_ai::ToolRegistry;
use toolkit_core::{ClosureTool, ToolContext};
use toolkit_llm::ScriptedModel;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

/// Returns an agent whose tool reads the color, and sets values of all kinds.
pub(crate) fn painter() -> Agent {
    let paint =
        ClosureTool::new_with_context("paint", "Paints.", |_: Nothing, context: ToolContext| async move {
            let session = context.session();
            let color = session.get("color").unwrap_or_default();
            session.set("seen", color.clone());
            session.set("secret", "4711");
            session.set("user:name", "Ada");
            session.set("temp:draft", "no");
            color.to_string()
        });
    let model = ScriptedModel::new().call("paint", "{}").text("Painted.").text("Yes.");
    let tools = ToolRegistry::from_tools([paint.unwrap()]).unwrap();
    Agent::builder(model).tools(tools).build().unwrap()
}

async fn values(page: &Page, user: &str) -> Value {
    let response = page.request(user, "GET", "/1/values", &Value::Null).await;
    serde_json::from_slice(&all(response).await).unwrap()
}

#[tokio::test]
async fn a_page_reads_and_writes_what_the_program_names() {
    let mut page = Page::with_values(painter());
    page.write("m1", "Paint.");
    let written = json!({"color": "red", "seen": "forged", "secret": "forged", "user:name": "Eve"});
    page.send_as(json!({"values": written})).await;
    assert_eq!(values(&page, "ada").await, json!({"color": "red", "seen": "red"}));
    assert_eq!(values(&page, "eve").await, json!({}));
    let call = page.parts().iter().find(|part| part["type"] == "tool-paint").unwrap();
    assert_eq!(call["output"], "\"red\"");
    // Those stay that a message does not name.
    page.ask("m2", "Is it red?").await;
    assert_eq!(values(&page, "ada").await["color"], "red");
}
