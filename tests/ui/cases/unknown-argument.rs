use toolkit_ai::tool;

#[tool(descripton = "Adds two numbers.")]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {}
