use toolkit_ai::tool;

#[tool]
fn add((a, b): (i64, i64)) -> i64 {
    a + b
}

fn main() {}
