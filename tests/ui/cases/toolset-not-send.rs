use std::rc::Rc;
use toolkit_ai::toolset;

struct Counter(Rc<i64>);

#[toolset]
impl Counter {
    #[tool]
    fn count(&self) -> i64 {
        *self.0
    }
}

fn main() {}
