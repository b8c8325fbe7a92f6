use std::cell::Cell;
use toolkit_ai::tool;

#[tool]
fn count(#[state] counter: &Cell<u32>) -> u32 {
    counter.get()
}

fn main() {}
