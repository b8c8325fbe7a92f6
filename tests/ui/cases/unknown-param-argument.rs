use toolkit_ai::tool;

#[tool]
fn search(query: String, #[param(defualt = 5)] limit: u32) -> String {
    format!("{query} {limit}")
}

fn main() {}
