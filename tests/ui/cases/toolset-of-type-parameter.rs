use toolkit_ai::toolset;

trait Count {
    fn count(&self) -> usize;
}

#[toolset]
impl<T: Send + Sync + 'static> Count for T {
    #[tool]
    fn count(&self) -> usize {
        0
    }
}

fn main() {}
