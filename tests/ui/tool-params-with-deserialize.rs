use toolkit::ToolParams;

#[derive(ToolParams, serde::Deserialize)]
struct Filter {
    name: String,
}

fn main() {
    let _ = |Filter { name: _ }| ();
}
