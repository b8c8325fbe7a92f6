use toolkit_ai::tool;

#[tool]
struct Add {
    a: i64,
}

fn main() {}
