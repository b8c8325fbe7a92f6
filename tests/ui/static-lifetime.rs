use toolkit::tool;

#[tool]
fn shout(text: &'static str) -> String {
    text.to_uppercase()
}

fn main() {}
