use toolkit::toolset;

struct Store<T>(Vec<T>);

#[toolset]
impl<T: Send + Sync + 'static> Store<T> {
    #[tool]
    fn count(&self) -> usize {
        self.0.len()
    }
}

fn main() {}
