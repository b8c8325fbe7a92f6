use toolkit_ai::tool;

#[tool]
fn search(#[param(items(length = 1..))] query: String) -> String {
    query
}

fn main() {}
