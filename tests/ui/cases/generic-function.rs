use toolkit_ai::tool;

#[tool]
fn first<T: Clone>(items: Vec<T>) -> usize {
    items.len()
}

fn main() {}
