use toolkit_ai::{tool, ToolContext};

#[tool]
fn who(context: ToolContext, other: Option<&ToolContext>) -> String {
    format!("{context:?} {other:?}")
}

fn main() {}
