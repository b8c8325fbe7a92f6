use toolkit_ai::tool;

#[tool]
fn step(#[param(multiple_of = 0)] by: u32) -> u32 {
    by
}

fn main() {}
