use toolkit_ai::{ToolParams, tool};

#[derive(ToolParams)]
enum Never {}

#[tool]
fn wait(until: Never) -> &'static str {
    match until {}
}

fn main() {}
