use toolkit_ai::tool;

#[tool(unknown = "allow")]
fn search(query: String) -> String {
    query
}

fn main() {}
