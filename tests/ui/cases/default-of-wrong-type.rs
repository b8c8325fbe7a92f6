use toolkit_ai::tool;

#[tool]
fn search(query: String, #[param(default = "five")] limit: u32) -> String {
    format!("{query} {limit}")
}

fn main() {}
