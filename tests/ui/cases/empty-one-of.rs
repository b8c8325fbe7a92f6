use toolkit_ai::tool;

#[tool]
fn paint(#[param(one_of = [])] color: String) -> String {
    color
}

fn main() {}
