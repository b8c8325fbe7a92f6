use toolkit_ai::tool;

#[tool(retries = 0, max_result_size = 0)]
fn nothing() {}

fn main() {}
