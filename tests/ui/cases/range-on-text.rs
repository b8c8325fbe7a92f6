use toolkit_ai::tool;

#[tool]
fn search(#[param(range = 1..=5)] query: String) -> String {
    query
}

fn main() {}
