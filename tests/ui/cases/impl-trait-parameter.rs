use toolkit_ai::tool;

#[tool]
fn join(parts: impl Iterator<Item = String>) -> String {
    parts.collect()
}

fn main() {}
