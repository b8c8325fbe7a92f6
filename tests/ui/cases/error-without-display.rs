use toolkit_ai::tool;

#[derive(Debug)]
struct Broken;

#[tool]
fn fetch(url: String) -> Result<String, Broken> {
    drop(url);
    Err(Broken)
}

fn main() {}
