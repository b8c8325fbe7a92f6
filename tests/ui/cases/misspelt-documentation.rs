// A keyword of the documentation with a typing mistake.
use toolkit_ai::prelude::*;

/// Adds.
///
/// :parm a: The first number
/// :param b: The second number
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {}
