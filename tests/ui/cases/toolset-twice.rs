use toolkit_ai::toolset;

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

fn main() {}
