use toolkit_ai::tool;

struct Page;

#[tool]
async fn fetch(url: String) -> Result<Page, String> {
    Err(url)
}

fn main() {}
