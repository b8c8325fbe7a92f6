use toolkit::tool;

#[tool]
fn join(parts: impl Iterator<Item = String>) -> String {
    parts.collect()
}

fn main() {}
