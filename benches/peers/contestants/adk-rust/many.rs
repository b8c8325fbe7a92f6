use adk_core::{AdkError, Tool};
use adk_rust_macros::tool;
use adk_tool::SimpleToolContext;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

async fn call(name: &str, text: &str) -> String {
    let tools = tools();
    let tool = tools.iter().find(|tool| tool.name() == name).expect("a tool");
    let arguments = serde_json::from_str(text).expect("JSON");
    match tool.execute(Arc::new(SimpleToolContext::new("peers")), arguments).await {
        Ok(output) => output.to_string(),
        Err(error) => error.to_string(),
    }
}

fn list() {
    for tool in tools() {
        println!("{}: {}", tool.name(), tool.declaration());
    }
}

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let _entered = runtime.enter();
    let mut arguments = std::env::args().skip(1);
    match (arguments.next(), arguments.next()) {
        (Some(name), Some(text)) => println!("{}", runtime.block_on(call(&name, &text))),
        _ => list(),
    }
}

async fn pause() {}
