use toolkit_ai::tool;

#[tool]
fn sum(bytes: [u8]) -> usize {
    bytes.len()
}

#[tool]
async fn count(text: str, lists: Vec<[u8]>, word: Option<str>) -> usize {
    text.len() + lists.len() + word.iter().count()
}

#[tool]
fn apply(change: dyn Fn(u8) -> u8) -> u8 {
    change(1)
}

fn main() {}
