use toolkit_ai::tool;

#[tool(namespace = "math.basic")]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {}
