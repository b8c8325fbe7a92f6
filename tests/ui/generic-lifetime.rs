use toolkit::tool;

#[tool]
fn first<'a>(text: &'a str) -> &'a str {
    text
}

fn main() {}
