use toolkit::ToolParams;
use toolkit::schemars::JsonSchema;

#[derive(ToolParams, serde::Deserialize)]
struct Filter {
    name: String,
}

#[derive(Debug, JsonSchema, ToolParams)]
struct Page {
    number: u32,
}

fn main() {
    let _ = |Filter { name: _ }| ();
}
