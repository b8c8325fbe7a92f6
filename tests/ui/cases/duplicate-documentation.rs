use toolkit_ai::tool;

/// Searches the web.
///
/// :param query The words
/// :param limit: How many
/// :param limit: How many, again
#[tool]
fn search(query: String, limit: u32) -> String {
    format!("{query} {limit}")
}

fn main() {}
