use tools_rs::{FunctionCall, collect_tools, tool};

async fn call(name: &str, text: &str) -> String {
    let arguments = serde_json::from_str(text).expect("JSON");
    match collect_tools().call(FunctionCall::new(name.to_owned(), arguments)).await {
        Ok(response) => response.result.to_string(),
        Err(error) => error.to_string(),
    }
}

fn list() {
    let list = collect_tools().json().expect("definitions");
    for tool in list.as_array().expect("a list") {
        println!("{}: {} {}", tool["name"].as_str().unwrap_or(""), tool["description"], tool["parameters"]);
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
