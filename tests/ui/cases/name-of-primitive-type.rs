use toolkit_ai::tool;

#[tool]
fn char(c: char) -> char {
    c
}

fn main() {}
