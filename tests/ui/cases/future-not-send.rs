use std::rc::Rc;
use toolkit_ai::tool;

#[tool]
async fn count(items: Vec<i64>) -> usize {
    let shared = Rc::new(items);
    std::future::ready(()).await;
    shared.len()
}

fn main() {}
