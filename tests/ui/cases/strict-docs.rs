use toolkit_ai::tool;

/// Searches.
///
/// :param query: What to look for
#[tool(strict_docs)]
fn search(query: String, limit: u32) -> String {
    format!("{query} {limit}")
}

fn main() {}
