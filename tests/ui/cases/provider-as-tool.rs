use toolkit_ai::{Dispatcher, ToolRegistry, tool, tools};

#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {
    let mut registry = ToolRegistry::new();
    let _ = registry.register(Dispatcher::new(tools![add]).unwrap());
}
