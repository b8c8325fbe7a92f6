use toolkit_ai::tool;

#[tool]
fn add(#[param(rename = "a\"b")] a: i64, #[param(alias = "c\\d\n")] b: i64) -> i64 {
    a + b
}

fn main() {}
