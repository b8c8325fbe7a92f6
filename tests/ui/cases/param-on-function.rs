use toolkit_ai::tool;

#[tool]
#[param(default = 5)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {}
