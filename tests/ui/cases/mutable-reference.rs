use toolkit_ai::tool;

#[tool]
fn sort(items: &mut Vec<i64>) -> usize {
    items.sort();
    items.len()
}

fn main() {}
