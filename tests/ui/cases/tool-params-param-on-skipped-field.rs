use toolkit_ai::ToolParams;

#[derive(ToolParams)]
struct Page {
    first: i64,
    #[serde(skip)]
    #[param(range = 1.., default = 5)]
    count: i64,
}

fn main() {}
