use toolkit_ai::{tool, ToolContext};

#[tool]
fn who(#[param(description = "The context.")] context: &ToolContext) -> String {
    context.tool_name().to_string()
}

fn main() {}
