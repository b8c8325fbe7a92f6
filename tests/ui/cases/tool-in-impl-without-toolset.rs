use toolkit_ai::tool;

struct Calculator;

impl Calculator {
    /// Doubles.
    #[tool]
    fn double(n: i64) -> i64 {
        n * 2
    }

    /// Makes one.
    #[tool]
    fn make() -> Result<Self, String> {
        Ok(Self)
    }
}

fn main() {}
