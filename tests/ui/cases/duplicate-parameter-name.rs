use toolkit_ai::tool;

#[tool]
fn search(query: String, #[param(rename = "query")] text: String, #[param(alias = "query")] more: String) -> String {
    query + &text + &more
}

fn main() {}
