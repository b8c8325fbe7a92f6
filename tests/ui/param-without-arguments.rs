use toolkit::tool;

#[tool]
fn search(query: String, #[param] limit: u32) -> String {
    format!("{query} {limit}")
}

fn main() {}
