use toolkit_ai::tool;

struct Counter;

#[tool]
impl Counter {
    fn count(&self) {}
}

fn main() {}
