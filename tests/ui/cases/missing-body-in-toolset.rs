use toolkit_ai::{tool, toolset};

struct Counter;

#[toolset]
impl Counter {
    #[tool]
    fn add(&self, #[param(default = 1)] by: i64) -> i64;
}

#[tool]
fn unused() {}

fn main() {}
