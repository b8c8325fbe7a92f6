use toolkit_ai::tool;

struct Page;

#[tool]
fn fetch(url: String) -> Page {
    drop(url);
    Page
}

fn main() {}
