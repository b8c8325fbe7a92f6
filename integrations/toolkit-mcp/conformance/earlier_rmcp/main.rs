//! An earlier version of the SDK: a server that ends if the first request is not `initialize`, and the client of the matrix
//! of clients (`earlier_rmcp client COMMAND…`).

#[path = "../rmcp_client.rs"]
mod rmcp_client;

use rmcp::{ServerHandler, ServiceExt, tool, tool_handler, tool_router};

struct Greeter;

#[tool_router]
impl Greeter {
    /// Greets.
    #[tool]
    fn greet(&self) -> String {
        "hello".to_owned()
    }
}

#[tool_handler]
impl ServerHandler for Greeter {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some((mode, command)) = arguments.split_first()
        && mode == "client"
    {
        return rmcp_client::run(command).await;
    }
    Greeter.serve((tokio::io::stdin(), tokio::io::stdout())).await?.waiting().await?;
    Ok(())
}
