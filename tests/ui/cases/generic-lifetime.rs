use toolkit_ai::tool;

#[tool]
fn first<'a>(text: &'a str) -> &'a str {
    text
}

fn main() {}
