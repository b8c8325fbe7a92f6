use toolkit_ai::tool;

/// Searches the web.
///
/// :param query: What to look for
/// :param limits: How many to return
/// :param page: Which page
#[tool]
fn search(query: String, limit: u32) -> String {
    format!("{query} {limit}")
}

fn main() {}
