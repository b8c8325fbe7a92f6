use toolkit_ai::toolset;

struct Counter;

#[toolset(namespace = "numbers")]
impl Counter {
    #[tool(namespace = "counter")]
    fn count(&self) {}
}

fn main() {}
