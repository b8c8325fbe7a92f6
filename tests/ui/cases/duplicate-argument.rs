use toolkit_ai::tool;

#[tool(name = "plus", name = "add")]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {}
