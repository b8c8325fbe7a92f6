use toolkit_ai::{tool, ToolParams};

/// Which rows.
///
/// Args:
///     nmae: The name
#[derive(ToolParams)]
struct Filter {
    name: String,
}

/// Finds rows.
#[tool]
fn find(filter: Filter) -> String {
    filter.name
}

fn main() {}
