use toolkit_ai::toolset;

struct Counter(i64);

#[toolset]
impl Counter {
    #[tool]
    fn add(&mut self, by: i64) -> i64 {
        self.0 += by;
        self.0
    }

    #[tool]
    fn take(self) -> i64 {
        self.0
    }
}

fn main() {}
