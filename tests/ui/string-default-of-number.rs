use toolkit::tool;

#[tool]
fn add(a: i64, #[param(default = "5")] b: i64) -> i64 {
    a + b
}

fn main() {}
