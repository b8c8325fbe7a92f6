use toolkit_ai::tool;

#[tool]
fn größe(a: i64) -> i64 {
    a
}

fn main() {}
