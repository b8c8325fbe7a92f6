use toolkit_ai::tool;

#[tool(timeout = "5")]
async fn wait() {}

fn main() {}
