use std::sync::Arc;
use toolkit::{ToolRegistry, toolset};

struct Counter;

#[toolset]
impl Counter {
    #[tool]
    fn count(&self) {}
}

#[toolset]
impl Counter {
    #[tool]
    fn reset(&self) {}
}

struct Plain;

fn main() {
    let _ = ToolRegistry::new().register_all(Arc::new(Plain));
}
