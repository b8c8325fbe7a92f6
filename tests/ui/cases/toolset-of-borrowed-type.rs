use toolkit_ai::toolset;

struct Page<'a>(&'a str);

#[toolset]
impl<'a> Page<'a> {
    #[tool]
    fn text(&self) -> &str {
        self.0
    }
}

struct Line<'a>(&'a str);

#[toolset]
impl Line<'_> {
    #[tool]
    fn text(&self) -> &str {
        self.0
    }
}

fn main() {}
