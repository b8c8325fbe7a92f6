use toolkit::toolset;

struct Counter(i64);

trait Count {
    fn count(&self) -> i64;
}

#[toolset]
impl Count for Counter {
    #[tool]
    fn count(&self) -> i64 {
        self.0
    }
}

fn main() {}
