use std::cell::Cell;
use toolkit::tool;

#[tool]
fn count(#[state] counter: &Cell<u32>) -> u32 {
    counter.get()
}

fn main() {}
