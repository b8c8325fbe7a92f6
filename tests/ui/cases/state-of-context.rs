use toolkit_ai::{ToolContext, tool};

#[tool]
fn name(#[state] context: &ToolContext) -> String {
    context.tool_name().to_string()
}

fn main() {}
