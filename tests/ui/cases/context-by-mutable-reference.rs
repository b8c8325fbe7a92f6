use toolkit_ai::{ToolContext, tool};

#[tool]
fn name(context: &mut ToolContext) -> String {
    context.tool_name().to_string()
}

fn main() {}
