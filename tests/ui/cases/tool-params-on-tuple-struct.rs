use toolkit_ai::ToolParams;

#[derive(ToolParams)]
struct Pair(i64, i64);

fn main() {}
