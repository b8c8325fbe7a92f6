use toolkit::tool;

#[tool]
struct Add {
    a: i64,
}

fn main() {}
