use toolkit_ai::toolset;

struct Counter;

#[toolset]
impl Counter {
    #[tool]
    fn count(&self) {}
}

mod more {
    use toolkit_ai::toolset;

    #[toolset]
    impl super::Counter {
        #[tool]
        fn reset(&self) {}
    }
}

fn main() {}
