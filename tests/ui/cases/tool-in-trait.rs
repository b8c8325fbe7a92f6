use toolkit_ai::tool;

trait Count {
    #[tool]
    fn count(&self) -> i64;

    #[tool]
    fn zero() -> i64 {
        0
    }
}

fn main() {}
