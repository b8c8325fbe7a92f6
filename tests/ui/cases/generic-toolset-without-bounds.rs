use toolkit_ai::toolset;

struct Store<T>(Vec<T>);

#[toolset]
impl<T: Send + Sync> Store<T> {
    #[tool]
    fn contains(&self, value: T) -> bool {
        drop(value);
        self.0.is_empty()
    }
}

fn main() {}
