use toolkit_ai::tool;

#[tool]
fn search(#[param(items(lenght = 1..))] words: Vec<String>) -> usize {
    words.len()
}

fn main() {}
