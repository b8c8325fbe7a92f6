use toolkit_ai::tool;

#[tool]
fn search(#[param(pattern = "[a-z")] query: String) -> String {
    query
}

fn main() {}
