use toolkit_ai::tool;

#[tool]
fn add(
    /// The first.
    a: i64,
    #[param(default = 5)] b: i64,
) -> i64;

fn main() {}
