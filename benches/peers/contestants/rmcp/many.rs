use rmcp::handler::server::tool::ToolCallContext;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolRequestParams, CallToolResponse, NumberOrString};
use rmcp::service::{RequestContext, serve_directly};
use schemars::JsonSchema;
use serde::Deserialize;

struct Server;

impl rmcp::ServerHandler for Server {}

async fn call(name: &str, text: &str) -> String {
    let (near, _) = tokio::io::duplex(64);
    let server = serve_directly(Server, near, None);
    let arguments = serde_json::from_str(text).expect("JSON");
    let params = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
    let request = RequestContext::new(NumberOrString::Number(1), server.peer().clone());
    match Server::tool_router().call(ToolCallContext::new(&Server, params, request)).await {
        Ok(CallToolResponse::Complete(result)) => serde_json::to_string(&result).expect("JSON"),
        Ok(_) => "input is required".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn list() {
    for tool in Server::tool_router().list_all() {
        println!("{}: {:?} {:?}", tool.name, tool.description, tool.input_schema);
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
