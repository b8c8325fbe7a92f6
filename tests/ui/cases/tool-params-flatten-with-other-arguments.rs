use toolkit_ai::ToolParams;

#[derive(ToolParams)]
struct Page {
    #[param(flatten, description = "Which part")]
    part: Part,
}

#[derive(ToolParams)]
struct Part {
    first: i64,
}

fn main() {}
