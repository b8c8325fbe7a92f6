use toolkit_ai::{ToolParams, tool};

#[derive(ToolParams)]
struct Query<'a> {
    text: &'a str,
    words: Vec<&'a str>,
}

#[tool]
fn search(query: Query<'static>) {
    drop(query);
}

fn main() {}
