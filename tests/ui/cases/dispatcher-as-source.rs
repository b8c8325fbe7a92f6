use toolkit_ai::{Dispatcher, tool, tools};

#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {
    let inner = Dispatcher::new(tools![add]).unwrap();
    let _ = Dispatcher::new(inner);
}
