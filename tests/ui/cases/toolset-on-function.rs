use toolkit_ai::toolset;

#[toolset]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {}
