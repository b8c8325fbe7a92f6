//! The macro is not told the other name of the facade.
//!
//! It generates paths below `::toolkit_ai`, which do not exist: `#[tool(crate = ::kit)]` is needed.

use kit::tool;

#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {}
