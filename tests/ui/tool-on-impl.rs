use toolkit::tool;

struct Counter;

#[tool]
impl Counter {
    fn count(&self) {}
}

fn main() {}
