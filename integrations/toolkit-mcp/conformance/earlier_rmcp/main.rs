//! A server on an earlier version of the SDK, which ends if the first request is not `initialize`.

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
    Greeter.serve((tokio::io::stdin(), tokio::io::stdout())).await?.waiting().await?;
    Ok(())
}
