use toolkit_ai::tool;

#[tool]
fn first(a: i64, _: i64) -> i64 {
    a
}

fn main() {}
