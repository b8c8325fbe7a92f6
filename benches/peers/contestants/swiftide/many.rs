use swiftide::chat_completion::errors::ToolError;
use swiftide::chat_completion::{Tool, ToolCall, ToolOutput};
use swiftide::traits::AgentContext;

async fn call(name: &str, text: &str) -> String {
    let tools = tools();
    let tool = tools.iter().find(|tool| tool.name() == name).expect("a tool");
    let call = ToolCall::builder().id("call_1").name(name).args(text.to_owned()).build().expect("a call");
    match tool.invoke(&(), &call).await {
        Ok(output) => output.to_string(),
        Err(error) => error.to_string(),
    }
}

fn list() {
    for tool in tools() {
        let spec = tool.tool_spec();
        println!("{}: {} {:?}", spec.name, spec.description, spec.parameters_schema);
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
