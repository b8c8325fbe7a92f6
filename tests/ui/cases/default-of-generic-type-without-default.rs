use toolkit_ai::{ToolParams, tool};

#[derive(ToolParams)]
struct Page<T> {
    #[serde(default)]
    first: T,
}

#[derive(ToolParams)]
struct Item {
    name: String,
}

#[tool]
fn list(page: Page<Item>) -> usize {
    page.first.name.len()
}

fn main() {}
