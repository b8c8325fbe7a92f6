use toolkit::toolset;

struct Counter;

#[toolset]
impl Counter {
    #[tool]
    fn count(&self) {}
}

mod more {
    use toolkit::toolset;

    #[toolset]
    impl super::Counter {
        #[tool]
        fn reset(&self) {}
    }
}

fn main() {}
