use std::sync::Arc;
use toolkit_ai::{ToolRegistry, toolset};

struct Plain;

struct Extended;

#[toolset(extends)]
impl Extended {
    #[tool]
    fn count(&self) {}
}

fn main() {
    let mut registry = ToolRegistry::new();
    let _ = registry.register_all(Arc::new(Plain));
    let _ = registry.register_all(Arc::new(Extended));
}
