use toolkit_ai::toolset;

#[toolset]
trait Count {
    #[tool]
    fn count(&self, #[param(default = 1)] by: i64) -> i64;
}

fn main() {}
