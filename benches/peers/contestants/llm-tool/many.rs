use llm_tool::{ToolContext, ToolRegistry, llm_tool};

async fn call(name: &str, text: &str) -> String {
    match registry().dispatch_str(name, text, &ToolContext::new()).await {
        Ok(output) => output.into_content(),
        Err(error) => error.message,
    }
}

fn list() {
    for tool in registry().definitions_slice().iter() {
        println!("{}: {} {}", tool.name, tool.description, tool.parameter_schema_json());
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
