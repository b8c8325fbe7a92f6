use toolkit_ai::tool;

#[tool]
fn search(#[param(pattern = "^[0-9]+$")] limit: u32) -> u32 {
    limit
}

fn main() {}
