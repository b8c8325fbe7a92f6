use toolkit::tool;

#[tool]
fn char(c: char) -> char {
    c
}

fn main() {}
