use toolkit_ai::toolset;

struct Counter(i64);

#[toolset]
impl Counter {
    fn count(&self) -> i64 {
        self.0
    }
}

fn main() {}
