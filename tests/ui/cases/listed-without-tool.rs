// A name in the list that is no `#[tool]` function.
use toolkit_ai::prelude::*;

/// Adds.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn helper() {}

struct Shelf;

#[toolset]
impl Shelf {
    /// Reads.
    #[tool]
    fn read(&self) -> i64 {
        1
    }
}

fn main() {
    let closure = ToolRegistry::new();
    let _ = tools![add, helper];
    let _ = tools![add, closure];
    let _ = tools![add, Shelf::read];
    let _ = tools![add, Shelf];
}
