// `tools!` lists names.
use toolkit_ai::prelude::*;

/// Adds.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {
    let _ = tools![add, add::tool()];
    let _ = tools![1 + 1];
}
