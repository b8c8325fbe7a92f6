use toolkit_ai::tool;

#[tool]
fn search(#[param(length = 1..=5)] limit: Option<u32>) -> u32 {
    limit.unwrap_or(5)
}

fn main() {}
