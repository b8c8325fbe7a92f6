use toolkit_ai::tool;

#[tool]
fn sort(items: Option<&mut Vec<i64>>, text: Option<&'static str>) -> usize {
    items.map_or(0, |items| items.len()) + text.map_or(0, str::len)
}

fn main() {}
