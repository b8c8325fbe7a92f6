use toolkit_ai::tool;

#[tool]
fn paint(
    #[param(one_of = ["red", "green"], default = "blue")] color: String,
    #[param(pattern = "^[a-z]+$", default = "A1")] name: String,
    #[param(length = ..=3, default = "long")] code: String,
) -> String {
    color + &name + &code
}

fn main() {}
