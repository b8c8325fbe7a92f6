use toolkit_ai::tool;

#[tool]
fn send(#[param(format = "e-mail")] to: String) -> String {
    to
}

fn main() {}
