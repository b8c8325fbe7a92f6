use toolkit::{ToolContext, tool};

#[tool]
fn who(context: ToolContext, other: Option<&ToolContext>) -> String {
    format!("{context:?} {other:?}")
}

fn main() {}
