use toolkit_ai::tool;

#[tool]
fn plus(other: Self, rest: Vec<Self>) -> i64 {
    0
}

fn main() {}
