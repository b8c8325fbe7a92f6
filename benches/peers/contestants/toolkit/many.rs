use toolkit_ai::prelude::*;

fn registry() -> ToolRegistry {
    ToolRegistry::discover().expect("every name is there once")
}

async fn call(name: &str, text: &str) -> String {
    match registry().call(name, text).await {
        Ok(output) => output.to_text().into_owned(),
        Err(error) => error.to_string(),
    }
}

fn list() {
    for tool in registry().iter() {
        let definition = tool.definition();
        println!("{}: {} {}", definition.name, definition.description, definition.parameters);
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
