use toolkit_ai::tool;

#[tool]
#[tool(name = "sum")]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {}
