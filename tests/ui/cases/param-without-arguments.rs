use toolkit_ai::tool;

#[tool]
fn search(query: String, #[param] limit: u32) -> String {
    format!("{query} {limit}")
}

fn main() {}
