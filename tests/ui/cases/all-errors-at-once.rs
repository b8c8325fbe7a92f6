use toolkit_ai::{tool, tools, ToolRegistry};

/// Searches.
///
/// :param querry: What to look for
#[tool(nane = "find", namespace = "web search", timeout = "soon")]
fn search<T>(
    (query, more): (String, String),
    #[param(describe = "How many.")] limit: u32,
    callback: impl Fn(u32),
    #[param(rename = "limit")] maximum: u32,
) -> String {
    callback(limit + maximum);
    query + &more
}

fn main() {
    // The errors above cause no further errors here.
    let _ = ToolRegistry::from_tools(tools![search]);
}
