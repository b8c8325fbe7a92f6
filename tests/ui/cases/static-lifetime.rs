use toolkit_ai::tool;

#[tool]
fn shout(text: &'static str) -> String {
    text.to_uppercase()
}

fn main() {}
