use toolkit::tool;

struct Page;

#[tool]
fn fetch(url: String) -> Page {
    drop(url);
    Page
}

fn main() {}
