use toolkit::{ToolParams, tool};

#[derive(ToolParams)]
enum Never {}

#[tool]
fn wait(until: Never) -> &'static str {
    match until {}
}

fn main() {}
