use toolkit_ai::toolset;

struct Store<T>(Vec<T>);

#[toolset]
impl<T: Send + Sync> Store<T> {
    #[tool]
    fn count(&self) -> usize {
        self.0.len()
    }
}

#[toolset]
impl<T: Send + Sync> Store<T> {
    #[tool]
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn main() {}
