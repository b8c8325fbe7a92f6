use rig_agent::tool::ToolSet;
use rig_core::rig_tool;
use rig_core::tool::{ToolContext, ToolExecutionError};

async fn call(name: &str, text: &str) -> String {
    tools().execute(name, text, &mut ToolContext::default()).await.output().render()
}

fn list() {
    for tool in tools().tool_definitions() {
        println!("{}: {} {}", tool.name, tool.description, tool.parameters);
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
