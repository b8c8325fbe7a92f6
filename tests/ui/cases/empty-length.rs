use toolkit_ai::tool;

#[tool]
fn search(#[param(length = 5..=1)] query: String, #[param(length = -1)] more: String) -> String {
    query + &more
}

fn main() {}
