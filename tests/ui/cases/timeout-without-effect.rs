use toolkit_ai::{ToolContext, tool, toolset};

#[tool(timeout = "5s")]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[tool(timeout = "5s", blocking)]
fn blocks(a: i64) -> i64 {
    a
}

#[tool(timeout = "5s")]
fn reads_the_deadline(context: &ToolContext) -> bool {
    context.time_left().is_some()
}

struct Counter;

#[toolset]
impl Counter {
    #[tool(register = false, timeout = "5s")]
    async fn count(&self) {}

    #[tool(timeout = "5s")]
    fn total(&self) -> u64 {
        0
    }
}

fn main() {}
