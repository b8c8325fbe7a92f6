use toolkit_ai::tool;

#[tool]
fn search(#[param(range = 50..=1)] limit: u32, #[param(range = 3..3)] page: u32, #[param(range = ..)] size: u32) -> u32 {
    limit + page + size
}

fn main() {}
